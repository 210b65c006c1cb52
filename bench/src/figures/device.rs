//! Figure: whether the lab reaches the best rate of the device: its best O_DIRECT setting against
//! fio's best on the same file.
//!
//! Each first searches for its own best among the same blocks and depths; then both are run in
//! turns. fio reads through io_uring from one job, and its rate is its own: bytes over a time in
//! whole milliseconds, of which a reading takes hundreds.

use crate::fio;
use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::Context;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Record, TrialRecord};
use std::path::Path;

pub(super) const ABOUT: &str =
    "device: our best O_DIRECT rate ÷ that of fio, same file, each at its best block and depth";

const FILE: Bytes = Bytes(1_000_000_000);
/// A size of reads, and the number of them in flight.
#[derive(Debug, Clone, Copy)]
struct Setting {
    block_kib: u64,
    depth: u64,
}

/// The settings with large blocks of `suites/limits.toml`.
const SETTINGS: [Setting; 8] = [
    Setting { block_kib: 128, depth: 4 },
    Setting { block_kib: 128, depth: 16 },
    Setting { block_kib: 128, depth: 64 },
    Setting { block_kib: 512, depth: 4 },
    Setting { block_kib: 512, depth: 8 },
    Setting { block_kib: 1024, depth: 1 },
    Setting { block_kib: 1024, depth: 4 },
    Setting { block_kib: 1024, depth: 8 },
];
const READINGS: usize = 3;
const PAIRS: usize = 9;
const SHARE: f64 = 0.97;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE)?;
    let names = SETTINGS
        .map(|Setting { block_kib, depth }| format!("rust/device@buffer={block_kib}KiB,depth={depth}"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ours = best_of_ours(&lab(programs, &file, &names)?)?;
    let theirs = best_of_fio(&file)?;
    let mut found = Vec::new();
    for _ in 0..PAIRS {
        let record = lab(programs, &file, &[&ours])?;
        let wall_ns = record.trials.iter().next().map(median_ns).context("the record holds no trial")?;
        found.push((median_of_fio(&file, theirs)?, wall_ns));
    }
    let ratio = pairs::ratio(&found);
    let figure = format!("{ours} ÷ fio, {} KiB × {}", theirs.block_kib, theirs.depth);
    let (target, measured) = (format!("at least {SHARE}"), ratio.words());
    Ok(vec![Row::judged(figure, &target, ratio.estimate, ratio.estimate >= SHARE, measured).with(ratio.ci95)])
}

/// Cold readings by the lab.
fn lab(programs: &Programs, file: &Path, trials: &[&str]) -> anyhow::Result<Record> {
    let readings = READINGS.to_string();
    let options = &["--work", "discard", "--warmup", "0", "--runs", &readings][..];
    programs.race(&Race { name: "device", trials, file, state: Some(CacheState::Cold), options })
}

fn median_ns(trial: &TrialRecord) -> f64 {
    pairs::median(&pairs::floats(trial.samples.iter().map(|sample| sample.wall_ns)))
}

fn best_of_ours(record: &Record) -> anyhow::Result<String> {
    let measured = record.trials.iter().filter(|trial| trial.is_measured());
    let best = measured.min_by(|a, b| median_ns(a).total_cmp(&median_ns(b)));
    Ok(best.context("the lab measured no setting")?.trial.id.to_string())
}

/// The settings of fio in turns, as ours are in rounds, so that the device's drift does not decide.
fn best_of_fio(file: &Path) -> anyhow::Result<Setting> {
    let mut found = SETTINGS.map(|setting| (Vec::new(), setting));
    for _ in 0..READINGS {
        for (walls, setting) in &mut found {
            walls.push(once(file, *setting)?);
        }
    }
    let median = |found: &(Vec<f64>, Setting)| pairs::median(&found.0);
    let best = found.iter().min_by(|a, b| median(a).total_cmp(&median(b)));
    Ok(best.context("fio has settings to try")?.1)
}

/// The median of several runs of fio over the whole file, in nanoseconds.
fn median_of_fio(file: &Path, setting: Setting) -> anyhow::Result<f64> {
    let walls = (0..READINGS).map(|_| once(file, setting)).collect::<anyhow::Result<Vec<f64>>>()?;
    Ok(pairs::median(&walls))
}

fn once(file: &Path, setting: Setting) -> anyhow::Result<f64> {
    let (block, depth) = (format!("--bs={}k", setting.block_kib), format!("--iodepth={}", setting.depth));
    let read = fio::read(file, &["--ioengine=io_uring", &block, &depth])?;
    let rate = read["io_bytes"].as_f64().zip(read["runtime"].as_f64().filter(|runtime_ms| *runtime_ms > 0.0));
    let (bytes, runtime_ms) = rate.context("fio tells no bytes and no time")?;
    #[expect(clippy::cast_precision_loss, reason = "a size below 2^53")]
    let whole = FILE.0 as f64;
    Ok(runtime_ms * 1e6 * whole / bytes)
}
