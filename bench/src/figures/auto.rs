//! Figure: whether `auto` is as fast as the best fixed method, for every place of the file and
//! every cached part.
//!
//! For each case the fixed methods race once to find the best of them; then the best one and `auto`
//! race again, alone, pair by pair. (The best of many noisy medians is too low because of its
//! noise; a new race is not.) They race several times, as where a process gets its memory may
//! double the time of all its readings; each race gives one ratio. If those cannot tell, they race
//! three times as often: those decide by themselves alone, so that repeating them does not choose
//! the result. The lab has no state "half cached", so the bench makes it before each reading.

mod half;

use crate::places::Place;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::Context;
use readlab_analysis::stats::{self, Interval, Ratio};
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_model::units::Bytes;
use readlab_record::{Outcome, Record, TrialRecord};
use std::path::Path;

pub(super) const ABOUT: &str = "auto: the best fixed method's time against that of rust/auto, pair by pair; against memory, wc -l and the device";

/// How much longer than the best fixed method it may take.
const TOLERANCE: f64 = 0.03;

/// Ways of reading with one thread.
const ONE: [&str; 6] = [
    "rust/buffered@buffer=64KiB",
    "rust/read@buffer=128KiB",
    "rust/mmap",
    "rust/direct@buffer=1MiB",
    "rust/io_uring@buffer=128KiB,depth=16,direct=1,registered=1",
    "rust/io_uring@buffer=1MiB,depth=8,direct=1,registered=1",
];

/// What more threads make possible beside them.
const MORE: [&str; 2] = ["rust/pread@threads=all", "rust/mmap@threads=all"];

/// `auto` by the threads that it may use, and the fixed methods that it is compared with.
fn fields() -> [(&'static str, Vec<&'static str>); 2] {
    [("rust/auto@threads=1", ONE.to_vec()), ("rust/auto", [&ONE[..], &MORE].concat())]
}

/// A state and a size, on the usual file system.
const CASES: [(CacheState, Bytes); 7] = [
    (CacheState::Warm, Bytes(10_000)),
    (CacheState::Warm, Bytes(1_000_000)),
    (CacheState::Warm, Bytes(100_000_000)),
    (CacheState::Warm, Bytes(2_000_000_000)),
    (CacheState::Cold, Bytes(1_000_000)),
    (CacheState::Cold, Bytes(100_000_000)),
    (CacheState::Cold, Bytes(2_000_000_000)),
];

const ELSEWHERE: Bytes = Bytes(256 << 20);

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (state, size) in CASES {
        let file = programs.lines(size)?;
        rows.extend(compare(programs, &file, state, &format!("{state} {size}")));
    }
    rows.extend(half::rows(programs, &fields()));
    for place in [Place::Memory, Place::Compressed, Place::Xfs, Place::Overlay] {
        let name = place.name();
        rows.extend(match place.make(programs, ELSEWHERE) {
            Err(error) => vec![Row::failed(name, &error)],
            Ok(made) => place
                .states()
                .iter()
                .flat_map(|&state| compare(programs, made.file(), state, &format!("{state} {name}")))
                .collect(),
        });
    }
    rows.extend(against_limits(programs).unwrap_or_else(|error| vec![Row::failed("limits", &error)]));
    Ok(rows)
}

/// One row for each number of threads.
fn compare(programs: &Programs, file: &Path, state: CacheState, case: &str) -> Vec<Row> {
    let row = |(auto, fixed): (&str, Vec<&str>)| {
        let figure = format!("{auto}, {case}");
        kept_up(programs, file, state, auto, &fixed)
            .map(|(ratio, best)| judged(&figure, &ratio, &best))
            .unwrap_or_else(|error| Row::failed(figure, &error))
    };
    fields().into_iter().map(row).collect()
}

/// How many times as long the best fixed method takes as `auto`, in a race of those two alone.
fn kept_up(
    programs: &Programs,
    file: &Path,
    state: CacheState,
    auto: &str,
    fixed: &[&str],
) -> anyhow::Result<(Ratio, String)> {
    let options = ["--runs", "7", "--fills", "7"];
    let heat = Race { name: "auto-heat", trials: fixed, file, state: Some(state), options: &options };
    let heat = programs.race(&heat)?;
    let best = fastest(&heat).context("no fixed method was measured")?.trial.id.to_string();
    let trials = [auto, &best];
    decided(|races| {
        let ratios: anyhow::Result<Vec<f64>> = (0..races)
            .map(|_| {
                let options = ["--runs", "5", "--fills", "5"];
                let race =
                    Race { name: "auto-final", trials: &trials, file, state: Some(state), options: &options };
                Ok(ratio_of(&programs.race(&race)?, 1, 0)?.estimate)
            })
            .collect();
        of_races(&ratios?)
    })
    .map(|ratio| (ratio, best))
}

/// The mean of the logarithms of ratios, each of a race of its own.
fn of_races(ratios: &[f64]) -> anyhow::Result<Ratio> {
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let (mean, sd) = stats::mean_and_sd(&logs);
    let ci95 = stats::interval_of_mean(mean, sd.context("one race has no interval")?, logs.len() as u64);
    let ends = ci95.map(|ends| Interval { low: ends.low.exp(), high: ends.high.exp() });
    Ok(Ratio { estimate: mean.exp(), ci95: ends, pairs: logs.len() })
}

