//! Decides whether the numbers of a trial can be true. The bounds are learned from controls, and a
//! control may have been preempted. So the controls and the trial get further turns before the
//! trial is refused. Readings of these turns are not recorded.

#[cfg(test)]
mod tests;

use super::trial_progress::TrialProgress;
use super::{Run, RunResult};
use crate::interface::{Slot, TrialEnd};
use readlab_model::sample::Sample;
use readlab_model::trial::TrialIndex;

/// Number of further turns that each control gets before its rate refutes a trial.
const CONTROL_TURNS: usize = 3;

/// Smallest number of turns of a trial that is refused because of all its turns.
const JUDGED_TURNS_MIN: usize = 5;

impl Run<'_> {
    pub(super) fn learn_bounds(&mut self, trial: TrialIndex, samples: &[Sample]) {
        let bytes = self.visited_bytes(trial);
        self.plausibility.learn(&self.plan.planned_trial(trial).trial, bytes, samples);
    }

    /// Why the numbers of a trial cannot be true, after further turns of the controls and of the
    /// trial; `None` if they can.
    pub(super) fn find_refutation(&mut self, progress: &mut TrialProgress) -> RunResult<Option<String>> {
        if self.why_implausible(progress).is_none() {
            return Ok(None);
        }
        let mut controls = self.plan.trials_in_state(self.planned_trial(progress).trial.state);
        controls.retain(|&trial| self.plan.is_control(trial));
        for _ in 0..CONTROL_TURNS {
            for &control in &controls {
                self.take_unrecorded_turn(control)?;
            }
            if self.why_implausible(progress).is_none() {
                return Ok(None);
            }
        }
        while progress.turns.len() < JUDGED_TURNS_MIN {
            let turns = progress.turns.len();
            if let Some(samples) = self.take_unrecorded_turn(progress.trial)? {
                progress.observe_turn(&samples);
            }
            if progress.turns.len() == turns || self.why_implausible(progress).is_none() {
                break;
            }
        }
        Ok(self.why_implausible(progress))
    }

    /// Why the numbers of a trial cannot be true, in a stopped run, which has no further turns;
    /// `None` if they can, or if the trial had too few turns to judge.
    pub(super) fn why_implausible_when_stopped(&self, progress: &TrialProgress) -> Option<String> {
        self.why_implausible(progress).filter(|_| progress.wall_times.len() >= JUDGED_TURNS_MIN)
    }

    fn why_implausible(&self, progress: &TrialProgress) -> Option<String> {
        self.plausibility.why_implausible(self.plan, self.visited_bytes(progress.trial), progress)
    }

    /// Number of bytes that a reading visits; 0 if unknown, so that only controls with an unknown
    /// number limit the trial.
    pub(super) fn visited_bytes(&self, trial: TrialIndex) -> u64 {
        self.sampler.bytes_per_reading(trial).unwrap_or(0)
    }

    /// Takes one more turn and learns from its samples, which are not recorded; `None` if the turn
    /// gave none.
    fn take_unrecorded_turn(&mut self, trial: TrialIndex) -> RunResult<Option<Vec<Sample>>> {
        let slot = Slot::unrecorded(self.plan.planned_trial(trial).trial.state);
        match self.sampler.take_turn(trial, &slot) {
            Ok(samples) => {
                self.learn_bounds(trial, &samples);
                Ok(Some(samples))
            }
            Err(error) => Ok(TrialEnd::from(error).outcome().map(|_| None)?),
        }
    }
}
