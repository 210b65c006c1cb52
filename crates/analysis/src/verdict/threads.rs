//! Whether the threads of a reading wait for each other. If all bytes are in memory, a processor is
//! idle and a single thread does not wait, threads have nothing else to wait for.

use super::cpu_time::processors_busy;
use super::{JudgedTrial, Parts, Remedy, TimeShare};
use readlab_model::trial::{CacheState, Params};
use readlab_record::TrialRecord;

/// A single thread that works for at least this share of its time does not wait.
const WORKING_SHARE_MIN: f64 = 0.8;

/// If one of two threads always waits for the other, waiting is half of their time, less what they
/// spend before and after.
const WAITING_SHARE_MIN: f64 = 0.4;

/// A single thread must be at least this many times as fast as the threads that wait for each
/// other.
const RELATIVE_SPEED_MIN: f64 = 0.7;

/// The same reading by one thread, which does not wait, and its relative speed; `None` where
/// threads do not wait, and where no reading by one thread was measured.
pub(super) fn remedy_by_single_thread(judged: &JudgedTrial, parts: Parts) -> Option<Remedy> {
    let trial = &judged.it.trial;
    let may_wait = trial.state == CacheState::Warm && trial.threads() > 1;
    if !may_wait || !parts.reaches_share(parts.share_of(TimeShare::Waiting), WAITING_SHARE_MIN) {
        return None;
    }
    let is_alone = |other: &&TrialRecord| {
        other.trial.method_id() == trial.method_id()
            && other.trial.threads() == 1
            && without_threads(&other.trial.params) == without_threads(&trial.params)
            && processors_busy(other).is_ok_and(|busy| busy >= WORKING_SHARE_MIN)
    };
    let alone = judged.rivals().find(is_alone)?;
    judged.remedy(alone).filter(|remedy| remedy.times >= RELATIVE_SPEED_MIN)
}

/// The parameters without the number of threads.
fn without_threads(params: &Params) -> Params {
    let others = params.0.iter().filter(|(name, _)| *name != "threads");
    Params(others.map(|(name, value)| (name.clone(), *value)).collect())
}
