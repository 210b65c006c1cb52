//! Figure: readlab and hyperfine, with the same wall time, on the same pairs of commands: two
//! spellings of one command, and two commands with a known difference. It shows how often each
//! program calls equal commands different, and how often it finds the slower command.
//!
//! Hyperfine runs with its defaults, and is judged as its users read it. It prints "A ran 1.05 ±
//! 0.03 times faster than B": the ratio of the means, with the standard deviation that follows from
//! those of the two commands. Here hyperfine counts as calling A faster if 1 is below that range.
//! Its first line always calls one command faster, which is counted separately. The time that
//! hyperfine took is readlab's budget. The order of the two commands alternates between
//! comparisons. The commands of a known difference are `readlab-slowed`. The start of the process,
//! a millisecond or two, is not slowed.

use crate::pairs;
use crate::programs::{Programs, Race, output};
use crate::row::{Row, Share};
use anyhow::{Context, ensure};
use readlab_analysis::stats::Significance;
use readlab_model::trial::{CacheState, TrialId};
use readlab_model::units::Bytes;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

pub(super) const ABOUT: &str = "readlab and hyperfine on the same commands in the same time, 256 MiB, warm";

/// The version of hyperfine: the newest that this project's compiler builds.
const HYPERFINE_VERSION: &str = "1.20.0";
const FILE_SIZE: Bytes = Bytes(256 << 20);
const REPEATS: usize = 5;
const FALSE_ALARM_SHARE_MAX: f64 = 0.05;
const ADDED_PERCENT: [u32; 3] = [5, 10, 20];

/// Two commands, with `{}` for the file.
struct CommandPair {
    name: String,
    first: String,
    second: String,
    is_second_slower: bool,
}

struct Tools<'a> {
    programs: &'a Programs,
    hyperfine: PathBuf,
    file: PathBuf,
    /// Time that readlab's last race took beyond its budget, to start and to write its page.
    beyond_budget_s: f64,
}

/// The findings of both tools about the second command of a pair, in one comparison.
struct ComparisonOutcome {
    hyperfine: Significance,
    /// Whether hyperfine's first line names the second command as the slower one.
    is_named_slower: bool,
    readlab: Significance,
    hyperfine_seconds: f64,
    readlab_seconds: f64,
}

struct PairOutcomes {
    commands: CommandPair,
    all: Vec<ComparisonOutcome>,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let hyperfine = install_hyperfine(&programs.folder.with_file_name("tools"))?;
    let mut tools = Tools { programs, hyperfine, file: programs.lines(FILE_SIZE)?, beyond_budget_s: 0.0 };
    let found = |commands| PairOutcomes { commands, all: Vec::new() };
    let mut found: Vec<PairOutcomes> =
        CommandPair::all_pairs(&programs.slowed_program()).into_iter().map(found).collect();
    for repeat in 0..programs.repeats(REPEATS) {
        for pair in &mut found {
            pair.all.push(tools.compare(&pair.commands, repeat % 2 == 1)?);
        }
    }
    Ok(found.iter().flat_map(PairOutcomes::rows).collect())
}

impl CommandPair {
    fn all_pairs(slowed: &Path) -> Vec<CommandPair> {
        let equal = CommandPair {
            name: "equal commands".to_owned(),
            first: "wc -l {}".to_owned(),
            second: "wc --lines {}".to_owned(),
            is_second_slower: false,
        };
        let count = |percent: u32| format!("{} count {percent} {{}}", slowed.display());
        let slower = ADDED_PERCENT.map(|percent| CommandPair {
            name: format!("+{percent} %"),
            first: count(0),
            second: count(percent),
            is_second_slower: true,
        });
        [equal].into_iter().chain(slower).collect()
    }
}

