//! Whether the verdict on a reading from a server is right where the limit was made: in the server,
//! in the link to it, in the processors of the client.

use super::{BYTES_PER_S, CONTENT, ONE, RANGED, content, trial};
use crate::control_group::{Group, Limit};
use crate::limited_link::LimitedLink;
use crate::paced_server::{self, DeviceUse};
use crate::programs::{Programs, Race};
use crate::row::Row;
use crate::running::Running;
use crate::script_server::ScriptServer;
use anyhow::Context;
use readlab_analysis::verdict;
use readlab_model::units::Bytes;
use readlab_record::Record;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

const REPEATS: usize = 20;
/// A client with a part of a processor reads this for many periods of its quota.
const LONG: Bytes = Bytes(64 << 20);

/// A made limit, and the verdict that is right.
struct Case {
    name: &'static str,
    made: Made,
    /// The method of the trial that is judged.
    method: &'static str,
    /// How the verdict begins.
    right: &'static str,
}

/// Where the limit is made.
#[derive(Debug, Clone, Copy)]
enum Made {
    Server(DeviceUse),
    /// In the link, as `tbf` takes rates.
    Link(&'static str),
    /// In the client, of a server that encrypts.
    Client(Limit),
}

const CURL: &str = "curl -s {} | wc -l";
const QUARTER: Made = Made::Client(Limit::ProcessorTime { percent: 25 });

const CASES: [Case; 5] = [
    Case {
        name: "a late first byte",
        made: Made::Server(DeviceUse { bytes_per_s: None, delay: Duration::from_millis(50) }),
        method: "http",
        right: "first byte",
    },
    Case {
        name: "a paced connection",
        made: Made::Server(DeviceUse { bytes_per_s: Some(BYTES_PER_S), delay: Duration::ZERO }),
        method: "http",
        right: "one connection",
    },
    // No driver knows this link's rate, and a server that gives all connections together no more
    // looks the same from here.
    Case {
        name: "a link of 80 Mb/s that no driver knows",
        made: Made::Link("80mbit"),
        method: "http",
        right: "server or network",
    },
    Case { name: "a quarter of a processor", made: QUARTER, method: "http", right: "processors" },
    Case { name: "a quarter of a processor, curl", made: QUARTER, method: CURL, right: "processors" },
];

/// A server and a client with a made limit, as long as it is kept.
struct Setting {
    url: String,
    options: Vec<String>,
    link: Option<LimitedLink>,
    /// The client is in it, and is out of it before the server ends.
    _group: Option<Group>,
    _server: Option<ScriptServer>,
}

pub(super) fn rows(programs: &Programs) -> Vec<Row> {
    let figure = |case: &Case| format!("verdict: {}", case.name);
    let row = |case: &Case| {
        verdicts(programs, case, figure(case)).unwrap_or_else(|error| Row::failed(figure(case), &error))
    };
    CASES.iter().map(row).collect()
}

/// How often the made limit is the verdict.
fn verdicts(programs: &Programs, case: &Case, figure: String) -> anyhow::Result<Row> {
    let setting = Setting::make(programs, case.made)?;
    let repeats = programs.repeats(REPEATS);
    let (mut right, mut others) = (0, BTreeSet::new());
    for _ in 0..repeats {
        let record = setting.race(programs)?;
        let judged = verdict::judge(&record, &verdict::limits(&record), trial(&record, case.method)?);
        let word = judged.context("no verdict")?.stops_at();
        if word.starts_with(case.right) {
            right += 1;
        } else {
            others.insert(word);
        }
    }
    let others: Vec<String> = others.into_iter().collect();
    let words = match &others[..] {
        [] => format!("{} in {right} of {repeats}", case.right),
        others => format!("{} in {right} of {repeats}, else {}", case.right, others.join("; ")),
    };
    let ok = right * 20 >= repeats * 19;
    Ok(Row::judged(figure, "right in 19 of 20", f64::from(u32::try_from(right)?), ok, words))
}

impl Setting {
    fn make(programs: &Programs, made: Made) -> anyhow::Result<Setting> {
        let of_url = |url| Setting { url, options: Vec::new(), link: None, _group: None, _server: None };
        match made {
            Made::Server(pace) => Ok(of_url(paced_server::start(content(programs, CONTENT)?, pace)?)),
            Made::Link(rate) => {
                let link = LimitedLink::make(rate)?;
                let pace = DeviceUse { bytes_per_s: None, delay: Duration::ZERO };
                let url = paced_server::start_at(LimitedLink::SERVER, content(programs, CONTENT)?, pace)?;
                Ok(Setting { link: Some(link), ..of_url(url) })
            }
            Made::Client(limit) => {
                let file = programs.lines(LONG)?;
                let folder = file.parent().context("a file is in a folder")?;
                let name = file.file_name().unwrap_or_default().display();
                let server = ScriptServer::start("nginx.sh", folder)?;
                let url = format!("{}/{name}", server.at("https")?);
                let options = vec!["--cacert".to_owned(), server.at("cacert")?.to_owned()];
                // What was started before is not in it.
                let group = Group::entered(limit, "client")?;
                Ok(Setting { options, _group: Some(group), _server: Some(server), ..of_url(url) })
            }
        }
    }

    fn race(&self, programs: &Programs) -> anyhow::Result<Record> {
        let own: Vec<&str> = self.options.iter().map(String::as_str).collect();
        let options = [&["--quiet", "--method", ONE, "--method", RANGED, "--runs", "8"], &own[..]].concat();
        let file = Path::new(&self.url);
        let race = Race { name: "objects", trials: &[], file, state: None, options: &options };
        let folder = programs.empty_folder(race.name)?;
        let command = programs.command(programs.lab(), &race, &folder)?;
        let command = match &self.link {
            Some(link) => link.behind(&command),
            None => command,
        };
        Running::start(command, &folder)?.record()
    }
}
