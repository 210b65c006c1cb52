//! Figure: comparisons of two records of the same programs: how often the gate fails without cause,
//! and the time of a comparison.
//!
//! A pair is two races of the same file by the same program. The gate lets differences of up to 5 %
//! pass. The comparison is timed on a record of 10,000 samples.

use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::{Row, Share};
use anyhow::{Context, bail, ensure};
use readlab_model::trial::CacheState;
use readlab_model::units::{Bytes, Nanos};
use readlab_record::Record;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

pub(super) const ABOUT: &str =
    "false alarms of races against an equal one, and the time to compare 10,000 samples";

const FILE_SIZE: Bytes = Bytes(64 << 20);
const SMALL_FILE_SIZE: Bytes = Bytes(10_000);
const RUNS: usize = 40;
const FALSE_ALARM_SHARE_MAX: f64 = 0.05;
const TRIALS: [&str; 2] = ["rust/read@buffer=256KiB", "rust/mmap"];
const SAMPLES: usize = 10_000;
const REPEATS: usize = 7;
const TIME_MAX: Nanos = Nanos(1_000_000_000);

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    Ok(vec![false_alarms(programs)?, comparison_time(programs)?])
}

/// Compares each race with the race before it.
fn false_alarms(programs: &Programs) -> anyhow::Result<Row> {
    let file = programs.lines(FILE_SIZE)?;
    let race = |run: usize| race(programs, &format!("gate-{}", run % 2), &file, &TRIALS, &["--runs", "10"]);
    let mut before = race(0)?;
    let mut alarms = Share::default();
    for run in 1..=programs.repeats(RUNS) {
        let now = race(run)?;
        alarms.count(compare(programs, &before, &now, &["--fail-over", "5%"])?);
        before = now;
    }
    Ok(alarms.row_at_most("false alarms of --fail-over 5%", FALSE_ALARM_SHARE_MAX))
}

fn race(
    programs: &Programs,
    name: &str,
    file: &Path,
    trials: &[&str],
    options: &[&str],
) -> anyhow::Result<PathBuf> {
    programs.start(&Race { name, trials, file, state: Some(CacheState::Warm), options })?.finish()
}

fn compare(programs: &Programs, before: &Path, now: &Path, options: &[&str]) -> anyhow::Result<bool> {
    let mut command = programs.lab.command("compare");
    command.args(options).arg("--").arg(before).arg(now).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status().context("readlab compare")?.code() {
        Some(0) => Ok(false),
        Some(3) => Ok(true),
        other => bail!("{command:?} ended with {other:?}"),
    }
}

fn comparison_time(programs: &Programs) -> anyhow::Result<Row> {
    let file = programs.lines(SMALL_FILE_SIZE)?;
    let trials: Vec<String> = (0..20).map(|nth| format!("rust/read@buffer={}", 4096 + nth * 512)).collect();
    let trials: Vec<&str> = trials.iter().map(String::as_str).collect();
    let record = race(programs, "gate-large", &file, &trials, &["--runs", "500", "--fills", "5"])?;
    let samples: usize = Record::read(&record)?.trials.iter().map(|trial| trial.samples.len()).sum();
    ensure!(samples == SAMPLES, "the record holds {samples} samples");
    let mut walls = Vec::new();
    for _ in 0..REPEATS {
        let start = Instant::now();
        compare(programs, &record, &record, &[])?;
        walls.push(start.elapsed().as_secs_f64());
    }
    let median = Nanos::from_secs_f64(pairs::median(walls));
    let figure = "time to compare two records of 10,000 samples";
    let (target, value) = (format!("below {TIME_MAX}"), median.as_secs_f64() * 1e9);
    Ok(Row::judged(figure, target, value, median < TIME_MAX, median.to_string()))
}
