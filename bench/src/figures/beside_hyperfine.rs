//! Figure: readlab and hyperfine, with the same wall time, on the same pairs of commands: two
//! spellings of one command, and two commands with a known difference. How often each calls equal
//! commands different, and how often it finds the slower one.
//!
//! Hyperfine runs by its defaults; the time that it took is readlab's budget. Which command comes
//! first changes from one comparison to the next. The commands of a known difference are
//! `readlab-slowed`; the start of the process, a millisecond or two, is not slowed.

use crate::hyperfine::{self, Hyperfine};
use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::Row;
use crate::share::Share;
use anyhow::Context;
use readlab_analysis::stats::Significance;
use readlab_model::trial::{CacheState, TrialId};
use readlab_model::units::Bytes;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(super) const ABOUT: &str =
    "beside-hyperfine: readlab and hyperfine on the same commands in the same time, 256 MiB, warm";

const FILE: Bytes = Bytes(256 << 20);
const REPEATS: usize = 20;
const FALSE: f64 = 0.05;
const ADDED_PERCENT: [u32; 3] = [5, 10, 20];

/// Two commands, with `{}` for the file.
struct Commands {
    name: String,
    first: String,
    second: String,
    is_second_slower: bool,
}

/// The two tools, and what their commands read.
struct Tools<'a> {
    programs: &'a Programs,
    hyperfine: Hyperfine,
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

/// A pair, and what was found each time.
struct Found {
    commands: Commands,
    all: Vec<Once>,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let hyperfine = Hyperfine::install(&programs.folder().with_file_name("tools"))
        .inspect_err(|error| eprintln!("{error:#}"))?;
    let mut tools = Tools { programs, hyperfine, file: programs.lines(FILE)?, beyond_budget_s: 0.0 };
    let found = |commands| Found { commands, all: Vec::new() };
    let mut found: Vec<Found> = Commands::all(programs.slowed()).into_iter().map(found).collect();
    for repeat in 0..programs.repeats(REPEATS) {
        for pair in &mut found {
            pair.all.push(tools.compare(&pair.commands, repeat % 2 == 1)?);
        }
    }
    let table = programs.folder().join("beside-hyperfine.md");
    std::fs::write(&table, markdown(&found)).with_context(|| table.display().to_string())?;
    eprintln!("as a table: {}", table.display());
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
    /// One comparison by each tool.
    fn compare(&mut self, commands: &Commands, is_reversed: bool) -> anyhow::Result<Once> {
        let pair = [commands.first.as_str(), commands.second.as_str()];
        let [first, second] = pair.map(|command| command.replace("{}", &self.file.display().to_string()));
        let order = if is_reversed { [second.as_str(), &first] } else { [first.as_str(), &second] };
        let start = Instant::now();
        let compared = self.hyperfine.compare(order, &self.programs.folder().join("hyperfine.json"))?;
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

    /// Lets readlab race two commands; returns where its record is.
    fn race(&self, commands: [&str; 2], budget_s: f64) -> anyhow::Result<PathBuf> {
        let [first, second] = commands.map(trial);
        let budget = format!("{:.0}ms", budget_s * 1e3);
        let (trials, options) = ([first.as_str(), &second], ["--budget", &budget, "--reference", &first]);
        let (name, file, state) = ("beside-hyperfine", &self.file, Some(CacheState::Warm));
        self.programs.start(&Race { name, trials: &trials, file, state, options: &options })?.finished()
    }

    /// What readlab finds about a command.
    fn judge(&self, record: &Path, command: &str) -> anyhow::Result<Significance> {
        // By the lab's name for it, which leaves out a path at the end.
        let name = trial(command).parse::<TrialId>().with_context(|| command.to_owned())?.to_string();
        let export = self.programs.lab().export(record)?;
        let found = export.measured().find(|trial| trial.id == name);
        let found = found.with_context(|| format!("{command} was not measured"))?;
        // Without an interval nothing is said.
        Ok(found.significance().unwrap_or(Significance::Tie))
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
        let median = |of: fn(&Once) -> f64| pairs::median(&self.all.iter().map(of).collect::<Vec<f64>>());
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

/// Both tools' results in four lines of Markdown.
fn markdown(found: &[Found]) -> String {
    let row = |tool: &str, of: fn(&Once) -> Significance| {
        let shares: Vec<String> = found.iter().map(|pair| pair.share(of).words()).collect();
        format!("| {tool} | {} |\n", shares.join(" | "))
    };
    let head = |pair: &Found| match pair.commands.is_second_slower {
        true => format!("finds {}", pair.commands.name),
        false => format!("calls {} different", pair.commands.name),
    };
    let heads: Vec<String> = found.iter().map(head).collect();
    format!("| | {} |\n|{}\n", heads.join(" | "), " --- |".repeat(heads.len() + 1))
        + &row("readlab", |found| found.readlab)
        + &row(&format!("hyperfine {}", hyperfine::VERSION), |found| found.hyperfine)
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

    #[test]
    fn the_table_has_four_lines_and_a_column_for_each_pair() {
        let table = markdown(&found(&[Significance::Slower]));
        let columns: Vec<usize> = table.lines().map(|line| line.matches('|').count()).collect();
        assert_eq!(columns, [6; 4], "{table}");
        assert!(table.contains("finds +10 %") && table.contains("1 of 1 (100 %)"), "{table}");
    }
}
