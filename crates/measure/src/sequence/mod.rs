//! The order of a sequence: each trial of a plan is read once, in the order of the plan, and each
//! contender runs only for its own turn.
//!
//! Many files are read cold in this order: no file is read before its only timed reading. If
//! several methods read the same files, the plan makes them alternate from file to file. Each round
//! then contains all methods, so a change of the device affects all of them. [`super::round`]
//! defines a turn and what happens if a turn fails.

#[cfg(test)]
mod tests;

use super::interface::{Sampler, Sink, Slot, Step};
use super::plan::Plan;
use super::round::state_run::StateRun;
use super::round::trial_progress::TrialProgress;
use super::round::{ResumeState, Run, RunResult, end_reason};
use readlab_analysis::stats::count_as_float;
use readlab_model::target::TargetIndex;
use readlab_record::{EndReason, RecordError};
use std::collections::BTreeSet;

/// Executes a plan in which every round reads each target once. The caller writes the last line of
/// the record, because more lines may follow the readings.
pub fn run(plan: &Plan, sampler: &mut dyn Sampler, sink: &mut dyn Sink) -> Result<EndReason, RecordError> {
    let mut run = Run::new(plan, ResumeState::default(), sampler, sink);
    end_reason(run.run_sequence())
}

impl Run<'_> {
    /// Reads each trial once, state by state, then records the trials that cannot be measured.
    fn run_sequence(&mut self) -> RunResult<EndReason> {
        let states = &self.plan.states;
        for (done, &state) in states.iter().enumerate() {
            self.display.begin_state(done);
            let mut state_run = self.begin_state(state, states.len() - done);
            if self.read_each_once(&mut state_run)? == EndReason::Budget {
                return Ok(EndReason::Budget);
            }
        }
        self.record_absent_trials()?;
        Ok(EndReason::Settled)
    }

    fn read_each_once(&mut self, state_run: &mut StateRun) -> RunResult<EndReason> {
        let state = state_run.state;
        let targets: BTreeSet<TargetIndex> =
            state_run.progresses.iter().map(|it| self.plan.planned_trial(it.trial).trial.target).collect();
        let of = u32::try_from(targets.len()).unwrap_or(u32::MAX);
        let turns = state_run.progresses.len();
        for (place, progress) in (0_u32..).zip(&mut state_run.progresses) {
            if self.is_firm_time_up(&state_run.clock)? {
                return Ok(EndReason::Budget);
            }
            let (round, position) = (place / of, place % of);
            self.take_only_turn(&Slot { state, fill: round, round, position, rung: None }, of, progress)?;
            if position + 1 == of {
                self.show_progress(place + 1, turns);
            }
        }
        Ok(EndReason::Settled)
    }

    fn show_progress(&mut self, done: u32, of: usize) {
        let progress = self.display.progress(f64::from(done) / count_as_float(of), self.sampler.elapsed_ns());
        self.sink.announce_step(Step::RoundOver(progress));
    }

    /// Takes the only turn of a trial, in a round of `of` trials. The trial is not refuted by
    /// controls: one reading is too little evidence, and a further reading would get its bytes from
    /// the caches below.
    fn take_only_turn(&mut self, slot: &Slot, of: u32, progress: &mut TrialProgress) -> RunResult {
        self.start_and_warm_up(progress)?;
        if !progress.has_ended {
            self.announce_turn(slot, of, progress);
            self.take_turn(slot, progress)?;
        }
        if !progress.has_ended {
            self.conclude_trial(progress, None)?;
        }
        Ok(())
    }
}
