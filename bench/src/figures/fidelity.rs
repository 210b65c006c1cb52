//! Figure: whether the lab reports the time that a reading takes without the lab.
//!
//! Two measurements take turns. One is a run of the lab, which fills the page cache again. The
//! other is the same reading of the same pages by a separate loop, by a clock around a command, or
//! by a fleet of one. Each pair gives one ratio of medians. Methods past the page cache are
//! compared cold, because they leave the cache as empty as it was. A process that just woke up
//! reads a small file more slowly than a loop does, so the lab takes several of these readings in a
//! turn.

use crate::made::hosts;
use crate::pairs;
use crate::programs::{Programs, Race, measured_trial};
use crate::row::Row;
use anyhow::{Context, ensure};
use readlab_analysis::stats::float;
use readlab_model::trial::CacheState;
use readlab_model::units::{Bytes, Nanos};
use readlab_record::Trial;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

pub(super) const ABOUT: &str =
    "median of a reading through the lab ÷ that of the same reading without the lab";

/// The cases, with each method once.
const FIDELITY_CASES: &[FidelityCase] = &[
    FidelityCase { trial: "rust/lines@buffer=16KiB", ..LOOP_CASE },
    FidelityCase { trial: "rust/buffered/iterator@buffer=64KiB", ..LOOP_CASE },
    FidelityCase { trial: "rust/read@buffer=256KiB", ..LOOP_CASE },
    FidelityCase { trial: "rust/whole", ..LOOP_CASE },
    FidelityCase { trial: "rust/pread@threads=all", ..LOOP_CASE },
    FidelityCase { trial: "rust/vectored/iterator@buffer=8KiB,buffers=16", ..LOOP_CASE },
    FidelityCase { trial: "rust/mmap", ..LOOP_CASE },
    FidelityCase { trial: "rust/io_uring@buffer=128KiB,depth=16", ..LOOP_CASE },
    FidelityCase {
        trial: "rust/io_uring-vectored/iterator@buffer=8KiB,buffers=32,depth=1,ring=32",
        ..LOOP_CASE
    },
    FidelityCase { trial: "rust/direct@buffer=1MiB", state: CacheState::Cold, ..LOOP_CASE },
    FidelityCase { trial: "rust/read@buffer=64KiB", ..SMALL_FILE_CASE },
    FidelityCase { trial: "rust/buffered/iterator@buffer=64KiB", ..SMALL_FILE_CASE },
    FidelityCase { trial: "rust/mmap", ..SMALL_FILE_CASE },
    FidelityCase {
        trial: "command/wc -l {}",
        without_lab: time_command,
        tolerance: 0.03,
        readings: 15,
        ..LOOP_CASE
    },
    FidelityCase {
        trial: "rust/read/memchr@buffer=256KiB",
        without_lab: time_in_fleet,
        readings: 15,
        ..LOOP_CASE
    },
];

/// A reading that is measured with the lab and without it.
struct FidelityCase {
    trial: &'static str,
    state: CacheState,
    size: Bytes,
    /// Timed readings in each half of a pair.
    readings: usize,
    /// The greatest allowed distance of the ratio from 1.
    tolerance: f64,
    /// Measures the median in nanoseconds without the lab.
    without_lab: fn(&Programs, &FidelityCase, &Trial, &Path) -> anyhow::Result<f64>,
}

const LOOP_CASE: FidelityCase = FidelityCase {
    trial: "",
    state: CacheState::Warm,
    size: Bytes(256 << 20),
    readings: 5,
    tolerance: 0.02,
    without_lab: time_in_loop,
};
const SMALL_FILE_CASE: FidelityCase =
    FidelityCase { size: Bytes(10_000), readings: 400, tolerance: 0.05, ..LOOP_CASE };
const PAIRS: usize = 6;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let row = |case: &FidelityCase| {
        let figure = format!("{}, {} {}", case.trial, case.state, case.size);
        Row::or_failed(figure.clone(), case.compare(programs, figure))
    };
    Ok(FIDELITY_CASES.iter().map(row).collect())
}

impl FidelityCase {
    fn compare(&self, programs: &Programs, figure: String) -> anyhow::Result<Row> {
        let file = programs.lines(self.size)?;
        let pair = |_| self.measure_pair(programs, &file);
        let found = (0..programs.repeats(PAIRS)).map(pair).collect::<anyhow::Result<Vec<_>>>()?;
        let lab_ns = pairs::median(found.iter().map(|(lab, _)| *lab));
        let row = pairs::ratio(&found).row_within(figure, self.tolerance);
        Ok(row.and(&format!("  ({} through the lab)", Nanos::from_secs_f64(lab_ns / 1e9))))
    }

    /// The median through the lab, and then the median without it.
    fn measure_pair(&self, programs: &Programs, file: &Path) -> anyhow::Result<(f64, f64)> {
        let runs = self.readings.to_string();
        let options = ["--fills", "1", "--warmup", "1", "--runs", &runs];
        let (trials, state) = (&[self.trial], Some(self.state));
        let record = programs.race(&Race { name: "fidelity", trials, file, state, options: &options })?;
        let found = measured_trial(&record, self.trial)?;
        Ok((pairs::wall_ns(found), (self.without_lab)(programs, self, &found.trial, file)?))
    }
}

/// Measures in a loop, which reads once before the timed readings, like the lab's contender.
fn time_in_loop(programs: &Programs, case: &FidelityCase, trial: &Trial, file: &Path) -> anyhow::Result<f64> {
    let walls = programs.times_in_loop(trial, file, case.readings + 1)?;
    Ok(pairs::median(walls.into_iter().skip(1).map(float)))
}

/// Measures from before the start of a command until after its end.
fn time_command(_: &Programs, case: &FidelityCase, trial: &Trial, file: &Path) -> anyhow::Result<f64> {
    let words: Vec<&str> = trial.method().trim_end_matches("{}").split_whitespace().collect();
    let (program, words) = words.split_first().context("a command has a program")?;
    let mut walls = Vec::new();
    for _ in 0..=case.readings {
        let mut command = Command::new(program);
        command.args(words).arg(file).stdin(Stdio::null()).stdout(Stdio::null());
        let start = Instant::now();
        let ended = command.status().with_context(|| format!("{command:?}"))?;
        walls.push(start.elapsed().as_secs_f64() * 1e9);
        ensure!(ended.success(), "{command:?} ended with {ended}");
    }
    Ok(pairs::median(walls.into_iter().skip(1)))
}

fn time_in_fleet(programs: &Programs, case: &FidelityCase, _: &Trial, file: &Path) -> anyhow::Result<f64> {
    let (file, runs, state) = (file.display().to_string(), case.readings.to_string(), case.state.to_string());
    let words = ["race", &file, "--method", case.trial, "--reference", case.trial, "--state", &state];
    let words = [&words[..], &["--fills", "1", "--warmup", "1", "--runs", &runs]].concat();
    Ok(pairs::wall_ns(measured_trial(&hosts::fleet_of_one(programs, &words)?, case.trial)?))
}
