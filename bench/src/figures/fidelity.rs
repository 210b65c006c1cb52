//! Figure: whether the lab reports the time that a reading takes without the lab.
//!
//! In turns: a run of the lab (which fills the cache again), then the same reading on the same pages
//! by a loop of its own, by a clock around a command, or by a fleet of one; one quotient of medians
//! for each such pair. Methods past the page cache are compared cold: they leave the cache as empty
//! as it was. A process that was just woken reads a small file more slowly than a loop does, so the
//! lab takes several such readings a turn.

use crate::made::hosts;
use crate::pairs;
use crate::programs::{Programs, Race, measured};
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

/// Each method once.
const WAYS: &[Way] = &[
    Way { trial: "rust/lines@buffer=16KiB", ..LOOP },
    Way { trial: "rust/buffered/iterator@buffer=64KiB", ..LOOP },
    Way { trial: "rust/read@buffer=256KiB", ..LOOP },
    Way { trial: "rust/whole", ..LOOP },
    Way { trial: "rust/pread@threads=all", ..LOOP },
    Way { trial: "rust/vectored/iterator@buffer=8KiB,buffers=16", ..LOOP },
    Way { trial: "rust/mmap", ..LOOP },
    Way { trial: "rust/io_uring@buffer=128KiB,depth=16", ..LOOP },
    Way { trial: "rust/io_uring-vectored/iterator@buffer=8KiB,buffers=32,depth=1,ring=32", ..LOOP },
    Way { trial: "rust/direct@buffer=1MiB", state: CacheState::Cold, ..LOOP },
    Way { trial: "rust/read@buffer=64KiB", ..SMALL },
    Way { trial: "rust/buffered/iterator@buffer=64KiB", ..SMALL },
    Way { trial: "rust/mmap", ..SMALL },
    Way { trial: "command/wc -l {}", alone: by_clock, tolerance: 0.03, readings: 15, ..LOOP },
    Way { trial: "rust/read/memchr@buffer=256KiB", alone: in_fleet, readings: 15, ..LOOP },
];

/// A reading that is measured with the lab and without.
struct Way {
    trial: &'static str,
    state: CacheState,
    size: Bytes,
    /// Timed readings in each half of a pair.
    readings: usize,
    /// The greatest allowed distance of the ratio from 1.
    tolerance: f64,
    /// The median in nanoseconds without the lab.
    alone: fn(&Programs, &Way, &Trial, &Path) -> anyhow::Result<f64>,
}

const LOOP: Way = Way {
    trial: "",
    state: CacheState::Warm,
    size: Bytes(512 << 20),
    readings: 5,
    tolerance: 0.02,
    alone: in_loop,
};
const SMALL: Way = Way { size: Bytes(10_000), readings: 400, tolerance: 0.05, ..LOOP };
const PAIRS: usize = 6;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let row = |way: &Way| {
        let figure = format!("{}, {} {}", way.trial, way.state, way.size);
        Row::or_failed(figure.clone(), way.compare(programs, figure))
    };
    Ok(WAYS.iter().map(row).collect())
}

impl Way {
    fn compare(&self, programs: &Programs, figure: String) -> anyhow::Result<Row> {
        let file = programs.lines(self.size)?;
        let pair = |_| self.pair(programs, &file);
        let found = (0..programs.repeats(PAIRS)).map(pair).collect::<anyhow::Result<Vec<_>>>()?;
        let lab_ns = pairs::median(found.iter().map(|(lab, _)| *lab));
        let row = pairs::ratio(&found).within(figure, self.tolerance);
        let measured = format!("{}  ({} through the lab)", row.measured, Nanos::from_secs_f64(lab_ns / 1e9));
        Ok(Row { measured, ..row })
    }

    /// The median through the lab, and the median without it, one after the other.
    fn pair(&self, programs: &Programs, file: &Path) -> anyhow::Result<(f64, f64)> {
        let runs = self.readings.to_string();
        let options = ["--fills", "1", "--warmup", "1", "--runs", &runs];
        let (trials, state) = (&[self.trial], Some(self.state));
        let record = programs.race(&Race { name: "fidelity", trials, file, state, options: &options })?;
        let found = measured(&record, self.trial)?;
        Ok((pairs::wall_ns(found), (self.alone)(programs, self, &found.trial, file)?))
    }
}

/// Like the lab's contender, a loop reads once before the clock counts.
fn in_loop(programs: &Programs, way: &Way, trial: &Trial, file: &Path) -> anyhow::Result<f64> {
    let walls = programs.alone(trial, file, way.readings + 1)?;
    Ok(pairs::median(walls.into_iter().skip(1).map(float)))
}

/// From before the start of a command until after its end.
fn by_clock(_: &Programs, way: &Way, trial: &Trial, file: &Path) -> anyhow::Result<f64> {
    let words: Vec<&str> = trial.method().trim_end_matches("{}").split_whitespace().collect();
    let (program, words) = words.split_first().context("a command has a program")?;
    let mut walls = Vec::new();
    for _ in 0..=way.readings {
        let mut command = Command::new(program);
        command.args(words).arg(file).stdin(Stdio::null()).stdout(Stdio::null());
        let start = Instant::now();
        let ended = command.status().with_context(|| format!("{command:?}"))?;
        walls.push(start.elapsed().as_secs_f64() * 1e9);
        ensure!(ended.success(), "{command:?} ended with {ended}");
    }
    Ok(pairs::median(walls.into_iter().skip(1)))
}

fn in_fleet(programs: &Programs, way: &Way, _: &Trial, file: &Path) -> anyhow::Result<f64> {
    let (file, runs, state) = (file.display().to_string(), way.readings.to_string(), way.state.to_string());
    let words = ["race", &file, "--method", way.trial, "--reference", way.trial, "--state", &state];
    let words = [&words[..], &["--fills", "1", "--warmup", "1", "--runs", &runs]].concat();
    Ok(pairs::wall_ns(measured(&hosts::fleet_of_one(programs, &words)?, way.trial)?))
}
