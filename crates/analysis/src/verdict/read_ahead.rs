//! Read-ahead: bytes that the kernel fetches and nobody asked for, and a kernel that fetches too
//! little at a time.

use super::faults::reads_by_calls;
use super::parts::{TrialFacts, median};
use super::{Remedy, Verdict, best};
use readlab_model::sample::Meter;
use readlab_model::target::device::ReadAhead;
use readlab_model::trial::CacheState;
use readlab_record::{Record, TrialRecord};

/// From this many times the bytes that were asked for, what else was fetched decides.
const AMPLIFIED: f64 = 2.0;

/// The verdict on a cold reading of places for which the device gives many times the bytes that are
/// read, while it waits for the device.
pub(super) fn unasked(record: &Record, it: &TrialRecord, facts: &TrialFacts) -> Option<Verdict> {
    let target = record.targets.get(it.trial.target)?;
    let places = target.places().filter(|_| it.trial.state == CacheState::Cold)?;
    let asked_bytes = target.size_bytes.saturating_sub(places.repeated_bytes()).max(1);
    #[expect(clippy::cast_precision_loss, reason = "factors have two digits")]
    let times = facts.device_bytes? / asked_bytes as f64;
    (times >= AMPLIFIED).then(|| Verdict::ReadAhead {
        times,
        is_mapped: !reads_by_calls(it),
        remedy: fetching_less(record, it),
    })
}

/// The fastest other reading of the same places that fetches at most half.
fn fetching_less(record: &Record, it: &TrialRecord) -> Option<Remedy> {
    let ground = |other: &TrialRecord| (other.trial.target, other.trial.work, other.trial.state);
    let own = median(it, Meter::DeviceReadBytes)?;
    let is_less = |other: &&TrialRecord| {
        ground(other) == ground(it)
            && !other.trial.is_control()
            && other.is_measured()
            && median(other, Meter::DeviceReadBytes).is_some_and(|bytes| bytes > 0.0 && bytes <= own / 2.0)
    };
    best(record, it, record.trials.iter().filter(is_less))
}

/// How far the kernel reads ahead for a reading through the page cache, in order, where that is
/// less than usual. Files that are no larger are read at once.
pub(super) fn short(record: &Record, it: &TrialRecord) -> Option<ReadAhead> {
    let target = record.targets.get(it.trial.target).filter(|target| target.places().is_none())?;
    let file_bytes = target.tree().map_or(u64::MAX, |tree| target.size_bytes / tree.files.max(1));
    target.read_ahead().filter(|ahead| ahead.is_short() && ahead.bytes < file_bytes)
}
