//! Quotas of control groups, which look like a busy machine or a slow device: a reading that has
//! used up its quota is paused until the next period.

use super::parts::{TimePart, host_count};
use super::read_ahead::unrequested_bytes;
use super::{AT_LIMIT_SHARE_MIN, DOMINANT_SHARE_MIN, JudgedTrial, Verdict};
use crate::stats::float;
use readlab_model::sample::Sample;
use readlab_model::target::device::IoQuota;
use readlab_model::trial::CacheState;
use readlab_record::TrialRecord;

/// The quota limits a reading that reaches at least this share of the quota.
const AT_QUOTA_SHARE_MIN: f64 = 0.7;

/// Above this share, the quota does not apply to the bytes that were read. Up to this share it may,
/// because after a pause a control group may grant more than its quota.
const AT_QUOTA_SHARE_MAX: f64 = 1.5;

/// Sequential reads by the kernel are at least this large on average.
const SEQUENTIAL_READ_BYTES_MIN: f64 = 65_536.0;

/// If the quota was used up for at least this share of the time, it stopped the reading repeatedly.
const STOPPED_SHARE_MIN: f64 = 0.2;

/// The time in which threads could have run but were throttled because the quota of their control
/// groups was used up, summed over all processors, as a share of the reading's time. A single
/// reading may fall between two pauses, so all turns are added up.
pub(super) fn throttled_ratio(it: &TrialRecord) -> f64 {
    let of = |sample: Sample| Some((float(sample.turn.throttled_ns?), float(sample.turn.wall_ns?)));
    let add = |(all_ns, all_turn_ns): (f64, f64), (ns, turn_ns)| (all_ns + ns, all_turn_ns + turn_ns);
    let (throttled_ns, turn_ns) = it.samples.iter().filter_map(of).fold((0.0, 0.0), add);
    throttled_ns / turn_ns.max(1.0)
}

/// The verdict on a reading that uses a whole processor quota and is repeatedly stopped by the
/// quota, or that a quota pauses for most of its time.
pub(super) fn verdict_on_processor_quota(judged: &JudgedTrial) -> Option<Verdict> {
    let (used, facts) = (used_share(judged), &judged.facts);
    let is_used_up =
        used.is_some_and(|used| used >= AT_LIMIT_SHARE_MIN) && facts.throttled_ratio >= STOPPED_SHARE_MIN;
    let stands_still = facts.throttled_share >= DOMINANT_SHARE_MIN;
    (is_used_up || stands_still)
        .then_some(Verdict::ProcessorQuota { used_share: used, throttled_share: facts.throttled_share })
}

/// The verdict on a reading that waits for no known reason: the processor quota, if the quota was
/// used up for most of the time on as many processors as the reading keeps busy; `None` otherwise.
/// The reading's own use of the quota decides nothing: other processes of its control groups use
/// the quota as well, and some of its threads may have had nothing to do.
pub(super) fn verdict_on_quota_while_waiting(judged: &JudgedTrial) -> Option<Verdict> {
    let facts = &judged.facts;
    let at_work = facts.busy_processors.unwrap_or(1.0).max(1.0);
    (facts.throttled_ratio >= DOMINANT_SHARE_MIN * at_work).then(|| Verdict::ProcessorQuota {
        used_share: used_share(judged),
        throttled_share: facts.throttled_share,
    })
}

/// The share of the processor quota that the reading uses. A reading shorter than a period may
/// exceed the average that the quota allows, so the share is capped at 1.
fn used_share(judged: &JudgedTrial) -> Option<f64> {
    let (quota, busy) =
        judged.record.header.machine.effective_cpu_quota().zip(judged.facts.busy_processors)?;
    let hosts = float(host_count(judged.record, judged.target));
    Some((busy / (quota * hosts)).min(1.0))
}

