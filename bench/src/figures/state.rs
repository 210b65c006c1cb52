//! Figure: whether cold samples were cold and warm samples warm, by the proofs of every accepted
//! sample in the record.

use crate::programs::{Programs, Race};
use crate::row::Row;
use readlab_analysis::stats::{count_as_float, float};
use readlab_model::sample::Sample;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Record, TrialRecord};

pub(super) const ABOUT: &str = "what was proven of every sample of a race on 256 MiB of lines, cold and warm";

const FILE_SIZE: Bytes = Bytes(256 << 20);
/// Share of the file that must be read from the device.
const DEVICE_SHARE_MIN: f64 = 0.99;

/// A condition that every sample of a state must fulfil.
struct SampleCondition {
    figure: &'static str,
    state: CacheState,
    /// Whether a sample on a file of this size fulfils the condition; `None` if that is not known.
    holds: fn(&Sample, f64) -> Option<bool>,
}

const SAMPLE_CONDITIONS: [SampleCondition; 5] = [
    SampleCondition {
        figure: "nothing resident before",
        state: CacheState::Cold,
        holds: |sample, _| sample.resident_before.map(|share| share == 0.0),
    },
    SampleCondition {
        figure: "from the device, at least 99 % of the size",
        state: CacheState::Cold,
        holds: |sample, size| sample.device_read_bytes.map(|bytes| float(bytes) >= DEVICE_SHARE_MIN * size),
    },
    SampleCondition {
        figure: "all resident before",
        state: CacheState::Warm,
        holds: |sample, _| sample.resident_before.map(|share| share == 1.0),
    },
    SampleCondition {
        figure: "all resident after",
        state: CacheState::Warm,
        holds: |sample, _| sample.resident_after.map(|share| share == 1.0),
    },
    SampleCondition {
        figure: "0 bytes from the device",
        state: CacheState::Warm,
        holds: |sample, _| sample.device_read_bytes.map(|bytes| bytes == 0),
    },
];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE_SIZE)?;
    let options = ["--runs", "5", "--fills", "2"];
    let record =
        programs.race(&Race { name: "state", trials: &[], file: &file, state: None, options: &options })?;
    Ok(SAMPLE_CONDITIONS.iter().map(|condition| row(&record, condition)).collect())
}

fn row(record: &Record, condition: &SampleCondition) -> Row {
    let SampleCondition { figure, state, holds } = condition;
    let reads = |trial: &&TrialRecord| trial.trial.state == *state && !trial.trial.is_control();
    let trials: Vec<&TrialRecord> = record.trials.iter().filter(reads).collect();
    let rejected: usize = trials.iter().map(|trial| trial.rejected_readings.len()).sum();
    let samples = trials.iter().flat_map(|trial| &trial.samples);
    let found: Vec<Option<bool>> = samples.map(|sample| holds(&sample, float(FILE_SIZE.0))).collect();
    let known = found.iter().flatten().count();
    let held = found.iter().flatten().filter(|held| **held).count();
    let words = format!(
        "{held} of {} samples, {} not known, {rejected} turns rejected",
        found.len(),
        found.len() - known
    );
    let (share, ok) = (count_as_float(held) / count_as_float(found.len()), held == found.len() && held > 0);
    Row::judged(format!("{state}: {figure}"), "all samples", share, ok, words)
}
