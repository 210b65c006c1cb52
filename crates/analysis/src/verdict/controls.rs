//! What the controls of a record show about one reading: the kernel's time for copying and for
//! opening files, and whether processors were free.

use super::cpu_time::CpuTime;
use super::page_faults::may_map_file;
use super::parts::{left_nothing_in_cache, median_wall_ns, threads_at_once};
use readlab_model::trial::COMMAND;
use readlab_record::{LimitKind, Record, TrialRecord};

/// The controls on the trial's target that measure one of these limits. Under a bound on memory, the
/// controls on the same target without a bound count as well.
fn controls<'r>(record: &'r Record, it: &TrialRecord, kinds: &[LimitKind]) -> Vec<&'r TrialRecord> {
    let (target, unbounded) = (it.trial.target, record.unbounded_target(it.trial.target));
    let measures = |other: &&TrialRecord| {
        (other.trial.target == target || Some(other.trial.target) == unbounded)
            && other.trial.limit_kind().is_some_and(|kind| kinds.contains(&kind))
    };
    record.trials.iter().filter(measures).collect()
}

/// CPU time of copying the same bytes, by one thread. `None` for a trial that bypasses the page
/// cache, where nothing is copied, for a command that may do so, for a trial that may map its file,
/// and without the control.
pub(super) fn copy_cpu_ns(record: &Record, it: &TrialRecord) -> Option<f64> {
    let target = record.target_of(&it.trial)?;
    let may_bypass = || it.trial.contender() == COMMAND && left_nothing_in_cache(it, target);
    if it.trial.bypasses_cache() || may_bypass() || may_map_file(record, it) {
        return None;
    }
    let copies = controls(record, it, &[LimitKind::Copy]).into_iter();
    let copy_ns = CpuTime::from_trial(copies.min_by_key(|it| it.trial.thread_count())?).ok()?.total_ns();
    // With many files, the control opens each file as well.
    Some((copy_ns - opens_cpu_ns(record, it).unwrap_or_default()).max(0.0))
}

/// CPU time of opening and closing the same files; `None` for a single file, and without the
/// control.
pub(super) fn opens_cpu_ns(record: &Record, it: &TrialRecord) -> Option<f64> {
    let opens = controls(record, it, &[LimitKind::Opens]);
    let same_state = opens.iter().find(|control| control.trial.state == it.trial.state);
    Some(CpuTime::from_trial(same_state.or(opens.first())?).ok()?.total_ns())
}

/// The share of the time for which a thread that never waits got a processor: 1 on an idle machine.
/// Computed from controls of the same rounds that only compute or copy; `None` without these
/// controls.
pub(super) fn available_share(record: &Record, it: &TrialRecord) -> Option<f64> {
    let works = controls(record, it, &[LimitKind::Memory, LimitKind::Copy]).into_iter();
    let of_rounds =
        works.filter(|control| control.trial.state == it.trial.state && control.trial.thread_count() == 1);
    let busy = of_rounds.filter_map(|control| {
        let threads = threads_at_once(record, record.target_of(&control.trial)?, 1);
        Some(CpuTime::from_trial(control).ok()?.total_ns() / (median_wall_ns(control)?.max(1.0) * threads))
    });
    busy.max_by(f64::total_cmp).map(|share| share.clamp(0.01, 1.0))
}
