//! Figure: whether the lab reports correct times for a file so small that a reading takes
//! microseconds. A process that was just woken would be slower than the loop, so the lab takes
//! several readings a turn.

use super::fidelity;
use crate::pairs;
use crate::programs::Programs;
use crate::row::Row;
use readlab_model::trial::CacheState;
use readlab_model::units::{Bytes, Nanos};
use std::path::Path;

pub(super) const ABOUT: &str =
    "small-file: median through the lab ÷ median of a loop within one process, open to close, 10 kB, warm";

const WAYS: [&str; 3] = ["rust/read@buffer=64KiB", "rust/buffered/iterator@buffer=64KiB", "rust/mmap"];
const FILE: Bytes = Bytes(10_000);
const PAIRS: usize = 9;
const READINGS: usize = 400;
const TOLERANCE: f64 = 0.05;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE)?;
    let compare =
        |trial: &&str| row(programs, &file, trial).unwrap_or_else(|error| Row::failed(*trial, &error));
    Ok(WAYS.iter().map(compare).collect())
}

fn row(programs: &Programs, file: &Path, trial: &str) -> anyhow::Result<Row> {
    let pairs: Vec<(f64, f64)> = (0..PAIRS)
        .map(|_| fidelity::pair(programs, &fidelity::Case { file, trial, state: CacheState::Warm }, READINGS))
        .collect::<Result<_, _>>()?;
    let ratio = pairs::ratio(&pairs);
    let lab = pairs::median(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let measured = format!("{}  ({} through the lab)", ratio.words(), Nanos::from_secs_f64(lab / 1e9));
    let target = format!("within {:.0} %", TOLERANCE * 100.0);
    Ok(Row::judged(trial, &target, ratio.estimate, ratio.within(TOLERANCE), measured).with(ratio.ci95))
}
