//! Whether the threads of a reading wait for each other: where all its bytes are in memory and a
//! processor is idle, threads have nothing else to wait for, if one thread alone does not wait.

use super::cpu_time::processors_busy;
use super::{Judged, Parts, Remedy, TimeShare};
use readlab_model::trial::{CacheState, Params};
use readlab_record::TrialRecord;

/// One thread that is at work for so much of its time waits for nothing.
const AT_WORK: f64 = 0.8;

/// Two threads of which one always waits for the other wait for half of the time of two processors,
/// but for what they do before and after.
const WAITING: f64 = 0.4;

/// One thread is at least so many times as fast as those that wait for each other.
const AS_FAST: f64 = 0.7;

/// The same reading by one thread, which does not wait, and how many times as fast that is; `None`
/// where threads do not wait, and where no such reading was measured.
pub(super) fn alone(judged: &Judged, parts: Parts) -> Option<Remedy> {
    let trial = &judged.it.trial;
    let may_wait = trial.state == CacheState::Warm && trial.threads() > 1;
    if !may_wait || !parts.is_share(parts.of(TimeShare::Waiting), WAITING) {
        return None;
    }
    let is_alone = |other: &&TrialRecord| {
        other.trial.method_id() == trial.method_id()
            && other.trial.threads() == 1
            && but_threads(&other.trial.params) == but_threads(&trial.params)
            && processors_busy(other).is_ok_and(|busy| busy >= AT_WORK)
    };
    let alone = judged.rivals().find(is_alone)?;
    judged.remedy(alone).filter(|remedy| remedy.times >= AS_FAST)
}

/// The other settings.
fn but_threads(params: &Params) -> Params {
    let others = params.0.iter().filter(|(name, _)| *name != "threads");
    Params(others.map(|(name, value)| (name.clone(), *value)).collect())
}