impl Tools<'_> {
    fn compare(&mut self, commands: &CommandPair, is_reversed: bool) -> anyhow::Result<ComparisonOutcome> {
        let pair = [commands.first.as_str(), commands.second.as_str()];
        let [first, second] = pair.map(|command| command.replace("{}", &self.file.display().to_string()));
        let order = if is_reversed { [second.as_str(), &first] } else { [first.as_str(), &second] };
        let start = Instant::now();
        let compared = self.compare_by_hyperfine(order)?;
        let hyperfine_seconds = start.elapsed().as_secs_f64();
        let budget_s = (hyperfine_seconds - self.beyond_budget_s).max(1.0);
        let start = Instant::now();
        let record = self.race(pair, budget_s)?;
        let readlab_seconds = start.elapsed().as_secs_f64();
        self.beyond_budget_s = (readlab_seconds - budget_s).max(0.0);
        Ok(ComparisonOutcome {
            hyperfine: compared.judge(&second),
            is_named_slower: compared.names_slower(&second),
            readlab: self.judge(&record, pair[1])?,
            hyperfine_seconds,
            readlab_seconds,
        })
    }

    /// Runs hyperfine with its defaults, without a shell, after three untimed runs.
    fn compare_by_hyperfine(&self, commands: [&str; 2]) -> anyhow::Result<Comparison> {
        let export = self.programs.folder.join("hyperfine.json");
        let mut command = Command::new(&self.hyperfine);
        command.args(["--shell=none", "--warmup=3", "--style=none", "--export-json"]);
        output(command.arg(&export).args(commands))?;
        let text = std::fs::read(&export).with_context(|| export.display().to_string())?;
        serde_json::from_slice(&text).with_context(|| export.display().to_string())
    }

    /// Lets readlab race two commands, and returns the path of its record.
    fn race(&self, commands: [&str; 2], budget_s: f64) -> anyhow::Result<PathBuf> {
        let [first, second] = commands.map(trial_name);
        let budget = format!("{:.0}ms", budget_s * 1e3);
        let (trials, options) = ([first.as_str(), &second], ["--budget", &budget, "--reference", &first]);
        let (name, file, state) = ("beside-hyperfine", &self.file, Some(CacheState::Warm));
        self.programs.start(&Race { name, trials: &trials, file, state, options: &options })?.finish()
    }

    fn judge(&self, record: &Path, command: &str) -> anyhow::Result<Significance> {
        // The lab's name for the command leaves out a path at the end.
        let name = trial_name(command).parse::<TrialId>().with_context(|| command.to_owned())?.to_string();
        let export = self.programs.lab.export(record)?;
        let found = export.measured().find(|trial| trial.id == name);
        let found = found.with_context(|| format!("{command} was not measured"))?;
        // Without an interval there is no finding.
        Ok(found.significance().unwrap_or(Significance::Tie))
    }
}

