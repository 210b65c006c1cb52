//! Figure: comparisons of two records of the same programs: how often the gate fails without cause,
//! and the cost of a comparison.
//!
//! A pair is two races of the same file by the same program; the gate may let pass 5 %. Comparing
//! is timed on two records of 10,000 samples.

use crate::programs::{Programs, Race};
use crate::row::Row;
use crate::{figures::page, pairs};
use anyhow::Context;
use readlab_model::trial::CacheState;
use readlab_model::units::{Bytes, Nanos};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(super) const ABOUT: &str =
    "gate: false alarms of 100 races against an equal one, and the time to compare 10,000 samples";

const FILE: Bytes = Bytes(64 << 20);
const RUNS: usize = 100;
const FAIL_OVER: &str = "5%";
const ALARMS_MAX: usize = 5;
const TRIALS: [&str; 2] = ["rust/read@buffer=256KiB", "rust/mmap"];
const REPEATS: usize = 7;
const TIME_MAX: Nanos = Nanos(1_000_000_000);

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    Ok(vec![alarms(programs)?, time(programs)?])
}

/// Each race against the one before it.
fn alarms(programs: &Programs) -> anyhow::Result<Row> {
    let file = programs.lines(FILE)?;
    let mut before = race(programs, &file, 0)?;
    let mut alarms = 0;
    for run in 1..=RUNS {
        let now = race(programs, &file, run)?;
        alarms += usize::from(programs.compare(&before, &now, &["--fail-over", FAIL_OVER])?);
        before = now;
    }
    #[expect(clippy::cast_precision_loss, reason = "at most a hundred")]
    let value = alarms as f64;
    let target = format!("at most {ALARMS_MAX} of {RUNS}");
    Ok(Row::judged(
        "false alarms of --fail-over 5%",
        &target,
        value,
        alarms <= ALARMS_MAX,
        format!("{alarms} of {RUNS}"),
    ))
}

fn race(programs: &Programs, file: &Path, run: usize) -> anyhow::Result<PathBuf> {
    let name = format!("gate-{run}");
    let state = Some(CacheState::Warm);
    let race = Race { name: &name, trials: &TRIALS, file, state, options: &["--runs", "10"] };
    let running = programs.start(&race)?;
    let path = running.path().to_owned();
    running.record().context(name)?;
    Ok(path)
}

fn time(programs: &Programs) -> anyhow::Result<Row> {
    let record = page::record(programs)?;
    let mut walls = Vec::new();
    for _ in 0..REPEATS {
        let start = Instant::now();
        programs.compare(&record, &record, &[])?;
        walls.push(start.elapsed().as_secs_f64() * 1e9);
    }
    let median_ns = pairs::median(&walls);
    let words = Nanos::from_secs_f64(median_ns / 1e9).to_string();
    let kept = median_ns < TIME_MAX.as_secs_f64() * 1e9;
    Ok(Row::judged(
        "time to compare two records of 10,000 samples",
        &format!("below {TIME_MAX}"),
        median_ns,
        kept,
        words,
    ))
}
