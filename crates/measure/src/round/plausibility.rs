//! The rules by which numbers can be true, learned from the controls of one state: the ceiling of
//! visiting bytes in memory, the time that answering takes, and the CPU time that visiting costs.
//!
//! The rules live in [`super::ceiling`], [`super::unaccounted`] and [`readlab_record::VisitCost`].

use super::ceiling::Ceiling;
use super::trial_progress::{TrialProgress, TurnCpu};
use super::unaccounted::{HasGc, NULL_TURNS_MIN, ReplyOverhead, is_null};
use crate::plan::Plan;
use readlab_model::sample::Sample;
use readlab_model::trial::{COMMAND, CacheState};
use readlab_record::{Trial, VisitCost};

/// Readings that touched no bytes before a trial is refused for them.
const UNTOUCHED_MIN: usize = 2;

/// What the controls of a state have shown.
#[derive(Default)]
pub(super) struct Plausibility {
    ceiling: Ceiling,
    answering: ReplyOverhead,
    visit: VisitCost,
}

impl Plausibility {
    /// Learns from the samples of a turn, of whichever trial.
    pub(super) fn learn(&mut self, trial: &Trial, samples: &[Sample]) {
        self.ceiling.raise(trial, samples);
        self.answering.learn(trial, samples);
        samples.iter().for_each(|sample| self.visit.learn(trial, sample));
    }

    /// Whether a window is shorter than visiting bytes in memory.
    pub(super) fn is_beyond_ceiling(&self, trial: &Trial, fastest_ns: u64) -> bool {
        self.ceiling.beyond(trial, fastest_ns).is_some()
    }

    /// Why what a trial showed so far cannot be true, as far as the controls show by now; `None` if
    /// it can.
    pub(super) fn doubt(&self, plan: &Plan, progress: &TrialProgress) -> Option<String> {
        let trial = &plan.planned(progress.trial).trial;
        if trial.is_control() {
            return None;
        }
        let beyond = progress.fastest_ns.and_then(|fastest_ns| self.ceiling.beyond(trial, fastest_ns));
        beyond.or_else(|| self.left_out(plan, progress)).or_else(|| self.untouched(trial, progress))
    }

    /// Turns of which the windows leave out too much.
    fn left_out(&self, plan: &Plan, progress: &TrialProgress) -> Option<String> {
        let planned = plan.planned(progress.trial);
        // The windows of a command are measured by readlab's own clock; starting and reaping it
        // between two readings is in no window.
        if planned.trial.contender() == COMMAND {
            return None;
        }
        let of_state = plan.trials.iter().filter(|other| other.trial.state == planned.trial.state);
        let has_null = of_state.into_iter().any(|other| is_null(&other.trial));
        if has_null && self.answering.turns() < NULL_TURNS_MIN {
            return None;
        }
        self.answering.refutes(&progress.turns, HasGc(planned.collects))
    }

    /// Warm readings for which there was too little CPU time even to visit the bytes.
    fn untouched(&self, trial: &Trial, progress: &TrialProgress) -> Option<String> {
        if trial.state != CacheState::Warm {
            return None;
        }
        let is_too_little =
            |turn: &&TurnCpu| self.visit.is_too_little(trial, turn.readings, turn.cpu_most_ns);
        let untouched = || progress.undelivered.iter().filter(is_too_little);
        let least = untouched().min_by_key(|turn| turn.cpu_most_ns)?;
        let needed_ns = self.visit.least_ns(trial, least.readings)?;
        let (found, all) = (untouched().count(), progress.turns.len());
        (found >= UNTOUCHED_MIN.min(all)).then(|| {
            format!(
                "{found} of {all} turns cannot have touched the bytes: {} ns of CPU time are less than a third of what visiting them in memory takes, {needed_ns} ns",
                least.cpu_most_ns
            )
        })
    }
}
