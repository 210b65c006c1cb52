//! The order of a run: executes a plan state by state, in each state fill by fill and round by
//! round, and in each round every trial once, until every trial is settled.
//!
//! This module uses files, processes and the record only through [`Sampler`] and [`Sink`], so tests
//! run whole plans against a script. Every result is written at once, so a run may end at any
//! moment. Rounds and turns are in `rounds`, the end of a state in `finish`. [`super::sampler`]
//! takes readings and proves their cache state.

mod beaten_limits;
mod finish;
mod plausibility;
mod progress_display;
mod qualifying;
mod refutation;
pub(super) mod resume_state;
mod rounds;
pub(super) mod state_clock;
pub(super) mod state_run;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub(super) mod trial_progress;
mod unaccounted;

use super::interface::{CleanUpError, Sampler, Sink, Step, TrialEnd};
use super::plan::{Plan, PlannedTrial};
use plausibility::PlausibilityBounds;
use progress_display::ProgressDisplay;
use readlab_model::trial::{CacheState, Params, TrialIndex};
use readlab_record::{EndReason, Line, Outcome, Record, RecordError};
pub use resume_state::{ResumeState, trials_to_reopen};
use state_clock::StateClock;
use state_run::StateRun;
use trial_progress::TrialProgress;
pub use unaccounted::unexplained_share_of_bound;

/// Why a run stops before its plan is done.
pub(super) enum RunStop {
    Ended(EndReason),
    Record(RecordError),
}

pub(super) type RunResult<T = ()> = Result<T, RunStop>;

impl From<EndReason> for RunStop {
    fn from(end: EndReason) -> RunStop {
        RunStop::Ended(end)
    }
}

impl From<RecordError> for RunStop {
    fn from(error: RecordError) -> RunStop {
        RunStop::Record(error)
    }
}

pub struct Run<'a> {
    pub(super) plan: &'a Plan,
    pub(super) sampler: &'a mut dyn Sampler,
    pub(super) sink: &'a mut dyn Sink,
    plausibility: PlausibilityBounds,
    pub(super) display: ProgressDisplay,
    resumed: ResumeState<'a>,
    /// Trials that were measured and counted; they are inspected at the end.
    counted_trials: Vec<TrialIndex>,
}

/// Executes a plan; every announced trial gets an outcome.
pub fn run(plan: &Plan, sampler: &mut dyn Sampler, sink: &mut dyn Sink) -> Result<EndReason, RecordError> {
    Run::new(plan, ResumeState::default(), sampler, sink).execute(Run::measure_state)
}

/// Executes the rest of a plan that was partly executed and recorded.
pub fn resume(
    plan: &Plan,
    record: &Record,
    sampler: &mut dyn Sampler,
    sink: &mut dyn Sink,
) -> Result<EndReason, RecordError> {
    Run::new(plan, ResumeState::from_record(record), sampler, sink).execute(Run::measure_state)
}

pub(super) fn end_reason(ended: RunResult<EndReason>) -> Result<EndReason, RecordError> {
    match ended {
        Ok(reason) | Err(RunStop::Ended(reason)) => Ok(reason),
        Err(RunStop::Record(error)) => Err(error),
    }
}

