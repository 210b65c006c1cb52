//! Figure: readlab and hyperfine, with the same wall time, on the same pairs of commands: two
//! spellings of one command, and two commands with a known difference. How often each calls equal
//! commands different, and how often it finds the slower one.
//!
//! Hyperfine runs by its defaults, and is judged as its users read it: it prints "A ran 1.05 ± 0.03
//! times faster than B", the quotient of the means with the standard deviation that those of the two
//! leave it. Here it calls A faster if 1 is below that range; that its first line always calls one of
//! them faster is counted apart. The time that it took is readlab's budget. Which command comes first
//! changes from one comparison to the next. The commands of a known difference are
//! `readlab-slowed`; the start of the process, a millisecond or two, is not slowed.

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

/// Of hyperfine: the newest that this project's compiler builds.
const VERSION: &str = "1.20.0";
const FILE: Bytes = Bytes(256 << 20);
const REPEATS: usize = 5;
const FALSE: f64 = 0.05;
const ADDED_PERCENT: [u32; 3] = [5, 10, 20];

/// Two commands, with `{}` for the file.
struct Commands {
    name: String,
    first: String,
    second: String,
    is_second_slower: bool,
}

struct Tools<'a> {
    programs: &'a Programs,
    hyperfine: PathBuf,
    file: PathBuf,
    /// What readlab's last race took beyond its budget: to start, and to write its page.
    beyond_budget_s: f64,
}

/// What both tools found about the second command of a pair, once.
struct Once {
    hyperfine: Significance,
    /// Whether hyperfine's first line names the second command as the slower one.
    is_named_slower: bool,
    readlab: Significance,
    hyperfine_seconds: f64,
    readlab_seconds: f64,
}

struct Found {
    commands: Commands,
    all: Vec<Once>,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let hyperfine = installed(&programs.folder.with_file_name("tools"))?;
    let mut tools = Tools { programs, hyperfine, file: programs.lines(FILE)?, beyond_budget_s: 0.0 };
    let found = |commands| Found { commands, all: Vec::new() };
    let mut found: Vec<Found> = Commands::all(&programs.slowed()).into_iter().map(found).collect();
    for repeat in 0..programs.repeats(REPEATS) {
        for pair in &mut found {
            pair.all.push(tools.compare(&pair.commands, repeat % 2 == 1)?);
        }
    }
    Ok(found.iter().flat_map(Found::rows).collect())
}

impl Commands {
    fn all(slowed: &Path) -> Vec<Commands> {
        let equal = Commands {
            name: "equal commands".to_owned(),
            first: "wc -l {}".to_owned(),
            second: "wc --lines {}".to_owned(),
            is_second_slower: false,
        };
        let count = |percent: u32| format!("{} count {percent} {{}}", slowed.display());
        let slower = ADDED_PERCENT.map(|percent| Commands {
            name: format!("+{percent} %"),
            first: count(0),
            second: count(percent),
            is_second_slower: true,
        });
        [equal].into_iter().chain(slower).collect()
    }
}

impl Tools<'_> {
    fn compare(&mut self, commands: &Commands, is_reversed: bool) -> anyhow::Result<Once> {
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
        Ok(Once {
            hyperfine: compared.judge(&second),
            is_named_slower: compared.names_slower(&second),
            readlab: self.judge(&record, pair[1])?,
            hyperfine_seconds,
            readlab_seconds,
        })
    }

    /// Hyperfine by its defaults, without a shell, after three untimed runs.
    fn compare_by_hyperfine(&self, commands: [&str; 2]) -> anyhow::Result<Comparison> {
        let export = self.programs.folder.join("hyperfine.json");
        let mut command = Command::new(&self.hyperfine);
        command.args(["--shell=none", "--warmup=3", "--style=none", "--export-json"]);
        output(command.arg(&export).args(commands))?;
        let text = std::fs::read(&export).with_context(|| export.display().to_string())?;
        serde_json::from_slice(&text).with_context(|| export.display().to_string())
    }

    /// Lets readlab race two commands; returns where its record is.
    fn race(&self, commands: [&str; 2], budget_s: f64) -> anyhow::Result<PathBuf> {
        let [first, second] = commands.map(trial);
        let budget = format!("{:.0}ms", budget_s * 1e3);
        let (trials, options) = ([first.as_str(), &second], ["--budget", &budget, "--reference", &first]);
        let (name, file, state) = ("beside-hyperfine", &self.file, Some(CacheState::Warm));
        self.programs.start(&Race { name, trials: &trials, file, state, options: &options })?.finish()
    }

    fn judge(&self, record: &Path, command: &str) -> anyhow::Result<Significance> {
        // By the lab's name for it, which leaves out a path at the end.
        let name = trial(command).parse::<TrialId>().with_context(|| command.to_owned())?.to_string();
        let export = self.programs.lab.export(record)?;
        let found = export.measured().find(|trial| trial.id == name);
        let found = found.with_context(|| format!("{command} was not measured"))?;
        // Without an interval nothing is said.
        Ok(found.significance().unwrap_or(Significance::Tie))
    }
}

