//! Quotas of control groups, which look like a busy machine or a slow device: a reading that has
//! used up its share stands still until the next period.

use super::{AT_LIMIT, DOMINANT, Judged, Verdict};
use crate::stats::float;
use readlab_model::sample::Sample;
use readlab_model::target::device::IoQuota;
use readlab_model::trial::CacheState;
use readlab_record::TrialRecord;

/// From this share of a quota on, the quota stops a reading; what it grants after a pause may be
/// more than it says.
const AT_QUOTA: f64 = 0.7;

/// Above this share the quota does not hold for what was read.
const ABOVE_QUOTA: f64 = 1.5;

/// The kernel's reads in order are at least so large on average.
const IN_ORDER_BYTES: f64 = 65_536.0;

/// A reading was stopped by its quota again and again if that was used up for this share of its
/// time.
const STOPPED: f64 = 0.2;

/// The share of its time in which its threads could have run and had no processor, as the quota of
/// their control groups was used up, over all processors. A reading may fall between two pauses, so
/// it is that of all turns together.
pub(super) fn throttled(it: &TrialRecord) -> f64 {
    let of = |sample: Sample| Some((float(sample.turn.throttled_ns?), float(sample.turn.wall_ns?)));
    let add = |(all_ns, all_turn_ns): (f64, f64), (ns, turn_ns)| (all_ns + ns, all_turn_ns + turn_ns);
    let (throttled_ns, turn_ns) = it.samples.iter().filter_map(of).fold((0.0, 0.0), add);
    throttled_ns / turn_ns.max(1.0)
}

/// The verdict on a reading that uses all of a quota of processors and is stopped by that again and
/// again, or that stands still beyond one for most of its time.
pub(super) fn of_processors(judged: &Judged) -> Option<Verdict> {
    let (used, facts) = (used(judged), &judged.facts);
    let is_used_up = used.is_some_and(|used| used >= AT_LIMIT) && facts.throttled >= STOPPED;
    let stands_still = facts.throttled_share >= DOMINANT;
    (is_used_up || stands_still).then_some(Verdict::ProcessorQuota { used, throttled: facts.throttled_share })
}

/// The verdict on a reading that waits, and for nothing that is known: the quota, if that was used
/// up for most of the time on as many processors as work for it. Its own use says little: others of
/// its groups use the quota up, too, and some of its threads may have had nothing to do.
pub(super) fn of_waiting(judged: &Judged) -> Option<Verdict> {
    let facts = &judged.facts;
    let at_work = facts.busy.unwrap_or(1.0).max(1.0);
    (facts.throttled >= DOMINANT * at_work)
        .then(|| Verdict::ProcessorQuota { used: used(judged), throttled: facts.throttled_share })
}

/// The share that it uses of a quota of processors. A reading shorter than a period may use more
/// than the period has left for the average.
fn used(judged: &Judged) -> Option<f64> {
    let (quota, busy) = judged.record.header.machine.quota().zip(judged.facts.busy)?;
    Some((busy / quota).min(1.0))
}

/// The verdict on a cold reading that gets from its device what a quota grants.
pub(super) fn of_device(judged: &Judged) -> Option<Verdict> {
    let Judged { it, target, facts, .. } = judged;
    let of_the_device = it.trial.state == CacheState::Cold && facts.cold_above.is_none();
    let near = |quota: &IoQuota| {
        let share = facts.device_rate? / positive(quota.bytes_per_s?);
        (AT_QUOTA..=ABOVE_QUOTA).contains(&share).then(|| (quota.clone(), share))
    };
    let near = target.io_quotas.iter().filter(|_| of_the_device).filter_map(near);
    let (quota, share) = near.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(Verdict::IoQuota { quota, share: Some(share.min(1.0)) })
}

/// The quota of reads per second of a device that a reading waits for. Of places, the reads are
/// known; otherwise the quota is blamed where reads in order are as large as the quota would make
/// them, and no share is known.
pub(super) fn of_reads(judged: &Judged) -> Option<Verdict> {
    let Judged { target, facts, .. } = judged;
    let quota = target.io_quotas.iter().filter(|quota| quota.reads_per_s.is_some());
    let quota = quota.min_by_key(|quota| quota.reads_per_s)?;
    let granted = positive(quota.reads_per_s?);
    let share = match target.places() {
        Some(places) => {
            let share = positive(places.reads) * facts.rate / positive(target.size_bytes) / granted;
            let share = Some(share).filter(|share| (AT_QUOTA..=ABOVE_QUOTA).contains(share))?;
            Some(share.min(1.0))
        }
        None if facts.device_rate? / granted >= IN_ORDER_BYTES => None,
        None => return None,
    };
    Some(Verdict::IoQuota { quota: quota.clone(), share })
}

fn positive(count: u64) -> f64 {
    float(count.max(1))
}