impl<'a> Run<'a> {
    /// A run of a plan; `resumed` has the results of an earlier part of the run.
    pub(super) fn new(
        plan: &'a Plan,
        resumed: ResumeState<'a>,
        sampler: &'a mut dyn Sampler,
        sink: &'a mut dyn Sink,
    ) -> Run<'a> {
        Run {
            plan,
            sampler,
            sink,
            plausibility: PlausibilityBounds::default(),
            display: ProgressDisplay::new(plan.states.len()),
            resumed,
            counted_trials: resumed.trials_not_inspected(plan),
        }
    }

    /// Measures each state of the plan with `measure`, then inspects the measured trials. At the
    /// end, even of a stopped run, cleans up and writes the last line of the record.
    pub(super) fn execute(
        mut self,
        measure: impl FnMut(&mut Run<'a>, &mut StateRun) -> RunResult<EndReason>,
    ) -> Result<EndReason, RecordError> {
        self.record_absent_trials()?;
        let settled = self.run_states(measure);
        let ended = settled.and_then(|reason| self.inspect_measured().map(|()| reason));
        let ended = self.write_notes().and(ended);
        // The clean-up also runs if the record can no longer be written.
        let cleaned = self.sampler.clean_up();
        let mut reason = end_reason(ended)?;
        // The clean-up notes that it restored settings.
        self.sampler.drain_notes().into_iter().try_for_each(|line| self.sink.append(line))?;
        if let Err(CleanUpError { end, text }) = cleaned {
            self.sink.append(Line::Warning { text })?;
            reason = if reason == EndReason::Interrupted { reason } else { end };
        }
        let wall_ns = self.sampler.elapsed_ns();
        self.sink.append(Line::End { reason, wall_ns })?;
        Ok(reason)
    }

    pub(super) fn record_absent_trials(&mut self) -> Result<(), RecordError> {
        for (trial, outcome) in &self.plan.absent_trials {
            if !self.resumed.has_ended(trial.index) {
                self.sink.append(Line::Trial(Box::new(trial.clone())))?;
                self.sink.append(Line::Outcome { trial: trial.index, outcome: outcome.clone() })?;
            }
        }
        Ok(())
    }

    /// Runs all states in order; returns `Budget` if time was up in one of them, else `Settled`.
    fn run_states(
        &mut self,
        mut measure: impl FnMut(&mut Run<'a>, &mut StateRun) -> RunResult<EndReason>,
    ) -> RunResult<EndReason> {
        let mut reason = EndReason::Settled;
        let states = &self.plan.states;
        for (done, &state) in states.iter().enumerate() {
            if self.plan.trials_in_state(state).is_empty() {
                continue;
            }
            self.display.begin_state(done);
            let mut state_run = self.begin_state(state, states.len() - done);
            let end = measure(self, &mut state_run);
            match self.finish_state(&mut state_run, end)? {
                EndReason::Settled => {}
                EndReason::Budget => reason = EndReason::Budget,
                other => return Err(other.into()),
            }
        }
        Ok(reason)
    }

    /// Begins a state; `states_left` is the number of states still to run, this one included.
    pub(super) fn begin_state(&mut self, state: CacheState, states_left: usize) -> StateRun {
        let trials = self.plan.trials_in_state(state);
        self.sink.announce_step(Step::State(state, trials.len()));
        // Results of controls in one state do not apply to the next.
        self.plausibility = PlausibilityBounds::default();
        for (trial, turn) in self.resumed.turns_of_controls(self.plan, state) {
            self.learn_bounds(trial, &turn);
        }
        let progress = |trial| self.resumed.progress(trial, &self.plan.rules);
        let progresses = trials.into_iter().map(progress).collect();
        let parts = states_left + usize::from(self.sampler.has_inspections());
        let clock = StateClock::start(self.plan, state, self.sampler.elapsed_ns(), parts);
        StateRun::new(state, progresses, clock)
    }

    fn measure_state(&mut self, state_run: &mut StateRun) -> RunResult<EndReason> {
        let state = state_run.state;
        if let Some(reason) = self.resumed.rounds_end_reason(self.plan, state) {
            return Ok(reason);
        }
        // An earlier part of the run may have ended before its last round was judged.
        self.qualify(state_run)?;
        let is_settled = state_run.live_trials(self.plan).is_empty();
        let first = self.resumed.next_round(state);
        let end = if is_settled { EndReason::Settled } else { self.measure_from(first, state_run)? };
        self.record_stops(state_run).map(|()| end)
    }

    /// Records why each trial has no more readings. The reason that another trial is faster was
    /// recorded when the trial stopped, so it is recorded again only if the trial had more rounds
    /// since then.
    fn record_stops(&mut self, state_run: &StateRun) -> RunResult {
        let read = state_run.progresses.iter().filter(|it| !it.has_ended && !it.wall_times.is_empty());
        let is_recorded = |it: &TrialProgress| it.rounds_at_stop == Some(it.round_count());
        for progress in read.filter(|it| !is_recorded(it)) {
            let stopped = progress.describe_stop(&self.plan.rules);
            self.sink.append(Line::Stopped { trial: progress.trial, stopped })?;
        }
        Ok(())
    }

    fn planned_trial(&self, progress: &TrialProgress) -> &'a PlannedTrial {
        self.plan.planned_trial(progress.trial)
    }

    fn is_control(&self, progress: &TrialProgress) -> bool {
        self.plan.is_control(progress.trial)
    }

    /// Whether time is up: the user ended the run, or `is_up` holds for the time since the run
    /// began.
    pub(crate) fn is_time_up(&mut self, is_up: impl FnOnce(u64) -> bool) -> RunResult<bool> {
        Ok(self.sink.wants_end()? || is_up(self.sampler.elapsed_ns()))
    }

    pub(crate) fn is_firm_time_up(&mut self, clock: &StateClock) -> RunResult<bool> {
        self.is_time_up(|now_ns| clock.is_firm_time_up(now_ns))
    }

    /// Writes the trial's line with the parameters in force, if it is not written yet.
    pub(crate) fn announce_trial(&mut self, progress: &mut TrialProgress, params: &Params) -> RunResult {
        if progress.is_announced {
            return Ok(());
        }
        progress.is_announced = true;
        let mut trial = self.planned_trial(progress).trial.clone();
        trial.params.0.extend(params.0.clone());
        Ok(self.sink.append(Line::Trial(Box::new(trial)))?)
    }

    fn handle_trial_end(&mut self, progress: &mut TrialProgress, end: TrialEnd) -> RunResult {
        match end {
            TrialEnd::Trial(outcome) => self.end_trial(progress, outcome),
            TrialEnd::Run(reason) => Err(reason.into()),
            TrialEnd::Both(outcome, reason) => {
                self.end_trial(progress, outcome)?;
                Err(reason.into())
            }
        }
    }

    /// Writes the trial's outcome; the trial has no further turns.
    pub(crate) fn end_trial(&mut self, progress: &mut TrialProgress, outcome: Outcome) -> RunResult {
        progress.has_ended = true;
        match outcome {
            Outcome::Measured => self.sampler.retire_session(progress.trial),
            _ => self.sampler.close_session(progress.trial),
        }
        Ok(self.sink.append(Line::Outcome { trial: progress.trial, outcome })?)
    }

    fn write_notes(&mut self) -> RunResult {
        self.sampler.drain_notes().into_iter().try_for_each(|line| Ok(self.sink.append(line)?))
    }
}