/// The verdict on a cold reading whose device rate is the rate that an I/O quota grants. A rate
/// clearly below the quota may also be what the processor manages, so the reading must wait then.
pub(super) fn verdict_on_device_quota(judged: &JudgedTrial) -> Option<Verdict> {
    let JudgedTrial { trial_record: it, target, facts, .. } = judged;
    let of_the_device = it.trial.state == CacheState::Cold && facts.cold_cache_names.is_none();
    let mostly_waits = facts
        .parts
        .is_some_and(|parts| parts.reaches_share(parts.share_of(TimePart::Waiting), DOMINANT_SHARE_MIN));
    let share_min = if mostly_waits { AT_QUOTA_SHARE_MIN } else { AT_LIMIT_SHARE_MIN };
    let near = |quota: &IoQuota| {
        let share = facts.device_rate? / at_least_one(quota.bytes_per_s?);
        let of_bytes = || IoQuota { reads_per_s: None, ..quota.clone() };
        (share_min..=AT_QUOTA_SHARE_MAX).contains(&share).then(|| (of_bytes(), share))
    };
    let near = target.io_quotas.iter().filter(|_| of_the_device).filter_map(near);
    let (quota, share) = near.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let unrequested = unrequested_bytes(judged);
    Some(Verdict::IoQuota { quota, quota_share: Some(share.min(1.0)), unrequested })
}

/// The verdict on a reading that a quota of reads per second limits. For blocks and small files, the
/// number of reads is known. Otherwise the quota is blamed if it would make sequential reads at
/// least as large as usual, and no share is known. A device that is busy most of the time is the
/// limit itself: a quota holds reads back before they reach the device. Read-ahead makes reads
/// larger, not more numerous, so it is no cause under such a quota.
pub(super) fn verdict_on_quota_of_reads(judged: &JudgedTrial) -> Option<Verdict> {
    let JudgedTrial { target, facts, .. } = judged;
    let quota = target.io_quotas.iter().filter(|quota| quota.reads_per_s.is_some());
    let quota = quota.min_by_key(|quota| quota.reads_per_s)?;
    let granted = at_least_one(quota.reads_per_s?);
    if facts.cold_cache_names.is_some()
        || facts.device_busy_share.is_some_and(|busy| busy >= DOMINANT_SHARE_MIN)
    {
        return None;
    }
    let readings_per_s = facts.rate.map(|rate| rate / at_least_one(target.size_bytes));
    let share = least_read_count(judged).zip(readings_per_s).map(|(reads, each)| reads * each / granted);
    let share = match share {
        Some(share) if (AT_QUOTA_SHARE_MIN..=AT_QUOTA_SHARE_MAX).contains(&share) => Some(share.min(1.0)),
        // Large files take several reads each.
        _ if target.blocks().is_none()
            && share.is_none_or(|share| share < AT_QUOTA_SHARE_MIN)
            && facts.device_rate? / granted >= SEQUENTIAL_READ_BYTES_MIN =>
        {
            None
        }
        _ => return None,
    };
    let of_reads = IoQuota { bytes_per_s: None, ..quota.clone() };
    Some(Verdict::IoQuota { quota: of_reads, quota_share: share, unrequested: None })
}

/// The fewest reads that a cold reading needs from the device: one for each block, or one for each
/// file. `None` in the pressed state, in which the page cache holds some of them, and for one file.
fn least_read_count(judged: &JudgedTrial) -> Option<f64> {
    let JudgedTrial { trial_record: it, target, .. } = judged;
    if it.trial.state != CacheState::Cold {
        return None;
    }
    if let Some(tree) = target.tree() {
        // An empty file has no extent. Files without extents of their own, or with several names,
        // need fewer reads.
        let extents = target.extents.as_ref().filter(|extents| extents.inline_bytes == 0)?;
        return (tree.repeated_bytes == 0).then(|| float(tree.files.min(extents.count)));
    }
    // A place that is read again comes from the page cache.
    let cached = target.places().filter(|_| !it.trial.bypasses_cache());
    Some(float(cached.map_or(target.blocks()?.read_count, |places| places.distinct_blocks)))
}

fn at_least_one(count: u64) -> f64 {
    float(count.max(1))
}
