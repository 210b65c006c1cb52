//! Runs readings whose limit is created or known, and checks what readlab reports about them. One
//! runner runs all cases of [`table`].

mod table;

use crate::made::control_group;
use crate::made::file_system::{self, FileSystem};
use crate::made::hosts::{HostLimit, Hosts};
use crate::made::network::{self, Pace};
use crate::made::{Cleanup, busy_loops, newlines, paced, tree};
use crate::programs::{Programs, Race, RunningLab, measured_trial, pressed_trial};
use crate::row::{Row, Share};
use anyhow::{Context, bail};
use readlab_analysis::fleet::rank_effects;
use readlab_analysis::noise::SharedNoise;
use readlab_analysis::scaling::{Scaling, ScalingLimit};
use readlab_analysis::verdict;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Outcome, Record, TrialRecord};
use std::collections::BTreeSet;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// The name of the figure of all cases. With a `/` and a prefix behind it, it names the cases whose
/// names begin with the prefix.
pub(crate) const FIGURE: &str = "verdicts";
pub(crate) const ABOUT: &str = "what readlab says of readings with a known limit, right in nine of ten";

const RIGHT_SHARE_MIN: f64 = 0.9;
const REPEATS: usize = 1;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    target: Target,
    limit: CaseLimit,
    state: Option<CacheState>,
    /// The first trial is judged. The others show its limit.
    trials: TrialSelection,
    options: &'static [&'static str],
    question: Question,
    /// Prefixes of right answers. If several are right, the machine decides which of two similar
    /// limits comes first.
    right: &'static [&'static str],
}

#[derive(Debug, Clone, Copy)]
enum Target {
    /// A file of lines on the disk of the build.
    Lines(Bytes),
    Zip(Bytes),
    /// A file of newlines alone, so that counts are as large as sizes.
    Newlines(Bytes),
    /// The same file on a device for which no reader waits.
    NewlinesInMemory(Bytes),
    On(FileSystem, Bytes),
    Tree(Files),
    /// A tree of files on a device that answers each read late.
    LateTree(Files),
    /// One file of this many bytes on such a device.
    LateFile(usize),
    Url(Pace, Bytes),
    Https(Bytes),
    /// A file on this number of hosts, each with its own mount.
    Hosts(usize, HostLimit, Bytes),
}

/// A number of files, each of this size.
#[derive(Debug, Clone, Copy)]
struct Files {
    count: usize,
    bytes: usize,
}

/// A limit besides those of the target, or a load on the machine.
#[derive(Debug, Clone, Copy)]
enum CaseLimit {
    None,
    /// A control group limits the contenders, or the device of their file.
    Group(control_group::GroupLimit),
    /// The link to the server has this rate, in the notation of `tbf`.
    Link(&'static str),
    /// This number of busy loops runs for each processor.
    BusyLoops(usize),
}

#[derive(Debug, Clone, Copy)]
enum TrialSelection {
    Only(&'static [&'static str]),
    /// readlab's own controls take part too. A trial that begins with `command/` is added
    /// separately.
    WithControls(&'static [&'static str]),
}

#[derive(Debug, Clone, Copy)]
enum Question {
    StopsAt,
    /// The same of the reading under a bound on memory.
    StopsAtUnderBound,
    /// The limit as the number of readers grows.
    Scaling,
    SlowHosts,
    Answers,
}

/// The cases that these words of the command line select. If no word names a case, all are
/// selected.
pub(crate) fn selected_cases(names: &[String]) -> anyhow::Result<Vec<&'static Case>> {
    let prefixes: Vec<&str> =
        names.iter().filter_map(|name| name.strip_prefix(FIGURE)?.strip_prefix('/')).collect();
    let unknown = prefixes.iter().find(|prefix| !table::CASES.iter().any(|it| it.name.starts_with(**prefix)));
    if let Some(prefix) = unknown {
        let known: Vec<&str> = table::CASES.iter().map(|case| case.name).collect();
        bail!("no case of {FIGURE} begins with '{prefix}' (known: {})", known.join(", "));
    }
    let is_selected =
        |case: &&Case| prefixes.is_empty() || prefixes.iter().any(|prefix| case.name.starts_with(prefix));
    Ok(table::CASES.iter().filter(is_selected).collect())
}

pub(crate) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let (mut rows, mut all) = (Vec::new(), Share::default());
    for case in selected_cases(&programs.options.names)? {
        let found = case.judge(programs).map(|(row, share)| {
            all = all.plus(share);
            row
        });
        rows.push(Row::or_failed(case.name, found));
    }
    rows.push(all.row_at_least("verdicts that are right", RIGHT_SHARE_MIN));
    Ok(rows)
}

