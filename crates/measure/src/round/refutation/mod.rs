//! The refutation of a trial: whether what it showed can be true, and what is done before it is
//! refused. Each rule is learned from controls, and a control may have been preempted, so the
//! controls and the trial itself get further turns first. Readings of those turns are not recorded.

#[cfg(test)]
mod tests;

use super::trial_progress::TrialProgress;
use super::{Run, RunStop};
use crate::interface::{Slot, TrialEnd};
use readlab_model::sample::Sample;
use readlab_model::trial::TrialIndex;

/// How many further turns each control gets before a trial is refused by it.
const CONTROL_TURNS: usize = 3;

/// Turns that a trial has before it is refused for something that holds for all of them.
const TURNS_MIN: usize = 5;

impl Run<'_> {
    pub(super) fn learn(&mut self, trial: TrialIndex, samples: &[Sample]) {
        self.plausibility.learn(&self.plan.planned(trial).trial, samples);
    }

    /// Why what a trial showed cannot be true, after further turns of the controls and of the
    /// trial; `None` if it can.
    pub(super) fn refutation(&mut self, progress: &mut TrialProgress) -> Result<Option<String>, RunStop> {
        if self.doubt(progress).is_none() {
            return Ok(None);
        }
        let mut controls = self.plan.trials_of(self.planned(progress).trial.state);
        controls.retain(|&trial| self.plan.is_control(trial));
        for _ in 0..CONTROL_TURNS {
            for &control in &controls {
                self.further_turn(control)?;
            }
            if self.doubt(progress).is_none() {
                return Ok(None);
            }
        }
        while progress.turns.len() < TURNS_MIN {
            let turns = progress.turns.len();
            if let Some(samples) = self.further_turn(progress.trial)? {
                progress.observe_turn(&samples);
            }
            if progress.turns.len() == turns || self.doubt(progress).is_none() {
                break;
            }
        }
        Ok(self.doubt(progress))
    }

    /// The same in a run that is stopped and has no further turns: only for a trial that had enough
    /// turns.
    pub(super) fn doubt_when_stopped(&self, progress: &TrialProgress) -> Option<String> {
        self.doubt(progress).filter(|_| progress.walls.len() >= TURNS_MIN)
    }

    fn doubt(&self, progress: &TrialProgress) -> Option<String> {
        self.plausibility.doubt(self.plan, progress)
    }

    /// One more turn, only to learn from it; `None` if it gave no samples.
    fn further_turn(&mut self, trial: TrialIndex) -> Result<Option<Vec<Sample>>, RunStop> {
        let slot = Slot::unrecorded(self.plan.planned(trial).trial.state);
        match self.sampler.turn(trial, &slot) {
            Ok(samples) => {
                self.learn(trial, &samples);
                Ok(Some(samples))
            }
            Err(error) => Ok(TrialEnd::from(error).outcome().map(|_| None)?),
        }
    }
}
