//! The end of a state and of a run: outcomes, counts of what contenders do inside, and inspections.
//! Why a state is over is decided by the rounds.

use super::state_run::StateRun;
use super::trial_progress::TrialProgress;
use super::{Run, RunStop};
use crate::interface::{Progress, Step, TrialEnd};
use crate::plan::Budget;
use readlab_model::trial::{Params, TrialIndex};
use readlab_record::{Count, EndReason, Line, Outcome};
use std::collections::BTreeMap;

const TIME_USED_UP: &str = "the time for the whole run was used up";

/// Why nothing is counted of a trial that is not the fastest.
const LEFT_BEHIND: &str = "another trial is faster, and counting all trials would take too long";

/// How many contenders are counted side by side: nothing is timed meanwhile.
const COUNTED_AT_ONCE: usize = 2;

/// Counting again may take one part in this many of the time that the state took before.
const RECOUNTING_PART: u64 = 2;

const COUNTED: [&str; 2] = ["mallocs", "syscalls"];

impl Run<'_> {
    /// Ends a state: every trial gets its outcome, and what contenders do inside is counted.
    pub(super) fn finish_state(
        &mut self,
        state_run: &mut StateRun,
        end: Result<EndReason, RunStop>,
    ) -> Result<EndReason, RunStop> {
        let judged = end.and_then(|reason| Ok((self.refutations(state_run)?, reason)));
        let (refuted, end) = match judged {
            Ok((refuted, reason)) => (refuted, Ok(reason)),
            Err(stop) => {
                let doubts = state_run.progresses.iter().map(|it| self.doubt_when_stopped(it));
                (doubts.collect(), Err(stop))
            }
        };
        self.conclude(state_run, refuted, end.as_ref().ok().copied())?;
        let reason = end?;
        self.count_all(state_run)?;
        Ok(reason)
    }

    /// Why the numbers of each trial cannot be true, in order, while all contenders can have
    /// further turns.
    fn refutations(&mut self, state_run: &mut StateRun) -> Result<Vec<Option<String>>, RunStop> {
        let mut refuted = Vec::new();
        for progress in &mut state_run.progresses {
            let has_numbers = !progress.ended && progress.fastest_ns.is_some();
            refuted.push(if has_numbers { self.refutation(progress)? } else { None });
        }
        Ok(refuted)
    }

    /// Closes all contenders; trials whose samples are kept are measured. `end` is why the state is
    /// over. In a run that was stopped, a trial without a turn has no outcome: it was only cut
    /// short.
    fn conclude(
        &mut self,
        state_run: &mut StateRun,
        refuted: Vec<Option<String>>,
        end: Option<EndReason>,
    ) -> Result<(), RunStop> {
        for (progress, refuted) in state_run.progresses.iter_mut().zip(refuted) {
            match end {
                _ if progress.ended => {}
                _ if progress.fastest_ns.is_some() => self.conclude_trial(progress, refuted)?,
                None => self.sampler.close(progress.trial),
                Some(end) => {
                    self.announce(progress, &Params::default())?;
                    let waits = self.planned(progress).waits.clone();
                    let outcome = waits.map(|reason| Outcome::Unavailable { reason });
                    self.end(progress, outcome.unwrap_or_else(|| untried(end)))?;
                }
            }
        }
        Ok(())
    }

    /// Ends a trial that has samples: it is measured unless they are refused.
    pub(crate) fn conclude_trial(
        &mut self,
        progress: &mut TrialProgress,
        refuted: Option<String>,
    ) -> Result<(), RunStop> {
        let refuted = refuted.map(|reason| Outcome::Refused { reason });
        let refused = refuted.or_else(|| self.sampler.refusal(progress.trial));
        let outcome = refused.unwrap_or(Outcome::Measured);
        progress.measured = outcome == Outcome::Measured;
        self.end(progress, outcome)
    }

    /// Counts what each measured contender does inside. A count that fails has its reason in the
    /// counts and spoils nothing.
    fn count_all(&mut self, state_run: &StateRun) -> Result<(), RunStop> {
        let mut due = Vec::new();
        for progress in state_run.progresses.iter().filter(|it| it.measured && !it.counted) {
            match self.why_uncounted(state_run, progress) {
                Some(why) => self.keep_counts(progress.trial, uncounted(why))?,
                None => due.push(progress),
            }
        }
        for (at, some) in due.chunks(COUNTED_AT_ONCE).enumerate() {
            let so_far = self.progress_of_counting(state_run, &due[at * COUNTED_AT_ONCE..]);
            self.count_some(state_run, some, so_far)?;
        }
        let counted: Vec<TrialIndex> = due.iter().map(|it| it.trial).collect();
        self.count_again(state_run, &counted)
    }

    /// Why a trial is not counted, if so. What was counted in another state costs no more time.
    fn why_uncounted(&self, state_run: &StateRun, progress: &TrialProgress) -> Option<&'static str> {
        let is_late = state_run.clock.is_late(self.sampler.elapsed_ns());
        match progress.trial {
            trial if self.sampler.is_counted(trial) => None,
            trial if is_late && self.plan.is_control(trial) => Some(TIME_USED_UP),
            _ => self.is_left_behind(state_run, progress).then_some(LEFT_BEHIND),
        }
    }

    /// Counts again as often as the rules say, all trials in turn, so that all have about as many
    /// counts where time is short: half as long as all before, or to the end of a firm time.
    fn count_again(&mut self, state_run: &StateRun, counted: &[TrialIndex]) -> Result<(), RunStop> {
        let begun_ns = self.sampler.elapsed_ns();
        let time_ns = state_run.clock.since_start_ns(begun_ns) / RECOUNTING_PART;
        for _ in 1..self.plan.rules.counts {
            for some in counted.chunks(COUNTED_AT_ONCE) {
                let now_ns = self.sampler.elapsed_ns();
                let is_long = now_ns.saturating_sub(begun_ns) >= time_ns;
                if is_long || self.is_time_up(|now_ns| state_run.clock.is_counting_up(now_ns))? {
                    return Ok(());
                }
                let so_far = self.display.progress(1.0, now_ns);
                self.sink.about_to(Step::Count(some[0], so_far));
                let again = self.sampler.count_again(some);
                for (&trial, counts) in some.iter().zip(again) {
                    self.sink.append(Line::Counts { trial, counts: counts_or_reason(counts)? })?;
                }
            }
        }
        Ok(())
    }

    /// Counts what these contenders do inside, while the state has time for it.
    fn count_some(
        &mut self,
        state_run: &StateRun,
        some: &[&TrialProgress],
        so_far: Progress,
    ) -> Result<(), RunStop> {
        let is_up = self.is_time_up(|now_ns| state_run.clock.is_counting_up(now_ns))?;
        let is_due = |trial: &TrialIndex| !is_up || self.sampler.is_counted(*trial);
        let (due, late): (Vec<_>, Vec<_>) = some.iter().map(|it| it.trial).partition(is_due);
        for trial in late {
            self.keep_counts(trial, uncounted(TIME_USED_UP))?;
        }
        if let Some(&first) = due.first() {
            self.sink.about_to(Step::Count(first, so_far));
        }
        let counted = self.sampler.count(&due);
        for (trial, counts) in due.into_iter().zip(counted) {
            self.keep_counts(trial, counts_or_reason(counts)?)?;
        }
        Ok(())
    }

    fn keep_counts(&mut self, trial: TrialIndex, counts: BTreeMap<String, Count>) -> Result<(), RunStop> {
        self.sink.append(Line::Counts { trial, counts })?;
        self.measured.push(trial);
        Ok(())
    }

    /// Inspects what was measured, if that is wanted, when all rounds of all states are over, so
    /// that no round has less time or another cache because of an inspection. The current state of
    /// the cache comes first.
    pub(super) fn inspect_measured(&mut self) -> Result<(), RunStop> {
        if !self.sampler.inspects() {
            return Ok(());
        }
        let states = self.plan.states.iter().rev();
        let mut trials: Vec<TrialIndex> = states.flat_map(|&state| self.plan.trials_of(state)).collect();
        trials.retain(|trial| self.measured.contains(trial));
        for trial in trials {
            let budget = self.plan.rules.budget;
            let is_up = |now_ns| matches!(budget, Budget::Firm(time) if now_ns >= time.0);
            let lines = if self.is_time_up(is_up)? {
                self.sampler.not_inspected(trial, TIME_USED_UP)
            } else {
                self.sink.about_to(Step::Inspect(trial));
                self.sampler.inspect(trial)?
            };
            lines.into_iter().try_for_each(|line| self.sink.append(line))?;
        }
        Ok(())
    }
}

fn untried(end: EndReason) -> Outcome {
    let reason = match end {
        EndReason::Budget => "the time for the whole run was used up before the first reading",
        _ => "no other trial was left to race against",
    };
    Outcome::Unavailable { reason: reason.to_owned() }
}

fn counts_or_reason(
    counts: Result<BTreeMap<String, Count>, TrialEnd>,
) -> Result<BTreeMap<String, Count>, RunStop> {
    counts.or_else(|end| Ok(uncounted(end.outcome()?.reason().unwrap_or("it could not be counted"))))
}

fn uncounted(how: &str) -> BTreeMap<String, Count> {
    COUNTED.iter().map(|name| ((*name).to_owned(), Count { value: None, how: how.to_owned() })).collect()
}
