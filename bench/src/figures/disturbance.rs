//! Figure: how much of the variance of times the meters of disturbance explain, and whether it
//! would pay to repeat turns because of them.
//!
//! The same race is made on the machine as it is, and beside busy loops that come and go. Rows
//! without a promise: they are findings, which METHOD.md quotes.

mod explained;
mod rule;

use crate::busy_loops::Bursts;
use crate::pairs::{self, PairRatio, floats};
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::Context;
use explained::METERS;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Record, TrialRecord};
use rule::{Case, Rule, Seen, Waited};

pub(super) const ABOUT: &str =
    "disturbance: share of the variance within trials that each meter explains, and a rule that repeats";

const FILE: Bytes = Bytes(64 << 20);
const OPTIONS: [&str; 6] = ["--runs", "60", "--fills", "12", "--budget", "200s"];
const TRIALS: [&str; 8] = [
    READ,
    TWIN,
    MAPPED,
    IN_THREADS,
    COMMAND,
    "rust/lines@buffer=16KiB",
    "rust/buffered/iterator@buffer=64KiB",
    "python/lines",
];
const READ: &str = "rust/read/memchr@buffer=128KiB";
/// The same but for a page of buffer, which changes nothing.
const TWIN: &str = "rust/read/memchr@buffer=132KiB";
const MAPPED: &str = "rust/mmap/memchr";
const IN_THREADS: &str = "rust/mmap/memchr@threads=4";
const COMMAND: &str = "command/wc -l {}";

/// Two trials that are compared with and without a rule.
struct Pair {
    name: &'static str,
    trials: [&'static str; 2],
}

const PAIRS: [Pair; 3] = [
    Pair { name: "identical trials", trials: [READ, TWIN] },
    Pair { name: "a command, whose wait is not seen, to read", trials: [COMMAND, READ] },
    Pair { name: "threads, which wait for each other, to one", trials: [IN_THREADS, MAPPED] },
];

/// Rounds of a race that is read again under a rule.
const ROUNDS: usize = 15;
const RULES: [(&str, Rule); 4] = [
    ("no rule", Rule::Never),
    ("repeated above 5 % of its time", Rule::Share(0.05)),
    ("repeated above 20 % of its time", Rule::Share(0.2)),
    ("repeated above 2 ms", Rule::Milliseconds(2.0)),
];
const SIMULATED_RACES: u64 = 400;
const CASES: [Case; 5] = [
    Case { name: "20 ms and 20 ms", work: [20.0, 20.0], seen: Seen::Waits },
    Case { name: "60 ms and 20 ms", work: [60.0, 20.0], seen: Seen::Waits },
    Case { name: "600 ms and 20 ms", work: [600.0, 20.0], seen: Seen::Waits },
    Case { name: "20 ms unseen (a command) and 20 ms", work: [20.0, 20.0], seen: Seen::Nothing },
    Case { name: "20 ms in threads and 20 ms", work: [20.0, 20.0], seen: Seen::OwnThreads(0.1) },
];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE)?;
    let race = Race { name: "disturbance", trials: &TRIALS, file: &file, state: None, options: &OPTIONS };
    let mut rows = Vec::new();
    for (beside, has_bursts) in [("as it is", false), ("beside bursts", true)] {
        let bursts = has_bursts.then(Bursts::start);
        let record = programs.race(&race)?;
        drop(bursts);
        for state in [CacheState::Warm, CacheState::Cold] {
            let title = format!("{state}, {beside}");
            rows.extend(explained_rows(&title, &record, state));
            rows.extend(RULES.into_iter().flat_map(|rule| read_again(&title, &record, state, rule)));
        }
    }
    for case in CASES {
        rows.extend(RULES.map(|rule| simulated(case, rule)));
    }
    Ok(rows)
}

