//! Read-ahead: the kernel fetches bytes that the reading did not ask for, or fetches too little at
//! a time.

use super::memory::MAJOR_FAULTS_MIN;
use super::page_faults::reads_by_calls;
use super::parts::median;
use super::{DeviceUse, JudgedTrial, Remedy, UnrequestedBytes, Verdict};
use crate::settings::{SettingEffect, effects_on_wanted};
use crate::stats::{Significance, float};
use readlab_model::sample::{Meter, PAGE_BYTES};
use readlab_model::target::TargetFacts;
use readlab_model::target::device::ReadAhead;
use readlab_model::trial::CacheState;
use readlab_record::TrialRecord;

/// Read-ahead decides the verdict if the device delivers at least this many times the requested
/// bytes.
pub(super) const AMPLIFICATION_MIN: f64 = 2.0;

/// The verdict on a cold or pressed reading of places that waits for the device while the device
/// delivers many times the requested bytes.
pub(super) fn verdict_on_unrequested_bytes(judged: &JudgedTrial) -> Option<Verdict> {
    unrequested_bytes(judged).map(|unrequested| Verdict::ReadAhead { unrequested })
}

/// The bytes of a cold or pressed reading of places that were not requested, where these are most of
/// what the device delivers.
pub(super) fn unrequested_bytes(judged: &JudgedTrial) -> Option<UnrequestedBytes> {
    let JudgedTrial { trial_record: it, target, .. } = judged;
    target.blocks().filter(|_| it.trial.state != CacheState::Warm && !it.trial.bypasses_cache())?;
    let times = amplification(judged)?;
    Some(UnrequestedBytes {
        amplification: times,
        is_mapped: fetches_by_page_faults(it),
        remedy: remedy_by_fewer_bytes(judged),
    })
}

/// Whether a mapping fetches the bytes: its page faults wait for the device. The meters do not show
/// the read calls of a ring, or of merged blocks that overlap, but these cause no such page faults.
fn fetches_by_page_faults(it: &TrialRecord) -> bool {
    let major_faults = median(it, Meter::MajorFaults);
    !reads_by_calls(it) && major_faults.is_none_or(|count| count >= MAJOR_FAULTS_MIN)
}

/// The device bytes divided by the bytes of the blocks that a reading needs. `None` if the device
/// bytes are not clearly more than a reading without read-ahead fetches: the whole pages of the
/// blocks, and the bytes between ranges that the reading merges. `None` also for an encoded file:
/// the file system can decode only whole blocks of its own, with and without read-ahead.
pub(super) fn amplification(judged: &JudgedTrial) -> Option<f64> {
    let JudgedTrial { target, facts, .. } = judged;
    if facts.may_be_encoded() {
        return None;
    }
    let asked_bytes = pages_bytes_of_blocks(target)?.max(merged_bytes(judged).unwrap_or(0.0));
    let times_asked = asked_bytes / float(target.useful_bytes().max(1));
    facts.needed_bytes_ratio.filter(|times| *times >= AMPLIFICATION_MIN * times_asked)
}

/// Number of bytes of the pages that hold the blocks of a reading; `None` if the reading reads a
/// whole file.
fn pages_bytes_of_blocks(target: &TargetFacts) -> Option<f64> {
    if let Some(ranges) = &target.ranges {
        return Some(float(ranges.pages_bytes));
    }
    let places = target.places()?;
    let block_bytes = places.block_bytes.max(1);
    // Blocks that are no multiple of a page may begin and end within pages.
    let is_aligned = PAGE_BYTES.is_multiple_of(block_bytes) || block_bytes.is_multiple_of(PAGE_BYTES);
    let pages = block_bytes.div_ceil(PAGE_BYTES) + u64::from(!is_aligned);
    Some(float(places.distinct_blocks) * float(pages) * float(PAGE_BYTES))
}

/// An upper bound of the number of different bytes that reads of merged blocks request; `None` if
/// each block is requested by a read of its own. Bytes of overlapping blocks are requested once if
/// one read fetches the blocks, and again by each other read. The record does not show which, so
/// all requested bytes count as different: bytes that a read may have requested are never called
/// read-ahead.
fn merged_bytes(judged: &JudgedTrial) -> Option<f64> {
    let JudgedTrial { trial_record: it, target, .. } = judged;
    let file_bytes = float(target.blocks()?.file_bytes);
    let merged = median(it, Meter::ReadBytes).filter(|bytes| *bytes != float(target.size_bytes))?;
    Some(merged.min(file_bytes))
}

/// The fastest rival on the same places that fetches at most half as many bytes.
pub(super) fn remedy_by_fewer_bytes(judged: &JudgedTrial) -> Option<Remedy> {
    let own = judged.facts.device_bytes?;
    judged.clear_remedy(judged.rivals().filter(|other| {
        median(other, Meter::DeviceReadBytes).is_some_and(|bytes| bytes > 0.0 && bytes <= own / 2.0)
    }))
}

/// The verdict on a reading through the page cache that is clearly faster under a larger
/// read-ahead, which was raced.
pub(super) fn verdict_on_raced_read_ahead(judged: &JudgedTrial) -> Option<Verdict> {
    let JudgedTrial { trial_record: it, target, .. } = judged;
    let is_cached = target.blocks().is_none() && !it.trial.bypasses_cache();
    let remedy = is_cached.then(|| remedy_by_larger_read_ahead(judged)).flatten()?;
    let read_ahead = kernel_read_ahead(judged);
    Some(Verdict::Device { device_use: DeviceUse::TooLittle { read_ahead, remedy: Some(remedy) } })
}

/// The same method under the larger read-ahead with which the method is fastest, if several values
/// were raced and the method is clearly faster than under the value that was found at the start.
pub(super) fn remedy_by_larger_read_ahead(judged: &JudgedTrial) -> Option<Remedy> {
    let JudgedTrial { record, trial_record: it, target, .. } = judged;
    let own_bytes = target.read_ahead()?.bytes;
    let is_larger = |effect: &SettingEffect| {
        effect.significance() == Some(Significance::Faster)
            && effect.target.read_ahead().is_some_and(|ahead| ahead.bytes > own_bytes)
    };
    let effects = effects_on_wanted(record, |found| found.trial.index == it.trial.index);
    let larger = effects.into_iter().filter(is_larger);
    let best = larger.max_by(|a, b| a.ratio.estimate.total_cmp(&b.ratio.estimate))?;
    Some(Remedy { name: best.target.settings_words()?, speed_ratio: best.ratio.estimate })
}

/// The kernel's read-ahead for a sequential reading through the page cache; `None` for a reading
/// that bypasses the cache, and for a method that requests the next bytes itself, in an amount of
/// its own.
pub(super) fn kernel_read_ahead(judged: &JudgedTrial) -> Option<ReadAhead> {
    let JudgedTrial { trial_record: it, target, facts, .. } = judged;
    let requests_ahead = ["ahead_bytes", "ahead"].iter().any(|name| it.trial.params.0.contains_key(*name));
    target.read_ahead().filter(|_| target.blocks().is_none() && !requests_ahead && !facts.bypasses_cache)
}

/// The kernel's read-ahead for a sequential reading, where it is less than the default. Files that
/// are no larger than the read-ahead are not affected.
pub(super) fn short_read_ahead(judged: &JudgedTrial) -> Option<ReadAhead> {
    let target = judged.target;
    let file_bytes = target.tree().map_or(u64::MAX, |tree| target.size_bytes / tree.files.max(1));
    kernel_read_ahead(judged).filter(|ahead| ahead.is_below_default() && ahead.bytes < file_bytes)
}