/// The ratio by as few races, or rounds, as decide whether it keeps up, or leave a doubt of 2 % at
/// most.
fn decided(measure: impl Fn(usize) -> anyhow::Result<Ratio>) -> anyhow::Result<Ratio> {
    const FEW: usize = 8;
    const MANY: usize = 24;
    const HALF_WIDTH: f64 = 0.02;
    let ratio = measure(FEW)?;
    let least = 1.0 - TOLERANCE;
    let is_decided = ratio.ci95.is_some_and(|ends| {
        ends.low >= least || ends.high < least || (ends.high - ends.low) / 2.0 <= HALF_WIDTH * ratio.estimate
    });
    if is_decided { Ok(ratio) } else { measure(MANY) }
}

fn judged(figure: &str, ratio: &Ratio, best: &str) -> Row {
    let ends = ratio.ci95.map(|ends| format!(" [{:.3}, {:.3}]", ends.low, ends.high)).unwrap_or_default();
    let words = format!("{:.3}{ends}  best: {best}", ratio.estimate);
    let target = format!("at least {:.2}", 1.0 - TOLERANCE);
    let ok = ratio.estimate >= 1.0 - TOLERANCE;
    Row::judged(figure, &target, ratio.estimate, ok, words).with(ratio.ci95)
}

/// What `auto` reaches of the limits, in races of all of them for each state.
fn against_limits(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    const RACES: usize = 6;
    const WARM: [&str; 5] = [
        "rust/auto@threads=1",
        "rust/auto",
        "rust/resident",
        "rust/resident@threads=all",
        "command/wc -l {}",
    ];
    const DEVICE: [&str; 6] = [
        "rust/auto",
        "rust/device@buffer=128KiB,depth=16",
        "rust/device@buffer=128KiB,depth=32",
        "rust/device@buffer=512KiB,depth=8",
        "rust/device@buffer=1MiB,depth=8",
        "rust/device@buffer=1MiB,depth=4,threads=2",
    ];
    let file = programs.lines(Bytes(1 << 30))?;
    let options = ["--runs", "5", "--fills", "5"];
    let races = |name, trials, state| {
        let race = Race { name, trials, file: &file, state: Some(state), options: &options };
        (0..RACES).map(|_| programs.race(&race)).collect::<anyhow::Result<Vec<Record>>>()
    };
    let warm = races("auto-warm", &WARM[..], CacheState::Warm)?;
    let cold = races("auto-cold", &DEVICE[..], CacheState::Cold)?;
    let points = (1..DEVICE.len()).filter(|&point| trial(&cold[0], point).is_ok());
    let time_in = |record: &Record, point| trial(record, point).map_or(f64::INFINITY, median_ns);
    let time =
        |point: &usize| crate::pairs::median(&cold.iter().map(|it| time_in(it, *point)).collect::<Vec<_>>());
    let best = points.min_by(|a, b| time(a).total_cmp(&time(b))).context("no point of the device")?;
    let ratio = |records: &[Record], of, auto| {
        let ratios = records.iter().map(|record| Ok(ratio_of(record, of, auto)?.estimate));
        of_races(&ratios.collect::<anyhow::Result<Vec<f64>>>()?)
    };
    let told = |records: &[Record], (of, auto): (usize, usize), least: f64, figure: String| match ratio(
        records, of, auto,
    ) {
        Err(error) => Row::failed(figure, &error),
        Ok(ratio) => {
            let ends = ratio.ci95.map(|e| format!(" [{:.3}, {:.3}]", e.low, e.high)).unwrap_or_default();
            let words = format!("{:.3}{ends}", ratio.estimate);
            let target = format!("at least {least}");
            Row::judged(figure, &target, ratio.estimate, ratio.estimate >= least, words).with(ratio.ci95)
        }
    };
    let named = |auto: usize, of: usize| format!("{} against {}, warm, 1 GiB", WARM[auto], WARM[of]);
    Ok(vec![
        told(&warm, (2, 0), 0.95, named(0, 2)),
        told(&warm, (3, 1), 0.95, named(1, 3)),
        told(&warm, (4, 0), 2.0, named(0, 4)),
        told(&warm, (4, 1), 3.0, named(1, 4)),
        told(&cold, (best, 0), 0.95, format!("{} against {}, cold, 1 GiB", DEVICE[0], DEVICE[best])),
    ])
}

/// How many times as long one trial takes as another, pair by pair within rounds; both by their
/// place in the suite.
fn ratio_of(record: &Record, slow: usize, fast: usize) -> anyhow::Result<Ratio> {
    let (slow, fast) = (trial(record, slow)?, trial(record, fast)?);
    stats::ratio(&slow.samples, &fast.samples).context("no round holds both")
}

/// The measured trial at this place of the suite.
fn trial(record: &Record, place: usize) -> anyhow::Result<&TrialRecord> {
    let found = record.trial(TrialIndex::new(place));
    let found = found.with_context(|| format!("trial {place} is not in the record"))?;
    match &found.outcome {
        Some(Outcome::Measured) => Ok(found),
        other => {
            let why = other.as_ref().and_then(Outcome::reason).unwrap_or("cut short");
            anyhow::bail!("{}: {why}", found.trial.id)
        }
    }
}

fn median_ns(trial: &TrialRecord) -> f64 {
    crate::pairs::median(&crate::pairs::floats(trial.samples.iter().map(|sample| sample.wall_ns)))
}

fn fastest(record: &Record) -> Option<&TrialRecord> {
    let measured = record.trials.iter().filter(|trial| trial.outcome == Some(Outcome::Measured));
    measured.min_by(|a, b| median_ns(a).total_cmp(&median_ns(b)))
}
