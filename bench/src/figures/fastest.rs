//! Figure: how far ahead of `wc -l` the fastest warm method is, with one thread and with two.

use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::Context;
use readlab_analysis::stats;
use readlab_model::sample::Meter;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Record, TrialRecord};

pub(super) const ABOUT: &str =
    "fastest: the fastest warm method against 'wc -l', pair by pair within rounds, 1 GiB of lines";

const REFERENCE: &str = "command/wc -l {}";
const TRIALS: [&str; 9] = [
    REFERENCE,
    "rust/read@buffer=256KiB",
    "rust/mmap",
    "rust/mmap@populate=1",
    "rust/mmap@sequential=1",
    "rust/io_uring@buffer=128KiB,depth=16",
    "rust/mmap@threads=2",
    "rust/mmap@populate=1,threads=2",
    "rust/pread@threads=2",
];
const FILE: Bytes = Bytes(1 << 30);
/// How many times as fast as the reference the fastest method with so many threads must be.
struct Target {
    threads: u64,
    factor: f64,
    words: &'static str,
}

const TARGETS: [Target; 2] = [
    Target { threads: 1, factor: 2.0, words: "at least 2.0 ×" },
    Target { threads: 2, factor: 3.0, words: "at least 3.0 ×" },
];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE)?;
    let options = ["--runs", "15", "--fills", "5"];
    let state = Some(CacheState::Warm);
    let record =
        programs.race(&Race { name: "fastest", trials: &TRIALS, file: &file, state, options: &options })?;
    let of = |target: &Target| {
        let figure = format!("fastest, threads: {}", target.threads);
        row(&record, target, &figure).unwrap_or_else(|error| Row::failed(figure, &error))
    };
    Ok(TARGETS.iter().map(of).collect())
}

fn row(record: &Record, target: &Target, figure: &str) -> anyhow::Result<Row> {
    let is_reference = |trial: &&TrialRecord| trial.trial.contender() == "command";
    let reference = record.trials.iter().find(is_reference).context("'wc -l' was not measured")?;
    let takes_part = |trial: &&TrialRecord| {
        let own = trial.trial.params.0.get("threads").copied().unwrap_or(1);
        trial.trial.contender() != "command" && own == target.threads && !trial.samples.is_empty()
    };
    let median = |trial: &TrialRecord| {
        pairs::median(&pairs::floats(trial.samples.iter().filter_map(|s| Meter::WallNs.read(&s))))
    };
    let candidates = record.trials.iter().filter(takes_part);
    let best = candidates.min_by(|a, b| median(a).total_cmp(&median(b))).context("no method was measured")?;
    let ratio = stats::ratio(&reference.samples, &best.samples).context("no round holds both")?;
    let ends = ratio.ci95.map(|ends| format!(" [{:.2}, {:.2}]", ends.low, ends.high)).unwrap_or_default();
    let words = format!("{:.2} ×{ends}  {}", ratio.estimate, best.trial.id);
    Ok(Row::judged(figure, target.words, ratio.estimate, ratio.estimate >= target.factor, words)
        .with(ratio.ci95))
}
