//! What the controls of a record show of one reading: the kernel's time for its copy and for
//! opening its files, and whether processors were free.

use super::cpu_time::CpuTime;
use super::faults::of_mapping;
use super::parts::wall_ns;
use readlab_record::{LimitKind, Record, TrialRecord};

/// CPU time of the copy alone, for the same bytes by one thread; `None` past the page cache, where
/// nothing is copied, for one that maps its file, and without the control.
#[expect(clippy::cast_precision_loss, reason = "shares have three digits")]
pub(super) fn copy_cpu_ns(record: &Record, it: &TrialRecord) -> Option<f64> {
    let size = record.targets.get(it.trial.target)?.size_bytes as f64;
    if it.trial.bypasses_cache() || of_mapping(it, size).is_some() {
        return None;
    }
    let same_target = |other: &&TrialRecord| other.trial.target == it.trial.target;
    let control =
        record.trials.iter().filter(same_target).filter(|other| other.trial.limit() == Some(LimitKind::Copy));
    let alone = control.min_by_key(|control| control.trial.threads())?;
    let copy_ns = CpuTime::from_trial(alone).ok()?.total_ns();
    // Of many files, the control opens each, too.
    Some((copy_ns - opens_cpu_ns(record, it).unwrap_or_default()).max(0.0))
}

/// CPU time of opening and closing the same files; `None` for a single file, and without the
/// control.
pub(super) fn opens_cpu_ns(record: &Record, it: &TrialRecord) -> Option<f64> {
    let of_target = |other: &&TrialRecord| {
        other.trial.target == it.trial.target && other.trial.limit() == Some(LimitKind::Opens)
    };
    let controls = || record.trials.iter().filter(of_target);
    let same_state = controls().find(|control| control.trial.state == it.trial.state);
    Some(CpuTime::from_trial(same_state.or_else(|| controls().next())?).ok()?.total_ns())
}

/// The share of time for which a thread that never waits got a processor, by the controls of the
/// same rounds that only work: 1 on an idle machine, and without such controls.
pub(super) fn available(record: &Record, it: &TrialRecord) -> f64 {
    let works = |other: &&TrialRecord| {
        (other.trial.target, other.trial.state) == (it.trial.target, it.trial.state)
            && matches!(other.trial.limit(), Some(LimitKind::Memory | LimitKind::Copy))
            && other.trial.threads() == 1
    };
    let busy = record.trials.iter().filter(works).filter_map(|control| {
        Some(CpuTime::from_trial(control).ok()?.total_ns() / wall_ns(control)?.max(1.0))
    });
    busy.max_by(f64::total_cmp).map_or(1.0, |share| share.clamp(0.01, 1.0))
}
