//! The resume state: the record of an earlier part of the same run; empty for a new run. The record
//! gives the progress and outcomes of the trials, the states that are done, and the round and fill
//! with which the rest of the run begins.

#[cfg(test)]
mod tests;

use super::trial_progress::TrialProgress;
use super::unaccounted::samples_by_turn;
use crate::plan::{Plan, Rules};
use readlab_model::sample::Sample;
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_record::{EndReason, Outcome, Record, StopReason, TrialRecord};

#[derive(Clone, Copy, Default)]
pub struct ResumeState<'a>(Option<&'a Record>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NextRound {
    pub(crate) round: u32,
    pub(crate) fill: u32,
}

/// Trials that an interruption or the loss of a rank ended as `Measured` although they need further
/// readings, because their state was not closed. A state is closed once a trial of it has counts.
pub fn trials_to_reopen(record: &Record) -> Vec<TrialIndex> {
    if !matches!(record.end, Some((EndReason::Interrupted | EndReason::RankLost, _))) {
        return Vec::new();
    }
    let closed = |state| record.trials.iter().any(|it| it.trial.state == state && !it.counts.is_empty());
    let goes_on = |it: &&TrialRecord| it.outcome == Some(Outcome::Measured) && !closed(it.trial.state);
    record.trials.iter().filter(goes_on).map(|it| it.trial.index).collect()
}

impl<'a> ResumeState<'a> {
    pub fn from_record(record: &'a Record) -> ResumeState<'a> {
        ResumeState(Some(record))
    }

    /// The first state of the plan that is not done, or else the last state, and the next round of
    /// that state. Trials in `reopen` count as not done.
    pub fn next_state_and_round(self, plan: &Plan, reopen: &[TrialIndex]) -> Option<(CacheState, u32)> {
        let is_done = |trial: &TrialIndex| {
            self.trial(*trial).is_some_and(|it| match &it.outcome {
                Some(Outcome::Measured) => !reopen.contains(trial) && !it.counts.is_empty(),
                other => other.is_some(),
            })
        };
        let is_open = |state: &&CacheState| !plan.trials_in_state(**state).iter().all(is_done);
        let state = plan.states.iter().find(is_open).or(plan.states.last())?;
        Some((*state, self.next_round(*state).round))
    }

    fn trial(self, index: TrialIndex) -> Option<&'a TrialRecord> {
        self.0?.trial(index)
    }

    fn samples(self, trial: TrialIndex) -> impl Iterator<Item = Sample> + use<'a> {
        self.trial(trial).into_iter().flat_map(|it| &it.samples)
    }

    /// Whether the limit of this control was measured again.
    pub(super) fn was_measured_again(self, control: TrialIndex) -> bool {
        self.0.is_some_and(|record| record.limits.iter().any(|limit| limit.trial == Some(control)))
    }

    pub(super) fn has_ended(self, trial: TrialIndex) -> bool {
        self.trial(trial).is_some_and(|it| it.outcome.is_some())
    }

    /// The next round and fill of a state. A round or fill that was begun is not continued.
    pub(super) fn next_round(self, state: CacheState) -> NextRound {
        let Some(record) = self.0 else { return NextRound::default() };
        let trials = || record.trials.iter().filter(|it| it.trial.state == state);
        let samples = || trials().flat_map(|it| &it.samples);
        let rejected = trials().flat_map(|it| it.rejected_readings.iter().map(|(round, _)| *round));
        let filled = record.fills.iter().map(|fill| fill.fill).filter(|_| state == CacheState::Warm);
        let next = |last: Option<u32>| last.map_or(0, |last| last.saturating_add(1));
        NextRound {
            round: next(samples().map(|sample| sample.round).chain(rejected).max()),
            fill: next(samples().map(|sample| sample.fill).chain(filled).max()),
        }
    }

    pub(super) fn progress(self, trial: TrialIndex, rules: &Rules) -> TrialProgress {
        let mut progress = self.progress_of_readings(trial, rules);
        if let Some(it) = self.trial(trial) {
            progress.is_announced = true;
            progress.has_ended = it.outcome.is_some();
            // The other stop reasons are derived from the readings again.
            let why = it.stopped.map(|stopped| stopped.why);
            progress.stop_reason = why.filter(|why| *why == StopReason::NotFirst);
            progress.rounds_at_stop =
                it.stopped.filter(|_| progress.stop_reason.is_some()).map(|it| it.rounds);
            progress.is_measured = it.outcome == Some(Outcome::Measured);
            progress.is_counted = !it.counts.is_empty();
            progress.missing_meters = it.missing_meters.keys().cloned().collect();
        }
        progress
    }

    /// Progress of a trial from its readings alone; its outcome is ignored.
    fn progress_of_readings(self, trial: TrialIndex, rules: &Rules) -> TrialProgress {
        let mut progress = TrialProgress::new(trial);
        progress.add_samples(self.samples(trial), rules);
        progress
    }

    /// Why the rounds of a state were over; `None` if they were not. The outcome `Measured` is
    /// written only after the last round.
    pub(super) fn rounds_end_reason(self, plan: &Plan, state: CacheState) -> Option<EndReason> {
        let measured =
            |trial: &TrialIndex| self.trial(*trial).is_some_and(|it| it.outcome == Some(Outcome::Measured));
        let measured: Vec<TrialIndex> = plan.trials_in_state(state).into_iter().filter(measured).collect();
        let is_stopped = |trial: TrialIndex| {
            let stopped = self.trial(trial).and_then(|it| it.stopped);
            stopped.is_some_and(|stopped| stopped.why != StopReason::Budget)
        };
        let is_settled = |&trial: &TrialIndex| {
            let is_done = plan.is_control(trial) || is_stopped(trial);
            is_done || self.progress_of_readings(trial, &plan.rules).is_settled(&plan.rules)
        };
        let why = if measured.iter().all(is_settled) { EndReason::Settled } else { EndReason::Budget };
        (!measured.is_empty()).then_some(why)
    }

    pub(super) fn trials_not_inspected(self, plan: &Plan) -> Vec<TrialIndex> {
        let is_open = |trial: &TrialIndex| {
            self.trial(*trial).is_some_and(|it| {
                let seen = it.flame_graph.is_some() || it.trace.is_some();
                it.outcome == Some(Outcome::Measured) && !it.counts.is_empty() && !seen
            })
        };
        plan.states.iter().flat_map(|&state| plan.trials_in_state(state)).filter(is_open).collect()
    }

    pub(super) fn turns_of_controls(self, plan: &Plan, state: CacheState) -> Vec<(TrialIndex, Vec<Sample>)> {
        let controls = plan.trials_in_state(state).into_iter().filter(|&it| plan.is_control(it));
        let of = |trial| samples_by_turn(self.samples(trial)).into_iter().map(move |turn| (trial, turn));
        controls.flat_map(of).collect()
    }
}
