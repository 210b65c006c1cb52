//! Figure: what limits two hosts that are namespaces, where the limit is made: a link that they
//! share, a link of each, the processors of each. Counted is how often the verdict is right.

use crate::control_group::{Group, Limit};
use crate::fleet::{Hosts, links, store};
use crate::programs::Programs;
use crate::row::Row;
use crate::told::Told;
use readlab_analysis::scaling::Limited;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;

pub(super) const ABOUT: &str = "fleet-limits: two hosts as namespaces: limits made in a shared link, in each link, in processors are told";

const REPEATS: usize = 20;
const METHOD: &str = "rust/read/memchr";
const RATE: &str = "80mbit";

/// Where the limit is made.
#[derive(Debug, Clone, Copy)]
enum Made {
    SharedLink,
    EachLink,
    Processors,
}

/// Made limits as variables of the script of hosts.
struct Limits {
    variables: Vec<(String, String)>,
    /// They exist as long as they are kept.
    _groups: Vec<Group>,
}

impl Limits {
    fn of_links(variables: Vec<(String, String)>) -> Limits {
        Limits { variables, _groups: Vec::new() }
    }
}

impl Made {
    const ALL: [Made; 3] = [Made::SharedLink, Made::EachLink, Made::Processors];

    fn figure(self) -> &'static str {
        match self {
            Made::SharedLink => "a link that hosts share limits: verdict",
            Made::EachLink => "a link of each host limits: verdict",
            Made::Processors => "the processors of each host limit: verdict",
        }
    }

    /// The file, which is large where it is read from memory.
    fn size(self) -> Bytes {
        if matches!(self, Made::Processors) { Bytes(256 << 20) } else { Bytes(4 << 20) }
    }

    fn state(self) -> CacheState {
        if matches!(self, Made::Processors) { CacheState::Warm } else { CacheState::Cold }
    }

    fn limits(self) -> anyhow::Result<Limits> {
        let group = |host: u32| Group::with(Limit::Processor(host - 1), &format!("host{host}"));
        Ok(match self {
            Made::SharedLink => Limits::of_links(vec![("LINK_OF_STORE".to_owned(), RATE.to_owned())]),
            Made::EachLink => Limits::of_links(links([1, 2], RATE)),
            Made::Processors => {
                let groups = [group(1)?, group(2)?];
                let of_host = |(at, group): (usize, &Group)| {
                    (format!("GROUP_OF_HOST{}", at + 1), group.processes().display().to_string())
                };
                Limits { variables: groups.iter().enumerate().map(of_host).collect(), _groups: groups.into() }
            }
        })
    }

    fn is_told_by(self, limited: Limited) -> bool {
        matches!(
            (self, limited),
            (Made::SharedLink, Limited::Shared(_))
                | (Made::EachLink, Limited::EachHost(_))
                | (Made::Processors, Limited::Processors(_))
        )
    }
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let row =
        |made: Made| verdicts(programs, made).unwrap_or_else(|error| Row::failed(made.figure(), &error));
    Ok(Made::ALL.map(row).into())
}

fn verdicts(programs: &Programs, made: Made) -> anyhow::Result<Row> {
    let store = store(programs, made.size())?;
    let record = || {
        let limits = made.limits()?;
        let hosts = Hosts { programs, count: 2, store: &store, limits: limits.variables.clone() };
        let words =
            ["scale", "/mnt/f", "--hosts", "1,2", "--method", METHOD, "--reference", METHOD, "--runs", "8"];
        hosts.record(&words, made.state(), "fleet-limits")
    };
    let is_right = |told| made.is_told_by(told);
    Told::count(programs.repeats(REPEATS), METHOD, is_right, record)?.row(made.figure(), 19, 20)
}