/// One row a meter, and one for all together.
fn explained_rows(title: &str, record: &Record, state: CacheState) -> Vec<Row> {
    let trials = explained::turns(record, state);
    let row = |name: &str, share: Option<f64>, words: String| {
        let figure = format!("{title}: {name}");
        match share {
            Some(share) => Row::unjudged(figure, share, format!("{:.0} %{words}", share * 100.0)),
            None => Row::failed(figure, &anyhow::anyhow!("it was not read, or never changed")),
        }
    };
    let mut rows: Vec<Row> = METERS
        .iter()
        .enumerate()
        .map(|(at, meter)| {
            let ranks = explained::by_ranks(&trials, at).unwrap_or(f64::NAN);
            let words = format!(" (by ranks {:.0} %)", ranks * 100.0);
            row(meter.name, explained::by_one(&trials, at), words)
        })
        .collect();
    let turns: usize = trials.iter().map(Vec::len).sum();
    let spread = 100.0 * explained::spread(&trials);
    let words = format!(" of the variance of {turns} readings, standard deviation {spread:.0} %");
    rows.push(row("all together", explained::by_all(&trials), words));
    rows
}

/// Two trials of a race, some rounds at a time, as the rule would have read them in the same turns:
/// a repetition is the trial's next turn.
fn read_again(title: &str, record: &Record, state: CacheState, (name, rule): (&str, Rule)) -> Vec<Row> {
    let row = |pair: &Pair| {
        let figure = format!("{title}, {}: {name}", pair.name);
        match waits(record, state, pair) {
            Ok(turns) => reread(turns, rule).row(figure),
            Err(error) => Row::failed(figure, &error),
        }
    };
    PAIRS.iter().map(row).collect()
}

/// Ratios of two trials under a rule.
struct Reread {
    /// Over all rounds.
    whole: PairRatio,
    /// Half of the interval of the median race of [`ROUNDS`] rounds, as a share of the ratio.
    half_width: f64,
}

fn reread(turns: [Vec<Waited>; 2], rule: Rule) -> Reread {
    let ratio = |[first, second]: [&[Waited]; 2]| {
        let [first, second] = [first, second].map(|turns| accepted(turns, rule));
        let walls = first.iter().zip(&second).map(|(first, second)| (first.wall, second.wall));
        pairs::ratio(&walls.collect::<Vec<_>>())
    };
    let races = turns[0].chunks_exact(ROUNDS).zip(turns[1].chunks_exact(ROUNDS));
    let ratios: Vec<PairRatio> = races.map(|(first, second)| ratio([first, second])).collect();
    Reread { whole: ratio([&turns[0], &turns[1]]), half_width: rule::half_width(&ratios) }
}

impl Reread {
    fn row(&self, figure: String) -> Row {
        let width = match self.half_width {
            width if width.is_finite() => format!("± {:.0} %", width * 100.0),
            _ => "have too few pairs for an interval".to_owned(),
        };
        let words = format!("{}; races of {ROUNDS} rounds {width}", self.whole.words());
        Row::unjudged(figure, self.whole.estimate, words).with(self.whole.ci95)
    }
}

/// The turns that count, of those that were made.
fn accepted(turns: &[Waited], rule: Rule) -> Vec<Waited> {
    let mut turns = turns.iter().copied();
    std::iter::from_fn(|| rule.accept(|| turns.next())).collect()
}

/// The turns of both trials of a pair.
fn waits(record: &Record, state: CacheState, pair: &Pair) -> anyhow::Result<[Vec<Waited>; 2]> {
    let turns = |name: &str| {
        // A command is named without the place of the file.
        let id = name.trim_end_matches(" {}");
        let is_it = |it: &&TrialRecord| it.trial.state == state && it.trial.id.to_string() == id;
        let found = record.trials.iter().find(is_it).with_context(|| format!("{name} was not raced"))?;
        let waited = found.samples.iter().filter_map(|sample| {
            let ms = floats([sample.wall_ns, sample.turn.delayed_ns?]);
            Some(Waited { wall: ms[0] / 1e6, wait: ms[1] / 1e6 })
        });
        anyhow::Ok(waited.collect())
    };
    Ok([turns(pair.trials[0])?, turns(pair.trials[1])?])
}

fn simulated(case: Case, (name, rule): (&str, Rule)) -> Row {
    let found = rule::simulate(case, rule, u32::try_from(ROUNDS).unwrap_or(u32::MAX), SIMULATED_RACES);
    Row::unjudged(format!("simulated, {}: {name}", case.name), found.half_width, found.words())
}