struct PreparedCase {
    /// The target: a file, a folder or a URL.
    target: PathBuf,
    options: Vec<String>,
    /// The network namespace of the contenders.
    namespace: Option<String>,
    hosts: Option<Hosts>,
}

impl Case {
    /// The share of races in which readlab's answer is right.
    fn judge(&self, programs: &Programs) -> anyhow::Result<(Row, Share)> {
        let mut cleanup = Cleanup::default();
        let made = self.make(&mut cleanup, programs)?;
        let repeats = programs.repeats(REPEATS);
        let (mut share, mut said) = (Share::default(), BTreeSet::new());
        for _ in 0..repeats {
            let answer = self.question.answer_from(&self.race(programs, &made)?, self.judged())?;
            let is_right = self.right.iter().any(|right| answer.starts_with(right));
            share.count(is_right);
            if !is_right || repeats == 1 {
                said.insert(answer);
            }
        }
        let said: Vec<String> = said.into_iter().collect();
        let row = share.row_at_least(format!("{}: {}", self.name, self.right.join(" or ")), RIGHT_SHARE_MIN);
        Ok((row.and(&format!("  {}", said.join("; "))), share))
    }

    fn judged(&self) -> &'static str {
        let (TrialSelection::Only(trials) | TrialSelection::WithControls(trials)) = self.trials;
        trials[0]
    }

    fn make(&self, cleanup: &mut Cleanup, programs: &Programs) -> anyhow::Result<PreparedCase> {
        let of = |target| PreparedCase { target, options: Vec::new(), namespace: None, hosts: None };
        let mut made = match self.target {
            Target::Lines(size) => of(programs.lines(size)?),
            Target::Zip(size) => of(programs.zipped_lines(size)?),
            Target::Newlines(size) => of(newlines(cleanup, programs, size)?),
            Target::NewlinesInMemory(size) => of(file_system::newlines_in_memory(cleanup, programs, size)?),
            Target::On(file_system, size) => of(file_system.make(cleanup, programs, size)?),
            Target::Tree(Files { count, bytes }) => of(tree(programs, count, bytes)?),
            Target::LateTree(Files { count, bytes }) => {
                of(paced::late_tree(cleanup, &programs.folder, &tree(programs, count, bytes)?)?)
            }
            Target::LateFile(bytes) => {
                let folder = paced::late_tree(cleanup, &programs.folder, &tree(programs, 1, bytes)?)?;
                of(folder.join("000/000.txt"))
            }
            Target::Url(pace, size) => {
                let file = programs.lines(size)?;
                let content = fs::read(&file).with_context(|| file.display().to_string())?;
                let namespace = match self.limit {
                    CaseLimit::Link(rate) => Some(network::limited_link(cleanup, rate)?),
                    _ => None,
                };
                let at = if namespace.is_some() { network::SERVER } else { Ipv4Addr::LOCALHOST };
                let url = network::paced_server(at, content, pace)?;
                PreparedCase { namespace, ..of(url.into()) }
            }
            Target::Https(size) => {
                let file = programs.lines(size)?;
                let (folder, name) = file.parent().zip(file.file_name()).context("a file is in a folder")?;
                let places = network::scripted_server(cleanup, "nginx.sh", folder)?;
                let place = |name: &str| places.get(name).with_context(|| format!("nginx.sh says no {name}"));
                let options = vec!["--cacert".to_owned(), place("cacert")?.clone()];
                let url = Path::new(place("https")?).join(name);
                PreparedCase { options, ..of(url) }
            }
            Target::Hosts(count, limit, size) => {
                let hosts = Hosts::make(cleanup, programs, count, limit, size)?;
                PreparedCase { hosts: Some(hosts), ..of(PathBuf::new()) }
            }
        };
        if self.judged().starts_with("slowed/") {
            made.options.extend(["--roster".to_owned(), programs.slowed_roster()?]);
        }
        match self.limit {
            CaseLimit::None | CaseLimit::Link(_) => {}
            // Processes that were started before, such as a server, are not in the group.
            CaseLimit::Group(limit) => {
                let on_device = if made.target.exists() { &made.target } else { &programs.folder };
                control_group::enter(cleanup, limit, on_device)?;
            }
            CaseLimit::BusyLoops(each) => busy_loops(cleanup, each)?,
        }
        Ok(made)
    }

    fn race(&self, programs: &Programs, made: &PreparedCase) -> anyhow::Result<Record> {
        let (trials, methods) = match self.trials {
            TrialSelection::Only(trials) => (trials, &[][..]),
            TrialSelection::WithControls(methods) => (&[][..], methods),
        };
        let methods = methods.iter().copied().filter(|name| !name.starts_with("command/"));
        let mut options = self.options.to_vec();
        options.extend(methods.flat_map(|method| ["--method", method]));
        if matches!(self.question, Question::Scaling | Question::SlowHosts) {
            options.extend(["--reference", self.judged()]);
        }
        options.extend(made.options.iter().map(String::as_str));
        if let Some(hosts) = &made.hosts {
            let state = self.state.map_or_else(|| "both".to_owned(), |state| state.to_string());
            return hosts.record(programs, &[&options[..], &["--state", &state]].concat());
        }
        let (file, state) = (&*made.target, self.state);
        let race = Race { name: FIGURE, trials, file, state, options: &options };
        let folder = programs.empty_folder(race.name)?;
        let mut command = programs.command(&programs.lab, &race, &folder)?;
        command.arg("--quiet");
        let command = match &made.namespace {
            Some(namespace) => network::in_namespace(namespace, &command),
            None => command,
        };
        RunningLab::start(command, &folder)?.record()
    }
}

