//! The end of a state, and of a run: outcomes, what contenders do inside, and who is looked into.
//! Why a state is over is decided by the rounds.

use super::clock::StageClock;
use super::trial_progress::TrialProgress;
use super::{Run, RunStop};
use crate::measure::interface::{Step, TrialEnd};
use crate::measure::plan::Budget;
use crate::record::{Count, EndReason, Line, Outcome};
use crate::trial::{CacheState, Params};
use std::collections::BTreeMap;

/// Why something after the rounds was left out.
const TIME_USED_UP: &str = "the time for the whole run was used up";

/// What is counted of every contender.
const COUNTED: [&str; 2] = ["mallocs", "syscalls"];

impl Run<'_> {
    /// The end of a state: every trial gets its outcome, and what contenders do inside is counted.
    pub(in crate::measure) fn close(
        &mut self,
        state: CacheState,
        (progresses, clock): (&mut [TrialProgress], &StageClock),
        end: Result<EndReason, RunStop>,
    ) -> Result<EndReason, RunStop> {
        let judged = end.and_then(|reason| Ok((self.refuted(state, progresses)?, reason)));
        let (refuted, end) = match judged {
            Ok((refuted, reason)) => (refuted, Ok(reason)),
            // A run that is stopped has no further turns.
            Err(stop) => {
                (progresses.iter().map(|progress| self.doubt_when_stopped(progress)).collect(), Err(stop))
            }
        };
        self.conclude(progresses, refuted, end.as_ref().ok().copied())?;
        match end {
            Ok(reason) => self.count(progresses, clock).map(|()| reason),
            Err(stop) => Err(stop),
        }
    }

    /// Why the numbers of each cannot be true, in order, while everybody is still there to be asked
    /// again.
    fn refuted(
        &mut self,
        state: CacheState,
        progresses: &mut [TrialProgress],
    ) -> Result<Vec<Option<String>>, RunStop> {
        let of = |progress: &mut TrialProgress| {
            let has_numbers = !progress.ended && progress.fastest_ns.is_some();
            if has_numbers { self.refutation(state, progress) } else { Ok(None) }
        };
        progresses.iter_mut().map(of).collect()
    }

    /// Everybody leaves; those whose samples stand are measured. `end` is why the stage is over;
    /// whoever got no turn in a run that was stopped has no outcome, and was only cut short.
    fn conclude(
        &mut self,
        progresses: &mut [TrialProgress],
        refuted: Vec<Option<String>>,
        end: Option<EndReason>,
    ) -> Result<(), RunStop> {
        let left = progresses.iter_mut().zip(refuted).filter(|(progress, _)| !progress.ended);
        for (progress, refuted) in left {
            if progress.fastest_ns.is_none() {
                let Some(end) = end else {
                    self.sampler.close(progress.trial);
                    continue;
                };
                self.announce(progress, &Params::default())?;
                self.end(progress, untried(end))?;
                continue;
            }
            let refuted = refuted.map(|reason| Outcome::Refused { reason });
            let refused = refuted.or_else(|| self.sampler.refusal(progress.trial));
            let outcome = refused.unwrap_or(Outcome::Measured);
            progress.measured = outcome == Outcome::Measured;
            self.end(progress, outcome)?;
        }
        Ok(())
    }

    /// Counts what each measured contender does inside. A count that fails is told with the counts,
    /// and spoils nothing.
    fn count(&mut self, progresses: &[TrialProgress], clock: &StageClock) -> Result<(), RunStop> {
        let measured = |(_, it): &(usize, &TrialProgress)| it.measured && !it.counted;
        for (at, progress) in progresses.iter().enumerate().filter(measured) {
            let costs_nothing = self.sampler.is_counted(progress.trial);
            let counts = if !costs_nothing && clock.is_counting_up(self.sampler.elapsed_ns()) {
                uncounted(TIME_USED_UP)
            } else {
                let so_far = self.progress_of_counting(&progresses[at..], clock);
                self.sink.about_to(Step::Count(progress.trial, so_far));
                match self.sampler.count(progress.trial) {
                    Ok(counts) => counts,
                    Err(TrialEnd::Run(end) | TrialEnd::Both(_, end)) => return Err(RunStop::Ended(end)),
                    Err(TrialEnd::Trial(outcome)) => {
                        uncounted(outcome.reason().unwrap_or("it could not be counted"))
                    }
                }
            };
            self.sink.append(Line::Counts { trial: progress.trial, counts })?;
            self.measured.push(progress.trial);
        }
        Ok(())
    }

    /// Looks inside what was measured, where that was asked for; when all rounds of all states are
    /// over, so that none of them has less time or another cache for it. The state that stands now
    /// comes first.
    pub(super) fn look_inside(&mut self) -> Result<(), RunStop> {
        let states = self.plan.states.iter().rev().filter(|_| self.sampler.looks_inside());
        let trials: Vec<usize> = states.flat_map(|&state| self.plan.trials_of(state)).collect();
        for trial in trials.into_iter().filter(|trial| self.measured.contains(trial)).collect::<Vec<_>>() {
            let lines = if self.is_run_firmly_up() {
                self.sampler.not_inspected(trial, TIME_USED_UP)
            } else {
                self.sink.about_to(Step::LookInside(trial));
                self.sampler.look_inside(trial).map_err(RunStop::Ended)?
            };
            lines.into_iter().try_for_each(|line| self.sink.append(line))?;
        }
        Ok(())
    }

    /// Whether a firm time for the whole run is used up.
    fn is_run_firmly_up(&self) -> bool {
        let budget = self.plan.rules.budget;
        matches!(budget, Budget::Firm(time) if self.sampler.elapsed_ns() >= time.0)
    }
}

/// What becomes of a trial that was asked for and never got a turn.
fn untried(end: EndReason) -> Outcome {
    let reason = match end {
        EndReason::Budget => "the time for the whole run was used up before the first reading",
        _ => "nobody was left to race against",
    };
    Outcome::Unavailable { reason: reason.to_owned() }
}

/// Counts that could not be made, each with the reason.
fn uncounted(how: &str) -> BTreeMap<String, Count> {
    COUNTED.iter().map(|name| ((*name).to_owned(), Count { value: None, how: how.to_owned() })).collect()
}
