//! The order of a sequence: each trial of a plan once, in the order of the plan, and each contender
//! only for its own turn.
//!
//! This is how many files are read cold: no file is read before its only timed reading. Where
//! several methods read the same files, the plan makes them take turns from file to file, so that
//! no method has a round, and with it a state of the device, for itself. What a turn is, and what
//! happens if it fails, is decided by [`super::round`].

#[cfg(test)]
mod tests;

use super::interface::{Sampler, Sink, Slot, Step};
use super::plan::Plan;
use super::round::state_run::StateRun;
use super::round::trial_progress::TrialProgress;
use super::round::{ResumeState, Run, RunStop, end_reason};
use readlab_record::{EndReason, RecordError};
use std::collections::BTreeSet;

/// Carries out a plan of which every round reads each target once. The caller writes the last line
/// of the record, because something may come after the readings.
pub fn run(plan: &Plan, sampler: &mut dyn Sampler, sink: &mut dyn Sink) -> Result<EndReason, RecordError> {
    let mut run = Run::new(plan, ResumeState::default(), sampler, sink);
    end_reason(run.sequence())
}

impl Run<'_> {
    /// Each trial once, state by state, then the trials that cannot be measured.
    fn sequence(&mut self) -> Result<EndReason, RunStop> {
        let states = &self.plan.states;
        for (done, &state) in states.iter().enumerate() {
            self.display.begin_state(done);
            let mut state_run = self.begin_state(state, states.len() - done);
            if self.each_once(&mut state_run)? == EndReason::Budget {
                return Ok(EndReason::Budget);
            }
        }
        self.announce_absent()?;
        Ok(EndReason::Settled)
    }

    /// Each trial of a state once, until the user ends the run.
    fn each_once(&mut self, state_run: &mut StateRun) -> Result<EndReason, RunStop> {
        let state = state_run.state;
        let targets: BTreeSet<usize> =
            state_run.progresses.iter().map(|it| self.plan.planned(it.trial).trial.target).collect();
        let of = u32::try_from(targets.len()).unwrap_or(u32::MAX);
        let count = state_run.progresses.len();
        for (place, progress) in (0_u32..).zip(&mut state_run.progresses) {
            if self.is_firmly_up(&state_run.clock)? {
                return Ok(EndReason::Budget);
            }
            let (round, position) = (place / of, place % of);
            self.once(&Slot { state, fill: round, round, position, rung: None }, of, progress)?;
            if position + 1 == of {
                self.end_round(place + 1, count);
            }
        }
        Ok(EndReason::Settled)
    }

    /// Shows how far a state is after so many of its trials.
    #[expect(clippy::cast_precision_loss, reason = "numbers of trials")]
    fn end_round(&mut self, done: u32, of: usize) {
        let progress = self.display.progress(f64::from(done) / of as f64, self.sampler.elapsed_ns());
        self.sink.about_to(Step::RoundOver(progress));
    }

    /// The only turn of a trial, in a round of so many. One reading is too little to refute it by
    /// what controls show, and a further one would find its bytes in the caches below.
    fn once(&mut self, slot: &Slot, of: u32, progress: &mut TrialProgress) -> Result<(), RunStop> {
        self.start(progress)?;
        if !progress.ended {
            let &Slot { round, position, .. } = slot;
            self.sink.about_to(Step::Turn { trial: progress.trial, round, position, of });
            self.turn(slot, progress)?;
        }
        if !progress.ended {
            self.conclude_trial(progress, None)?;
        }
        Ok(())
    }
}
