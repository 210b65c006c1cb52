//! Whether the threads of a reading wait for each other. If all bytes are in memory, a processor is
//! idle and a single thread does not wait, threads have nothing else to wait for.

use super::cpu_time::busy_processors;
use super::{JudgedTrial, Remedy, TimePart, TimeParts};
use readlab_model::trial::{CacheState, Params};
use readlab_record::TrialRecord;

/// A single thread that works for at least this share of its time does not wait.
const WORKING_SHARE_MIN: f64 = 0.8;

/// Threads wait for each other if they wait for at least this share of their time. If one of two
/// threads always waits for the other, the share is nearly one half.
const WAITING_SHARE_MIN: f64 = 0.4;

/// The threads wait for each other only if a single thread is at least this many times as fast as
/// they are.
const RELATIVE_SPEED_MIN: f64 = 0.7;

/// The same reading by one thread that does not wait, with its relative speed; `None` if the
/// threads of the judged reading do not wait for each other, or if no such reading was measured.
pub(super) fn remedy_by_single_thread(judged: &JudgedTrial, parts: TimeParts) -> Option<Remedy> {
    let trial = &judged.trial_record.trial;
    let may_wait = trial.state == CacheState::Warm && trial.thread_count() > 1;
    if !may_wait || !parts.reaches_share(parts.share_of(TimePart::Waiting), WAITING_SHARE_MIN) {
        return None;
    }
    let is_alone = |other: &&TrialRecord| {
        other.trial.method_id() == trial.method_id()
            && other.trial.thread_count() == 1
            && without_threads(&other.trial.params) == without_threads(&trial.params)
            && busy_processors(other).is_ok_and(|busy| busy >= WORKING_SHARE_MIN)
    };
    let alone = judged.rivals().find(is_alone)?;
    judged.remedy(alone).filter(|remedy| remedy.speed_ratio >= RELATIVE_SPEED_MIN)
}

/// The parameters without the number of threads.
fn without_threads(params: &Params) -> Params {
    let others = params.0.iter().filter(|(name, _)| *name != "threads");
    Params(others.map(|(name, value)| (name.clone(), *value)).collect())
}
