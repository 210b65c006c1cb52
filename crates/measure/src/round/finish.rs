//! The end of a state and of a run: outcomes, counts of system calls and allocations of contenders,
//! and inspections. `rounds` decides when a state is over.

use super::state_run::StateRun;
use super::trial_progress::TrialProgress;
use super::{Run, RunResult, RunStop};
use crate::counts::Counts;
use crate::interface::{RunProgress, Step, TrialEnd};
use crate::plan::Budget;
use readlab_model::trial::{Params, TrialIndex};
use readlab_record::{EndReason, Line, Outcome, UntimedCount};

const TIME_USED_UP: &str = "the time for the whole run was used up";

/// Why a trial that is not the fastest is not counted.
const NOT_FASTEST: &str = "another trial is faster, and counting all trials would take too long";

/// Number of contenders that are counted at the same time. They may disturb each other, because no
/// reading is timed during counting.
const CONTENDERS_COUNTED_AT_ONCE: usize = 2;

/// Divisor of the time that the state has taken so far. Repeated counting may take the quotient.
const RECOUNTING_TIME_DIVISOR: u64 = 2;

const COUNT_NAMES: [&str; 2] = ["mallocs", "syscalls"];

impl Run<'_> {
    /// Ends a state: every trial gets its outcome, and system calls and allocations of its
    /// contender are counted.
    pub(super) fn finish_state(
        &mut self,
        state_run: &mut StateRun,
        end: RunResult<EndReason>,
    ) -> RunResult<EndReason> {
        let judged = end.and_then(|reason| Ok((self.find_refutations(state_run)?, reason)));
        let (refuted, end) = match judged {
            Ok((refuted, reason)) => (refuted, Ok(reason)),
            Err(stop) => {
                let doubts = state_run.progresses.iter().map(|it| self.why_implausible_when_stopped(it));
                // A trial may find that the time is used up, for example while it waits for a device.
                let is_budget = matches!(stop, RunStop::Ended(EndReason::Budget));
                (doubts.collect(), if is_budget { Ok(EndReason::Budget) } else { Err(stop) })
            }
        };
        self.conclude_trials(state_run, refuted, end.as_ref().ok().copied())?;
        let reason = end?;
        self.count_all(state_run)?;
        Ok(reason)
    }

    /// Why the numbers of each trial cannot be true, in the order of the trials; `None` for a trial
    /// without numbers, or with numbers that can be true. Called before any contender is closed,
    /// because further turns may be needed.
    fn find_refutations(&mut self, state_run: &mut StateRun) -> RunResult<Vec<Option<String>>> {
        let mut refuted = Vec::new();
        for progress in &mut state_run.progresses {
            let has_numbers = !progress.has_ended && progress.fastest_ns.is_some();
            refuted.push(if has_numbers { self.find_refutation(progress)? } else { None });
        }
        Ok(refuted)
    }

    /// Closes all contenders and writes the outcomes of the trials. `end` is why the state is over;
    /// `None` if the run was stopped. In a stopped run a trial without a turn gets no outcome,
    /// because a resumed run may still read it.
    fn conclude_trials(
        &mut self,
        state_run: &mut StateRun,
        refuted: Vec<Option<String>>,
        end: Option<EndReason>,
    ) -> RunResult {
        for (progress, refuted) in state_run.progresses.iter_mut().zip(refuted) {
            match end {
                _ if progress.has_ended => {}
                _ if progress.fastest_ns.is_some() => self.conclude_trial(progress, refuted)?,
                None => self.sampler.close_session(progress.trial),
                Some(end) => {
                    self.announce_trial(progress, &Params::default())?;
                    let wait_reason = self.planned_trial(progress).wait_reason.clone();
                    let outcome = wait_reason.map(|reason| Outcome::Unavailable { reason });
                    self.end_trial(progress, outcome.unwrap_or_else(|| outcome_without_reading(end)))?;
                }
            }
        }
        Ok(())
    }

    /// Ends a trial that has samples. Its outcome is `Measured` unless its numbers are refused.
    pub(crate) fn conclude_trial(
        &mut self,
        progress: &mut TrialProgress,
        refuted: Option<String>,
    ) -> RunResult {
        let refuted = refuted.map(|reason| Outcome::Refused { reason });
        let refused = refuted.or_else(|| self.sampler.refusal(progress.trial));
        let outcome = refused.unwrap_or(Outcome::Measured);
        progress.is_measured = outcome == Outcome::Measured;
        self.end_trial(progress, outcome)
    }

    /// Counts system calls and allocations of each measured contender. If a count fails, the record
    /// has the reason and the run goes on.
    fn count_all(&mut self, state_run: &StateRun) -> RunResult {
        let mut due = Vec::new();
        for progress in state_run.progresses.iter().filter(|it| it.is_measured && !it.is_counted) {
            match self.why_uncounted(state_run, progress) {
                Some(why) => self.record_counts(progress.trial, missing_counts(why))?,
                None => due.push(progress),
            }
        }
        for (at, chunk) in due.chunks(CONTENDERS_COUNTED_AT_ONCE).enumerate() {
            let so_far = self.progress_of_counting(state_run, &due[at * CONTENDERS_COUNTED_AT_ONCE..]);
            self.count_chunk(state_run, chunk, so_far)?;
        }
        let counted: Vec<TrialIndex> = due.iter().map(|it| it.trial).collect();
        self.count_again(state_run, &counted)
    }

    /// Why a trial is not counted; `None` if it is counted. A trial that was counted in another
    /// cache state is always counted, because its counts are known.
    fn why_uncounted(&self, state_run: &StateRun, progress: &TrialProgress) -> Option<&'static str> {
        let is_late = state_run.clock.is_time_used_up(self.sampler.elapsed_ns());
        match progress.trial {
            trial if self.sampler.is_counted(trial) => None,
            trial if is_late && self.plan.is_control(trial) => Some(TIME_USED_UP),
            _ => self.is_left_behind(state_run, progress).then_some(NOT_FASTEST),
        }
    }

    /// Repeats the counting as often as the rules say. Each repetition counts every trial once, so
    /// that all trials have about the same number of counts. Stops after half of the time that the
    /// state took before the first repetition, or at the end of a firm budget.
    fn count_again(&mut self, state_run: &StateRun, counted: &[TrialIndex]) -> RunResult {
        let begun_ns = self.sampler.elapsed_ns();
        let time_ns = state_run.clock.since_start_ns(begun_ns) / RECOUNTING_TIME_DIVISOR;
        for _ in 1..self.plan.rules.counting_runs {
            for chunk in counted.chunks(CONTENDERS_COUNTED_AT_ONCE) {
                let now_ns = self.sampler.elapsed_ns();
                let is_long = now_ns.saturating_sub(begun_ns) >= time_ns;
                if is_long || self.is_time_up(|now_ns| state_run.clock.is_counting_time_up(now_ns))? {
                    return Ok(());
                }
                let so_far = self.display.progress(1.0, now_ns);
                self.sink.announce_step(Step::Count(chunk[0], so_far));
                let again = self.sampler.count_again(chunk);
                for (&trial, counts) in chunk.iter().zip(again) {
                    self.sink.append(Line::Counts { trial, counts: counts_or_reason(counts)? })?;
                }
            }
        }
        Ok(())
    }

    /// Counts system calls and allocations of these contenders, if the state has time left.
    fn count_chunk(
        &mut self,
        state_run: &StateRun,
        chunk: &[&TrialProgress],
        so_far: RunProgress,
    ) -> RunResult {
        let is_up = self.is_time_up(|now_ns| state_run.clock.is_counting_time_up(now_ns))?;
        let is_due = |trial: &TrialIndex| !is_up || self.sampler.is_counted(*trial);
        let (due, late): (Vec<_>, Vec<_>) = chunk.iter().map(|it| it.trial).partition(is_due);
        for trial in late {
            self.record_counts(trial, missing_counts(TIME_USED_UP))?;
        }
        if let Some(&first) = due.first() {
            self.sink.announce_step(Step::Count(first, so_far));
        }
        let counted = self.sampler.count(&due);
        for (trial, counts) in due.into_iter().zip(counted) {
            self.record_counts(trial, counts_or_reason(counts)?)?;
        }
        Ok(())
    }

    fn record_counts(&mut self, trial: TrialIndex, counts: Counts) -> RunResult {
        self.sink.append(Line::Counts { trial, counts })?;
        self.counted_trials.push(trial);
        Ok(())
    }

    /// Inspects the measured trials, if inspections are enabled. Runs after all rounds of all
    /// states, so that no round loses time or has another cache state because of an inspection.
    /// Begins with the last state, because the cache is in that state.
    pub(super) fn inspect_measured(&mut self) -> RunResult {
        if !self.sampler.has_inspections() {
            return Ok(());
        }
        let states = self.plan.states.iter().rev();
        let mut trials: Vec<TrialIndex> =
            states.flat_map(|&state| self.plan.trials_in_state(state)).collect();
        trials.retain(|trial| self.counted_trials.contains(trial));
        for trial in trials {
            let budget = self.plan.rules.budget;
            let is_up = |now_ns| matches!(budget, Budget::Firm(time) if now_ns >= time.0);
            let lines = if self.is_time_up(is_up)? {
                self.sampler.uninspected_lines(trial, TIME_USED_UP)
            } else {
                self.sink.announce_step(Step::Inspect(trial));
                self.sampler.inspect(trial)?
            };
            lines.into_iter().try_for_each(|line| self.sink.append(line))?;
        }
        Ok(())
    }
}

fn outcome_without_reading(end: EndReason) -> Outcome {
    let reason = match end {
        EndReason::Budget => "the time for the whole run was used up before the first reading",
        _ => "no other trial was left to race against",
    };
    Outcome::Unavailable { reason: reason.to_owned() }
}

fn counts_or_reason(counts: Result<Counts, TrialEnd>) -> RunResult<Counts> {
    counts.or_else(|end| Ok(missing_counts(end.outcome()?.reason().unwrap_or("it could not be counted"))))
}

fn missing_counts(how: &str) -> Counts {
    COUNT_NAMES
        .iter()
        .map(|name| ((*name).to_owned(), UntimedCount { value: None, how: how.to_owned() }))
        .collect()
}
