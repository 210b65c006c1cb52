//! Read-ahead: bytes that the kernel fetches and nobody asked for, and a kernel that fetches too
//! little at a time.

use super::faults::reads_by_calls;
use super::parts::median;
use super::{Judged, Remedy, Verdict};
use crate::stats::float;
use readlab_model::sample::Meter;
use readlab_model::target::TargetFacts;
use readlab_model::target::device::ReadAhead;
use readlab_model::trial::CacheState;

/// From this many times the bytes that were asked for, what else was fetched decides.
const AMPLIFIED: f64 = 2.0;

/// The verdict on a cold reading of places for which the device gives many times the bytes that are
/// read, while it waits for the device.
pub(super) fn unasked(judged: &Judged) -> Option<Verdict> {
    let Judged { it, target, facts, .. } = judged;
    let places = target.places().filter(|_| it.trial.state == CacheState::Cold)?;
    let asked_bytes = target.size_bytes.saturating_sub(places.repeated_bytes()).max(1);
    let times = facts.device_bytes? / float(asked_bytes);
    let is_mapped = !reads_by_calls(it);
    (times >= AMPLIFIED).then(|| Verdict::ReadAhead { times, is_mapped, remedy: fetching_less(judged) })
}

/// The fastest other reading of the same places that fetches at most half.
fn fetching_less(judged: &Judged) -> Option<Remedy> {
    let own = judged.facts.device_bytes?;
    judged.best(judged.rivals().filter(|other| {
        median(other, Meter::DeviceReadBytes).is_some_and(|bytes| bytes > 0.0 && bytes <= own / 2.0)
    }))
}

/// How far the kernel reads ahead for a reading through the page cache, in order, where that is
/// less than usual. Files that are no larger are read at once.
pub(super) fn short(target: &TargetFacts) -> Option<ReadAhead> {
    let file_bytes = target.tree().map_or(u64::MAX, |tree| target.size_bytes / tree.files.max(1));
    let is_short = |ahead: &ReadAhead| ahead.is_short() && ahead.bytes < file_bytes;
    target.read_ahead().filter(|ahead| target.places().is_none() && is_short(ahead))
}
