//! Figure: whether a cold read by the lab takes the time that fio takes for the same file, block
//! size and depth.
//!
//! In turns on the same file: one cold run of the lab by O_DIRECT, then fio with
//! `--rw=read --direct=1`. fio's time is the sum of its reads' latencies, because fio reports its
//! run time in whole milliseconds. One read is in flight, so the sum is the time, without opening
//! the file and allocating a buffer, which is less than a thousandth here.

use crate::fio;
use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::Context;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use std::path::Path;

pub(super) const ABOUT: &str =
    "fio: cold O_DIRECT reads of the lab ÷ those of fio, same file, 1 MiB, one in flight";

const FILES: [Bytes; 2] = [Bytes(100_000_000), Bytes(1_000_000_000)];
const TRIAL: &str = "rust/direct@buffer=1MiB";
const PAIRS: usize = 9;
const READINGS: &str = "5";
const TOLERANCE: f64 = 0.03;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let row = |size: &Bytes| {
        let figure = format!("{TRIAL}, {size}");
        compare(programs, *size, &figure).unwrap_or_else(|error| Row::failed(figure, &error))
    };
    Ok(FILES.iter().map(row).collect())
}

fn compare(programs: &Programs, size: Bytes, figure: &str) -> anyhow::Result<Row> {
    let file = programs.lines(size)?;
    let mut found = Vec::new();
    for _ in 0..PAIRS {
        found.push((lab(programs, &file)?, median_of_fio(&file)?));
    }
    let ratio = pairs::ratio(&found);
    let (measured, target) = (ratio.words(), format!("within {:.0} %", TOLERANCE * 100.0));
    Ok(Row::judged(figure, &target, ratio.estimate, ratio.within(TOLERANCE), measured).with(ratio.ci95))
}

fn lab(programs: &Programs, file: &Path) -> anyhow::Result<f64> {
    let options = ["--work", "discard", "--warmup", "0", "--runs", READINGS];
    let trials = &[TRIAL];
    let record = programs.race(&Race {
        name: "fio",
        trials,
        file,
        state: Some(CacheState::Cold),
        options: &options,
    })?;
    let trial = record.trials.iter().next().context("the record holds no trial")?;
    Ok(pairs::median(&pairs::floats(trial.samples.iter().map(|sample| sample.wall_ns))))
}

/// The median of several runs of fio, in nanoseconds.
fn median_of_fio(file: &Path) -> anyhow::Result<f64> {
    let runs: usize = READINGS.parse().context("a count")?;
    let walls = (0..runs).map(|_| fio_once(file)).collect::<anyhow::Result<Vec<f64>>>()?;
    Ok(pairs::median(&walls))
}

fn fio_once(file: &Path) -> anyhow::Result<f64> {
    let read = fio::read(file, &["--bs=1M", "--ioengine=psync"])?;
    let (mean_ns, count) = (&read["lat_ns"]["mean"], &read["lat_ns"]["N"]);
    let product = mean_ns.as_f64().zip(count.as_f64()).map(|(mean_ns, count)| mean_ns * count);
    product.context("fio tells no latencies")
}