impl Question {
    /// The answer of a record: about the judged trial, if the question concerns one trial.
    fn answer_from(self, record: &Record, judged: &str) -> anyhow::Result<String> {
        match self {
            Question::StopsAt => stops_at(record, measured_trial(record, judged)?),
            Question::StopsAtUnderBound => stops_at(record, pressed_trial(record, judged)?),
            Question::Scaling => {
                let scaling = Scaling::all(record);
                let limited = scaling.iter().find(|it| it.id.to_string() == judged).and_then(|it| it.limit);
                Ok(match limited.context("it does not say what limits more")? {
                    ScalingLimit::Processors(_) => "processors",
                    ScalingLimit::Shared(_) => "what they share",
                    ScalingLimit::EachHost(_) => "something of each",
                    ScalingLimit::Undecided(_) => "not told",
                }
                .to_owned())
            }
            Question::SlowHosts => {
                let effects = rank_effects(record);
                let slow = effects.iter().filter(|it| it.is_straggler());
                let slow: Vec<String> = slow.map(|it| format!("host {}", it.rank + 1)).collect();
                Ok(if slow.is_empty() { "none".to_owned() } else { format!("{} alone", slow.join(" and ")) })
            }
            Question::Answers => answers_text(record),
        }
    }
}

/// What stops a trial, in two or three words.
pub(crate) fn stops_at(record: &Record, it: &TrialRecord) -> anyhow::Result<String> {
    let noise = SharedNoise::of_contest(record, it);
    let diagnosis = verdict::judge(record, &verdict::limits(record), &noise, it);
    Ok(diagnosis.context("no verdict")?.short_cause())
}

/// Whether any trial answered wrongly, and the reasons why trials gave no answer.
fn answers_text(record: &Record) -> anyhow::Result<String> {
    let trials = || record.trials.iter().filter(|it| !it.trial.is_control());
    let right = trials().filter(|it| it.is_measured()).count();
    anyhow::ensure!(right > 0, "nothing was measured: {}", record.warnings.join("; "));
    let is_wrong = trials().any(|it| matches!(it.outcome, Some(Outcome::Refused { .. })));
    let others = trials().filter_map(|it| {
        let reason = it.outcome.as_ref()?.reason()?;
        Some(format!("; {}: {reason}", it.trial.id))
    });
    let word = if is_wrong { "wrong" } else { "right" };
    Ok(format!("{word}, {right} measured{}", others.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_unique_name_a_trial_and_a_right_answer() {
        let names: BTreeSet<&str> = table::CASES.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), table::CASES.len());
        for case in table::CASES {
            assert!(!case.judged().is_empty() && !case.right.is_empty(), "{}", case.name);
            let is_url = matches!(case.target, Target::Url(..) | Target::Https(_));
            assert_eq!(case.state.is_none(), is_url, "{}: a URL has no state", case.name);
        }
    }

    #[test]
    fn a_name_selects_the_cases_that_it_begins() {
        let count = |names: &[&str]| {
            selected_cases(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
                .map(|it| it.len())
        };
        assert_eq!(count(&["same", "verdicts"]).unwrap(), table::CASES.len());
        assert_eq!(count(&["verdicts/hosts-"]).unwrap(), 5);
        assert_eq!(count(&["verdicts/zip", "verdicts/lock"]).unwrap(), 2);
        assert!(count(&["verdicts/nothing"]).unwrap_err().to_string().contains("known: "));
    }
}
