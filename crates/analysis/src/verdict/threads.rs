//! Whether the threads of a reading wait for each other: where all its bytes are in memory and a
//! processor is idle, threads have nothing else to wait for, if one thread alone does not wait.

use super::cpu_time::processors_busy;
use super::{Parts, Remedy, parts};
use readlab_model::trial::{CacheState, Params};
use readlab_record::{Record, TrialRecord};

/// One thread that is at work for so much of its time waits for nothing.
const AT_WORK: f64 = 0.8;

/// Two threads of which one always waits for the other wait for half of the time of two processors,
/// but for what they do before and after.
const WAITING: f64 = 0.4;

/// One thread is at least so many times as fast as those that wait for each other.
const AS_FAST: f64 = 0.7;

/// The same reading by one thread, which does not wait, and how many times as fast that is; `None`
/// where threads do not wait, and where no such reading was measured.
pub(super) fn alone(record: &Record, it: &TrialRecord, parts: Parts) -> Option<Remedy> {
    let may_wait = it.trial.state == CacheState::Warm && it.trial.threads() > 1;
    if !may_wait || !parts.is_share(parts.waiting, WAITING) {
        return None;
    }
    let ground = |other: &TrialRecord| (other.trial.contest(), other.trial.state);
    let is_alone = |other: &&TrialRecord| {
        ground(other) == ground(it)
            && other.trial.method_id() == it.trial.method_id()
            && other.trial.threads() == 1
            && but_threads(&other.trial.params) == but_threads(&it.trial.params)
            && other.is_measured()
            && processors_busy(other).is_ok_and(|busy| busy >= AT_WORK)
    };
    let other = record.trials.iter().find(is_alone)?;
    let times = parts::wall_ns(it)? / parts::wall_ns(other)?.max(1.0);
    (times >= AS_FAST).then(|| Remedy { name: other.trial.id.to_string(), times })
}

/// The other settings.
fn but_threads(params: &Params) -> Params {
    let others = params.0.iter().filter(|(name, _)| *name != "threads");
    Params(others.map(|(name, value)| (name.clone(), *value)).collect())
}
