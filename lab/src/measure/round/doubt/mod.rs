//! Whether what a trial showed can be true at all, and what is done before it is refused. Each rule
//! is learnt from controls, and a control may have been preempted: so nobody is refused before the
//! controls, and the trial itself, had further turns. Readings of those turns are never told.
//!
//! The rules live in [`super::ceiling`], [`super::unaccounted`] and [`crate::record::VisitCost`].

#[cfg(test)]
mod tests;

use super::trial_progress::TrialProgress;
use super::unaccounted::{Collects, NULL_TURNS_MIN, is_null};
use super::{Run, RunStop};
use crate::measure::interface::{SampleError, TrialEnd};
use crate::record::Sample;
use crate::trial::{COMMAND, CacheState};

/// How often each control is asked again before anybody is refused by it.
const CONTROL_TURNS: usize = 3;

/// Turns that a trial has before it is refused for what holds of them all.
const TURNS_MIN: usize = 5;

/// Readings that touched nothing before a trial is refused for them.
const UNTOUCHED_MIN: usize = 2;

impl Run<'_> {
    /// What controls have shown in one state says nothing of the next.
    pub(in crate::measure) fn forget_controls(&mut self) {
        (self.ceiling, self.answering, self.visit) = <_>::default();
    }

    /// What is learnt from the samples of a turn, of whichever trial.
    pub(super) fn learn(&mut self, trial: usize, samples: &[Sample]) {
        let trial = &self.plan.planned(trial).trial;
        self.ceiling.raise(trial, samples);
        self.answering.learn(trial, samples);
        samples.iter().for_each(|sample| self.visit.learn(trial, sample));
    }

    /// Why what a trial showed cannot be true, after everybody concerned was asked again; `None`
    /// where it can.
    pub(super) fn refutation(
        &mut self,
        state: CacheState,
        progress: &mut TrialProgress,
    ) -> Result<Option<String>, RunStop> {
        if self.doubt(progress).is_none() {
            return Ok(None);
        }
        let controls: Vec<usize> =
            self.plan.trials_of(state).into_iter().filter(|&trial| self.is_control(trial)).collect();
        for _ in 0..CONTROL_TURNS {
            for &control in &controls {
                self.again(control, state)?;
            }
            if self.doubt(progress).is_none() {
                return Ok(None);
            }
        }
        while progress.turns.len() < TURNS_MIN {
            let turns = progress.turns.len();
            if let Some(samples) = self.again(progress.trial, state)? {
                progress.look_at(&samples);
            }
            if progress.turns.len() == turns || self.doubt(progress).is_none() {
                break;
            }
        }
        Ok(self.doubt(progress))
    }

    /// The same where nobody can be asked again: only of one that had turns enough.
    pub(super) fn doubt_when_stopped(&self, progress: &TrialProgress) -> Option<String> {
        self.doubt(progress).filter(|_| progress.walls.len() >= TURNS_MIN)
    }

    /// Why what a trial showed so far cannot be true, as far as the controls tell by now.
    pub(super) fn doubt(&self, progress: &TrialProgress) -> Option<String> {
        let planned = self.plan.planned(progress.trial);
        let trial = &planned.trial;
        if trial.is_control() {
            return None;
        }
        let by_rate = || self.ceiling.beyond(trial, progress.fastest_ns?);
        let has_null =
            self.plan.trials_of(trial.state).iter().any(|&at| is_null(&self.plan.planned(at).trial));
        let answering_is_known = !has_null || self.answering.turns() >= NULL_TURNS_MIN;
        // A command's clock is readlab's own; what starts and reaps it between two readings is in
        // no window.
        let has_own_clock = trial.contender() != COMMAND;
        let by_clock = || {
            let refuted = self.answering.refutes(&progress.turns, Collects(planned.collects));
            refuted.filter(|_| answering_is_known && has_own_clock)
        };
        by_rate().or_else(by_clock).or_else(|| self.untouched(progress))
    }

    /// Warm readings for which there was not even the CPU time to visit the bytes.
    fn untouched(&self, progress: &TrialProgress) -> Option<String> {
        let trial = &self.plan.planned(progress.trial).trial;
        let all = progress.turns.len();
        let not_inspected = progress.not_inspected.iter().filter(|_| trial.state == CacheState::Warm);
        let nothing =
            not_inspected.filter(|turn| self.visit.is_too_little(trial, turn.readings, turn.cpu_most_ns));
        let least = nothing.clone().min_by_key(|turn| turn.cpu_most_ns)?;
        let needed_ns = self.visit.least_ns(trial, least.readings)?;
        let found = nothing.count();
        (found >= UNTOUCHED_MIN.min(all)).then(|| {
            format!(
                "{found} of {all} turns cannot have touched the bytes: {} ns of CPU time are less than a third of what visiting them in memory takes, {needed_ns} ns",
                least.cpu_most_ns
            )
        })
    }

    /// One more turn, of which nothing but what is learnt from it stays; `None` where it gave
    /// nothing.
    fn again(&mut self, trial: usize, state: CacheState) -> Result<Option<Vec<Sample>>, RunStop> {
        match self.sampler.turn(trial, state) {
            Ok(samples) => {
                self.learn(trial, &samples);
                Ok(Some(samples))
            }
            Err(SampleError::TrialEnd(TrialEnd::Run(end) | TrialEnd::Both(_, end))) => {
                Err(RunStop::Ended(end))
            }
            Err(SampleError::Unproven(_) | SampleError::TrialEnd(TrialEnd::Trial(_))) => Ok(None),
        }
    }
}
