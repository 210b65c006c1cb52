//! The limits of a reading under a bound on memory: a bound that is too small for what is read, a
//! mapping whose page faults fetch far more bytes than are used, and the kernel's search for pages
//! that it can reclaim.

use super::parts::{TimePart, median, median_wall_ns, scaled_turn_time_ns};
use super::read_ahead::{amplification, remedy_by_fewer_bytes};
use super::{AT_LIMIT_SHARE_MIN, DOMINANT_SHARE_MIN, JudgedTrial, Verdict};
use crate::memory::{GreaterBound, least_faster_bound};
use crate::stats::float;
use readlab_model::sample::{Meter, PAGE_BYTES};
use readlab_model::target::memory::MemoryFacts;
use readlab_model::trial::CacheState;
use readlab_record::LimitKind;

/// The bound may limit a reading if the bytes that come from the device are at least this share of
/// the bytes that the reading needs.
const REREAD_SHARE_MIN: f64 = 0.05;

/// Reclaim decides the verdict if it takes at least this share of the reading's time, unless the
/// reading waits for the device even longer.
const RECLAIM_SHARE_MIN: f64 = 0.3;

/// If the kernel reclaims as many pages as it reads, it scans at least this many pages for each
/// page that comes from the device.
const SCANNED_PER_PAGE_MIN: f64 = 0.5;

/// Fewer major page faults than this prove nothing: every process has some.
pub(super) const MAJOR_FAULTS_MIN: f64 = 16.0;

/// A reading that leaves at most this share of its bytes in the page cache does not use the cache:
/// of the working set under a bound on memory, or of what a cold reading fetched.
pub(super) const LEFT_SHARE_MAX: f64 = 0.02;

pub(super) fn verdict_on_memory_bound(judged: &JudgedTrial) -> Option<Verdict> {
    let JudgedTrial { trial_record: it, target, .. } = judged;
    let memory = target.memory_bound.as_ref().filter(|_| it.trial.state == CacheState::Pressed)?;
    if it.trial.bypasses_cache() || leaves_nothing_in_cache(judged, memory) {
        return None;
    }
    verdict_on_reclaim(judged).or_else(|| verdict_on_thrashing(judged)).or_else(|| {
        let reread = judged.facts.needed_bytes_ratio.filter(|times| *times >= REREAD_SHARE_MIN)?;
        // Around encoded blocks, whole extents come: their bytes show no share of the working set.
        let is_share = !(judged.facts.may_be_encoded() && target.blocks().is_some());
        (is_share && waits_for_device(judged) && amplification(judged).is_none()).then(|| {
            Verdict::MemoryBound {
                reread_ratio: reread,
                share_of_working_set: memory.share(),
                is_of_blocks: target.blocks().is_some(),
                greater_bound: greater_bound(judged),
                // Rivals have the same bound.
                remedy: judged.clear_remedy(judged.rivals()),
            }
        })
    })
}

/// Whether the reading waits most of its time, or is at the limit of the device.
fn waits_for_device(judged: &JudgedTrial) -> bool {
    let waits = judged
        .facts
        .parts
        .is_some_and(|parts| parts.reaches_share(parts.share_of(TimePart::Waiting), DOMINANT_SHARE_MIN));
    waits || judged.facts.reaches_limit(LimitKind::Device, AT_LIMIT_SHARE_MIN)
}

fn leaves_nothing_in_cache(judged: &JudgedTrial, memory: &MemoryFacts) -> bool {
    let left = judged.trial_record.samples.iter().filter_map(|sample| sample.resident_after).reduce(f64::max);
    let files_bytes = float(judged.target.cached_bytes());
    left.is_some_and(|share| share * files_bytes <= LEFT_SHARE_MAX * float(memory.working_set_bytes))
}

/// The verdict on a mapping whose page faults fetch many times the bytes that are used: the kernel
/// reads around each fault, and to make room it evicts pages that are needed again.
fn verdict_on_thrashing(judged: &JudgedTrial) -> Option<Verdict> {
    let major_faults =
        median(judged.trial_record, Meter::MajorFaults).filter(|count| *count >= MAJOR_FAULTS_MIN)?;
    let amplification = amplification(judged)?;
    waits_for_device(judged).then(|| Verdict::Thrash {
        major_faults,
        amplification,
        greater_bound: greater_bound(judged),
        remedy: remedy_by_fewer_bytes(judged),
    })
}

/// The verdict on a reading that the kernel's search for pages to reclaim limits. The time of
/// reclaim is the time in which a task of the control group waited for memory, but at most the
/// reading's own time in the kernel: the kernel also counts a wait for a page that is read again as
/// a wait for memory, and such a wait is not reclaim.
fn verdict_on_reclaim(judged: &JudgedTrial) -> Option<Verdict> {
    let JudgedTrial { trial_record: it, facts, .. } = judged;
    let parts = facts.parts?;
    let kernel = [TimePart::Copy, TimePart::Faults, TimePart::NewMemory, TimePart::Kernel];
    let kernel: f64 = kernel.map(|part| parts.share_of(part)).iter().sum();
    let stalled_ns =
        scaled_turn_time_ns(it, |sample| sample.memory_stall_ns.or(sample.turn.memory_pressure_ns))?;
    let share = (stalled_ns / median_wall_ns(it)?.max(1.0)).min(kernel);
    let scanned = median(it, Meter::PagesScanned)?;
    let scanned_per_page = scanned / (facts.device_bytes? / float(PAGE_BYTES)).max(1.0);
    let is_reclaim = share >= RECLAIM_SHARE_MIN
        && scanned_per_page >= SCANNED_PER_PAGE_MIN
        && kernel > parts.share_of(TimePart::Waiting);
    is_reclaim.then(|| Verdict::Reclaim {
        reclaim_share: share,
        scanned_per_page,
        greater_bound: greater_bound(judged),
    })
}

fn greater_bound(judged: &JudgedTrial) -> Option<GreaterBound> {
    least_faster_bound(judged.record, judged.trial_record)
}
