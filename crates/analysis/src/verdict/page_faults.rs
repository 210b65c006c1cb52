//! The origin of a reading's page faults: a mapping of the file, or memory that the reading
//! allocates. Bytes that pass through read calls are not read by page faults.

use super::parts::median;
use super::{JudgedTrial, Remedy};
use crate::stats::float;
use readlab_model::sample::{Delivered, FAULT_AROUND_BYTES, Meter};
use readlab_record::TrialRecord;

/// The size of a small page. A buffer causes at most one page fault for each.
pub(super) const PAGE_BYTES: u64 = 4096;

/// The size of the largest page that the kernel gives a program by default.
const HUGE_PAGE_BYTES: f64 = 2_097_152.0;

/// Fewer page faults than this prove nothing: every process has some.
const FAULTS_MIN: f64 = 16.0;

/// If the peak memory of a process is at least this share of the bytes, the process held all of
/// them at once.
const HELD_SHARE_MIN: f64 = 0.9;

/// Number of page faults of a reading that maps its file; `None` for a reading whose page faults
/// come only from allocated memory.
pub(super) fn mapping_faults(it: &TrialRecord, size: f64) -> Option<f64> {
    faults_if_enough(it, size).filter(|_| !reads_by_calls(it))
}

/// Number of page faults of a reading by read calls that allocates new memory as large as the
/// target each time; `None` for a reading that reuses its memory, and for a mapping.
pub(super) fn new_memory_faults(it: &TrialRecord, size: f64) -> Option<f64> {
    if !reads_by_calls(it) {
        return None;
    }
    let holds_all = || {
        let peak_bytes = median(it, Meter::PeakRssBytes)?;
        let faults = faults_beyond_buffers(it)?;
        let is_new = faults >= FAULTS_MIN && faults >= size / HUGE_PAGE_BYTES / 2.0;
        (peak_bytes >= HELD_SHARE_MIN * size && is_new).then_some(faults)
    };
    faults_if_enough(it, size).or_else(holds_all)
}

/// The fastest rival with the same contender and scan that reads by read calls and reuses its
/// memory.
pub(super) fn remedy_by_reuse(judged: &JudgedTrial) -> Option<Remedy> {
    let (trial, size) = (&judged.trial_record.trial, float(judged.facts.size_bytes));
    judged.clear_remedy(judged.rivals().filter(|other| {
        (other.trial.scan(), other.trial.contender()) == (trial.scan(), trial.contender())
            && reads_by_calls(other)
            && new_memory_faults(other, size).is_none()
    }))
}

/// Whether all bytes of every reading were observed to pass through read calls.
pub(super) fn reads_by_calls(it: &TrialRecord) -> bool {
    !it.samples.is_empty() && it.samples.iter().all(|sample| sample.turn.delivered == Some(Delivered::Calls))
}

/// The number of page faults; `None` if it is too small for reading the whole target by page
/// faults. A mapping of small folios has at least one page fault for each range of
/// [`FAULT_AROUND_BYTES`].
fn faults_if_enough(it: &TrialRecord, size: f64) -> Option<f64> {
    faults_beyond_buffers(it)
        .filter(|count| *count >= FAULTS_MIN && *count >= size / float(FAULT_AROUND_BYTES) / 2.0)
}

/// Number of page faults beyond those that the buffers in the trial's parameters cause.
fn faults_beyond_buffers(it: &TrialRecord) -> Option<f64> {
    let param = |name: &str| it.trial.params.0.get(name).copied();
    let each = ["buffers", "depth", "threads"].iter().filter_map(|name| param(name)).product::<u64>();
    let buffers = param("buffer_bytes").map_or(0, |bytes| bytes.saturating_mul(each) / PAGE_BYTES);
    Some(median(it, Meter::MinorFaults)? - float(buffers))
}