/// Hyperfine, which is installed into this folder unless it is there.
fn installed(tools: &Path) -> anyhow::Result<PathBuf> {
    let program = tools.join("bin/hyperfine");
    let said = Command::new(&program).arg("--version").output();
    if said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).trim() == format!("hyperfine {VERSION}")) {
        return Ok(program);
    }
    let mut cargo = Command::new("cargo");
    cargo.args(["install", "--quiet", "--locked", "--force", "hyperfine", "--version", VERSION, "--root"]);
    let status = cargo.arg(tools).stdin(Stdio::null()).status().context("cargo")?;
    ensure!(status.success(), "hyperfine {VERSION} cannot be built: {cargo:?} ended with {status}");
    Ok(program)
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Comparison {
    results: [Timed; 2],
}

/// In seconds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Timed {
    command: String,
    mean: f64,
    stddev: Option<f64>,
}

impl Comparison {
    fn judge(&self, command: &str) -> Significance {
        let [fast, slow] = self.by_mean();
        let share = |timed: &Timed| timed.stddev.unwrap_or_default() / timed.mean;
        let ratio = slow.mean / fast.mean;
        if ratio - ratio * share(fast).hypot(share(slow)) <= 1.0 {
            Significance::Tie
        } else if fast.command == command {
            Significance::Faster
        } else {
            Significance::Slower
        }
    }

    /// Whether its first line calls the other command faster than this one.
    fn names_slower(&self, command: &str) -> bool {
        self.by_mean()[1].command == command
    }

    fn by_mean(&self) -> [&Timed; 2] {
        let [first, second] = &self.results;
        if first.mean <= second.mean { [first, second] } else { [second, first] }
    }
}

fn trial(command: &str) -> String {
    format!("command/{command}")
}

impl Found {
    fn rows(&self) -> Vec<Row> {
        let name = &self.commands.name;
        let [ours, theirs] = [self.share(|it| it.readlab), self.share(|it| it.hyperfine)];
        let ours = if self.commands.is_second_slower {
            ours.at_least(format!("{name}: readlab finds the slower"), theirs.value())
        } else {
            ours.at_most(format!("{name}: readlab calls one faster"), FALSE)
        };
        let what = if self.commands.is_second_slower { "finds the slower" } else { "calls one faster" };
        let theirs = theirs.noted(format!("{name}: hyperfine {what}"));
        let named: Share = self.all.iter().map(|it| it.is_named_slower).collect();
        let measured =
            format!("{}; its first line names the second as slower in {}", theirs.measured, named.words());
        let median = |of: fn(&Once) -> f64| pairs::median(self.all.iter().map(of));
        let [time, their_time] = [median(|it| it.readlab_seconds), median(|it| it.hyperfine_seconds)];
        let words = format!("{time:.1} s, and hyperfine {their_time:.1} s, medians");
        vec![ours, Row { measured, ..theirs }, Row::unjudged(format!("{name}: time of readlab"), time, words)]
    }

    /// How often a tool found the second command to be the slower one; of equal commands, how often
    /// it called one of them faster.
    fn share(&self, of: fn(&Once) -> Significance) -> Share {
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
    fn found(readlab: &[Significance]) -> Vec<Found> {
        let once = |readlab: &Significance| Once {
            hyperfine: Significance::Tie,
            is_named_slower: true,
            readlab: *readlab,
            hyperfine_seconds: 7.0,
            readlab_seconds: 6.5,
        };
        let pair = |commands| Found { commands, all: readlab.iter().map(once).collect() };
        Commands::all(Path::new("/slowed")).into_iter().map(pair).collect()
    }

    #[test]
    fn equal_commands_are_called_different_and_a_slower_one_is_found() {
        let pairs =
            found(&[Significance::Slower, Significance::Tie, Significance::Faster, Significance::Slower]);
        let (equal, five) = (pairs[0].rows(), pairs[1].rows());
        assert_eq!((equal[0].ok, equal[0].measured.as_str()), (Some(false), "3 of 4 (75 %)"));
        assert_eq!((five[0].ok, five[0].measured.as_str()), (Some(true), "2 of 4 (50 %)"));
        assert!(five[1].measured.ends_with("names the second as slower in 4 of 4 (100 %)"), "{five:?}");
        assert_eq!(pairs[3].commands.second, "/slowed count 20 {}");
    }

    fn comparison(a: [f64; 2], b: [f64; 2]) -> Comparison {
        let timed = |command: &str, [mean, sd]: [f64; 2]| Timed {
            command: command.to_owned(),
            mean,
            stddev: Some(sd),
        };
        Comparison { results: [timed("a", a), timed("b", b)] }
    }

    #[test]
    fn one_is_faster_if_the_quotient_less_its_deviation_is_above_one() {
        // 1.10 ± 0.087: sqrt(0.06² + 0.05²) × 1.1.
        let clear = comparison([1.0, 0.05], [1.1, 0.066]);
        assert_eq!((clear.judge("a"), clear.judge("b")), (Significance::Faster, Significance::Slower));
        let open = comparison([1.0, 0.08], [1.1, 0.066]);
        assert_eq!((open.judge("a"), open.judge("b")), (Significance::Tie, Significance::Tie));
        assert!(open.names_slower("b") && !open.names_slower("a"));
    }

    #[test]
    fn its_export_is_read() {
        let text = r#"{"results":[{"command":"wc -l f","mean":0.012,"stddev":null,"times":[0.012],"exit_codes":[0]},
            {"command":"wc f","mean":0.5,"stddev":0.01,"median":0.5,"user":0.4,"times":[0.5],"parameters":{}}]}"#;
        let found: Comparison = serde_json::from_str(text).unwrap();
        assert_eq!(found.judge("wc -l f"), Significance::Faster);
    }
}
