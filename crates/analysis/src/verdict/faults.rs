//! Whose page faults a reading has: those of a mapping of the file, or those of memory that the
//! reading makes for itself. What passed through read calls was not read by faults.

use super::parts::median;
use super::{Judged, Remedy};
use crate::stats::float;
use readlab_model::sample::{Delivered, Meter};
use readlab_record::TrialRecord;

/// Bytes that the kernel maps around a fault on a cached file (fault_around_bytes, 64 KiB by
/// default). A mapping of small folios has at least one fault for each such range.
const FAULT_AROUND_BYTES: f64 = 65_536.0;

/// Bytes of a page of memory that a buffer takes one fault for, at most.
const PAGE_BYTES: u64 = 4096;

/// Bytes of the largest page that the kernel gives a program unasked.
const HUGE_PAGE_BYTES: f64 = 2_097_152.0;

/// Fewer faults are those of any process.
const FAULTS_MIN: f64 = 16.0;

/// A process that once held this share of the bytes holds them as a whole.
const HELD: f64 = 0.9;

/// Page faults of a reading that maps its file; `None` for one that has only those of its memory.
pub(super) fn of_mapping(it: &TrialRecord, size: f64) -> Option<f64> {
    many(it, size).filter(|_| !reads_by_calls(it))
}

/// Page faults of a reading by calls that makes itself new memory as large as what it reads; `None`
/// for one that uses the same memory again, and for a mapping.
pub(super) fn of_new_memory(it: &TrialRecord, size: f64) -> Option<f64> {
    if !reads_by_calls(it) {
        return None;
    }
    let holds_all = || {
        let peak_bytes = median(it, Meter::PeakRssBytes)?;
        let faults = beyond_buffers(it)?;
        let is_new = faults >= FAULTS_MIN && faults >= size / HUGE_PAGE_BYTES / 2.0;
        (peak_bytes >= HELD * size && is_new).then_some(faults)
    };
    many(it, size).or_else(holds_all)
}

/// The fastest other reading of the same for the same work by calls that uses its memory again.
pub(super) fn reusing(judged: &Judged) -> Option<Remedy> {
    let (trial, size) = (&judged.it.trial, float(judged.facts.size_bytes));
    judged.best(judged.rivals().filter(|other| {
        (other.trial.scan(), other.trial.contender()) == (trial.scan(), trial.contender())
            && reads_by_calls(other)
            && of_new_memory(other, size).is_none()
    }))
}

/// Whether all bytes of every reading were seen to pass through read calls.
pub(super) fn reads_by_calls(it: &TrialRecord) -> bool {
    !it.samples.is_empty() && it.samples.iter().all(|sample| sample.turn.delivered == Some(Delivered::Calls))
}

/// Page faults, if they are as many as it takes for what is read.
fn many(it: &TrialRecord, size: f64) -> Option<f64> {
    beyond_buffers(it).filter(|count| *count >= FAULTS_MIN && *count >= size / FAULT_AROUND_BYTES / 2.0)
}

/// Page faults beyond those of the buffers that its parameters name.
fn beyond_buffers(it: &TrialRecord) -> Option<f64> {
    let param = |name: &str| it.trial.params.0.get(name).copied();
    let each = ["buffers", "depth", "threads"].iter().filter_map(|name| param(name)).product::<u64>();
    let buffers = param("buffer_bytes").map_or(0, |bytes| bytes.saturating_mul(each) / PAGE_BYTES);
    Some(median(it, Meter::MinorFaults)? - float(buffers))
}