/// The path of hyperfine, which is installed into this folder if it is not there yet.
fn install_hyperfine(tools: &Path) -> anyhow::Result<PathBuf> {
    let program = tools.join("bin/hyperfine");
    let said = Command::new(&program).arg("--version").output();
    if said.is_ok_and(|said| {
        String::from_utf8_lossy(&said.stdout).trim() == format!("hyperfine {HYPERFINE_VERSION}")
    }) {
        return Ok(program);
    }
    let mut cargo = Command::new("cargo");
    cargo.args(["install", "--quiet", "--locked", "--force", "hyperfine", "--version", HYPERFINE_VERSION]);
    let status = cargo.arg("--root").arg(tools).stdin(Stdio::null()).status().context("cargo")?;
    ensure!(status.success(), "hyperfine {HYPERFINE_VERSION} cannot be built: {cargo:?} ended with {status}");
    Ok(program)
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Comparison {
    results: [CommandTimes; 2],
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct CommandTimes {
    command: String,
    mean: f64,
    stddev: Option<f64>,
}

impl Comparison {
    fn judge(&self, command: &str) -> Significance {
        let [fast, slow] = self.sorted_by_mean();
        let share = |timed: &CommandTimes| timed.stddev.unwrap_or_default() / timed.mean;
        let ratio = slow.mean / fast.mean;
        if ratio - ratio * share(fast).hypot(share(slow)) <= 1.0 {
            Significance::Tie
        } else if fast.command == command {
            Significance::Faster
        } else {
            Significance::Slower
        }
    }

    /// Whether the first line of hyperfine calls the other command faster than this one.
    fn names_slower(&self, command: &str) -> bool {
        self.sorted_by_mean()[1].command == command
    }

    fn sorted_by_mean(&self) -> [&CommandTimes; 2] {
        let [first, second] = &self.results;
        if first.mean <= second.mean { [first, second] } else { [second, first] }
    }
}

fn trial_name(command: &str) -> String {
    format!("command/{command}")
}

impl PairOutcomes {
    fn rows(&self) -> Vec<Row> {
        let name = &self.commands.name;
        let [ours, theirs] = [self.share(|it| it.readlab), self.share(|it| it.hyperfine)];
        let ours = if self.commands.is_second_slower {
            ours.row_at_least(format!("{name}: readlab finds the slower"), theirs.value())
        } else {
            ours.row_at_most(format!("{name}: readlab calls one faster"), FALSE_ALARM_SHARE_MAX)
        };
        let what = if self.commands.is_second_slower { "finds the slower" } else { "calls one faster" };
        let theirs = theirs.unjudged_row(format!("{name}: hyperfine {what}"));
        let named: Share = self.all.iter().map(|it| it.is_named_slower).collect();
        let theirs = theirs.and(&format!("; its first line names the second as slower in {}", named.words()));
        let median = |of: fn(&ComparisonOutcome) -> f64| pairs::median(self.all.iter().map(of));
        let [time, their_time] = [median(|it| it.readlab_seconds), median(|it| it.hyperfine_seconds)];
        let words = format!("{time:.1} s, and hyperfine {their_time:.1} s, medians");
        vec![ours, theirs, Row::unjudged(format!("{name}: time of readlab"), time, words)]
    }

    /// How often a tool found the second command to be slower. For equal commands, how often it
    /// called one of them faster.
    fn share(&self, of: fn(&ComparisonOutcome) -> Significance) -> Share {
        let is_so = |found| match self.commands.is_second_slower {
            true => found == Significance::Slower,
            false => found != Significance::Tie,
        };
        self.all.iter().map(of).map(is_so).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair, with these findings of readlab, and ties of hyperfine.
    fn outcomes_of(readlab: &[Significance]) -> Vec<PairOutcomes> {
        let once = |readlab: &Significance| ComparisonOutcome {
            hyperfine: Significance::Tie,
            is_named_slower: true,
            readlab: *readlab,
            hyperfine_seconds: 7.0,
            readlab_seconds: 6.5,
        };
        let pair = |commands| PairOutcomes { commands, all: readlab.iter().map(once).collect() };
        CommandPair::all_pairs(Path::new("/slowed")).into_iter().map(pair).collect()
    }

    #[test]
    fn false_alarms_and_found_differences_are_counted_apart() {
        let pairs = outcomes_of(&[
            Significance::Slower,
            Significance::Tie,
            Significance::Faster,
            Significance::Slower,
        ]);
        let (equal, five) = (pairs[0].rows(), pairs[1].rows());
        assert_eq!((equal[0].ok, equal[0].measured.as_str()), (Some(false), "3 of 4 (75 %)"));
        assert_eq!((five[0].ok, five[0].measured.as_str()), (Some(true), "2 of 4 (50 %)"));
        assert!(five[1].measured.ends_with("names the second as slower in 4 of 4 (100 %)"), "{five:?}");
        assert_eq!(pairs[3].commands.second, "/slowed count 20 {}");
    }

    fn comparison(a: [f64; 2], b: [f64; 2]) -> Comparison {
        let timed = |command: &str, [mean, sd]: [f64; 2]| CommandTimes {
            command: command.to_owned(),
            mean,
            stddev: Some(sd),
        };
        Comparison { results: [timed("a", a), timed("b", b)] }
    }

    #[test]
    fn a_command_is_faster_if_the_ratio_less_its_deviation_exceeds_one() {
        // 1.10 ± 0.087: sqrt(0.06² + 0.05²) × 1.1.
        let clear = comparison([1.0, 0.05], [1.1, 0.066]);
        assert_eq!((clear.judge("a"), clear.judge("b")), (Significance::Faster, Significance::Slower));
        let open = comparison([1.0, 0.08], [1.1, 0.066]);
        assert_eq!((open.judge("a"), open.judge("b")), (Significance::Tie, Significance::Tie));
        assert!(open.names_slower("b") && !open.names_slower("a"));
    }

    #[test]
    fn the_export_of_hyperfine_is_parsed() {
        let text = r#"{"results":[{"command":"wc -l f","mean":0.012,"stddev":null,"times":[0.012],"exit_codes":[0]},
            {"command":"wc f","mean":0.5,"stddev":0.01,"median":0.5,"user":0.4,"times":[0.5],"parameters":{}}]}"#;
        let found: Comparison = serde_json::from_str(text).unwrap();
        assert_eq!(found.judge("wc -l f"), Significance::Faster);
    }
}
