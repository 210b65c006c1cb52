//! Figure: whether the lab reports the time that a method takes without the lab.
//!
//! In turns: a run of the lab (which fills the cache again), then the stand-alone loop on the same
//! pages; one quotient of medians for each such pair. Methods past the page cache are compared
//! cold: they leave the cache as empty as it was.

use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::{Context, bail};
use readlab_model::trial::CacheState;
use readlab_model::units::{Bytes, Nanos};
use readlab_record::{Outcome, Trial};
use std::path::Path;

pub(super) const ABOUT: &str =
    "fidelity: median through the lab ÷ median of the same loop in a program of its own, 1 GiB of lines";

/// Each method once, and the state in which it is compared.
const WAYS: [(&str, CacheState); 10] = [
    ("rust/lines@buffer=16KiB", CacheState::Warm),
    ("rust/buffered/iterator@buffer=64KiB", CacheState::Warm),
    ("rust/read@buffer=256KiB", CacheState::Warm),
    ("rust/whole", CacheState::Warm),
    ("rust/pread@threads=all", CacheState::Warm),
    ("rust/vectored/iterator@buffer=8KiB,buffers=16", CacheState::Warm),
    ("rust/mmap", CacheState::Warm),
    ("rust/io_uring@buffer=128KiB,depth=16", CacheState::Warm),
    ("rust/io_uring-vectored/iterator@buffer=8KiB,buffers=32,depth=1,ring=32", CacheState::Warm),
    ("rust/direct@buffer=1MiB", CacheState::Cold),
];

const FILE: Bytes = Bytes(1 << 30);
const PAIRS: usize = 7;
/// Timed readings in each half of a pair.
const READINGS: usize = 5;
/// The greatest allowed distance of the ratio from 1.
const TOLERANCE: f64 = 0.02;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE)?;
    let compare = |&(trial, state): &(&str, CacheState)| {
        let figure = format!("{trial}, {state}");
        row(programs, &Case { file: &file, trial, state }, &figure)
            .unwrap_or_else(|error| Row::failed(figure, &error))
    };
    Ok(WAYS.iter().map(compare).collect())
}

/// A trial that is measured with the lab and without.
pub(super) struct Case<'a> {
    pub(super) file: &'a Path,
    pub(super) trial: &'a str,
    pub(super) state: CacheState,
}

fn row(programs: &Programs, case: &Case, figure: &str) -> anyhow::Result<Row> {
    let mut through_lab = Vec::new();
    let mut pairs = Vec::new();
    for _ in 0..PAIRS {
        let (lab, alone) = pair(programs, case, READINGS)?;
        through_lab.push(lab);
        pairs.push((lab, alone));
    }
    let ratio = pairs::ratio(&pairs);
    let lab = Nanos::from_secs_f64(pairs::median(&through_lab) / 1e9);
    let measured = format!("{}  ({lab} through the lab)", ratio.words());
    let target = format!("within {:.0} %", TOLERANCE * 100.0);
    Ok(Row::judged(figure, &target, ratio.estimate, ratio.within(TOLERANCE), measured).with(ratio.ci95))
}

/// The median through the lab, and the median of the loop alone, one after the other.
pub(super) fn pair(programs: &Programs, case: &Case, readings: usize) -> anyhow::Result<(f64, f64)> {
    let &Case { file, trial, state } = case;
    let runs = readings.to_string();
    let options = ["--fills", "1", "--warmup", "1", "--runs", &runs];
    let race = Race { name: "pair", trials: &[trial], file, state: Some(state), options: &options };
    let record = programs.race(&race)?;
    let measured = record.trials.iter().next().context("the record holds no trial")?;
    if measured.outcome != Some(Outcome::Measured) {
        bail!("{}", measured.outcome.as_ref().and_then(Outcome::reason).unwrap_or("the run was cut short"));
    }
    let lab = pairs::floats(measured.samples.iter().map(|sample| sample.wall_ns));
    Ok((pairs::median(&lab), alone(programs, &measured.trial, file, readings)?))
}

/// The median of the loop alone; like the lab's contender it reads once before the clock counts.
fn alone(programs: &Programs, trial: &Trial, file: &Path, readings: usize) -> anyhow::Result<f64> {
    let walls = programs.alone(trial, file, readings + 1)?;
    Ok(pairs::median(&pairs::floats(walls.into_iter().skip(1))))
}
