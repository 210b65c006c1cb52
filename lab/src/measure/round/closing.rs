//! The end of a state, and of a run: outcomes, what contenders do inside, and who is looked into. Why a state is over is decided by
//! the rounds.

use super::clock::StageClock;
use super::standing::Standing;
use super::{Run, Stop};
use crate::measure::plan::Budget;
use crate::measure::world::{Ending, Step};
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
        (standings, clock): (&mut [Standing], &StageClock),
        end: Result<EndReason, Stop>,
    ) -> Result<EndReason, Stop> {
        let judged = end.and_then(|reason| Ok((self.refuted(state, standings)?, reason)));
        let (refuted, end) = match judged {
            Ok((refuted, reason)) => (refuted, Ok(reason)),
            // A run that is stopped has no further turns.
            Err(stop) => {
                (standings.iter().map(|standing| self.doubt_when_stopped(standing)).collect(), Err(stop))
            }
        };
        self.conclude(standings, refuted, end.as_ref().ok().copied())?;
        match end {
            Ok(reason) => self.count(standings, clock).map(|()| reason),
            Err(stop) => Err(stop),
        }
    }

    /// Why the numbers of each cannot be true, in order, while everybody is still there to be asked again.
    fn refuted(
        &mut self,
        state: CacheState,
        standings: &mut [Standing],
    ) -> Result<Vec<Option<String>>, Stop> {
        let of = |standing: &mut Standing| {
            let has_numbers = !standing.ended && standing.fastest_ns.is_some();
            if has_numbers { self.refutation(state, standing) } else { Ok(None) }
        };
        standings.iter_mut().map(of).collect()
    }

    /// Everybody leaves; those whose samples stand are measured. `end` is why the stage is over; whoever got no turn
    /// in a run that was stopped has no outcome, and was only cut short.
    fn conclude(
        &mut self,
        standings: &mut [Standing],
        refuted: Vec<Option<String>>,
        end: Option<EndReason>,
    ) -> Result<(), Stop> {
        let left = standings.iter_mut().zip(refuted).filter(|(standing, _)| !standing.ended);
        for (standing, refuted) in left {
            if standing.fastest_ns.is_none() {
                let Some(end) = end else {
                    self.sampler.close(standing.trial);
                    continue;
                };
                self.announce(standing, &Params::default())?;
                self.end(standing, untried(end))?;
                continue;
            }
            let refuted = refuted.map(|reason| Outcome::Refused { reason });
            let refused = refuted.or_else(|| self.sampler.refusal(standing.trial));
            let outcome = refused.unwrap_or(Outcome::Measured);
            standing.measured = outcome == Outcome::Measured;
            self.end(standing, outcome)?;
        }
        Ok(())
    }

    /// Counts what each measured contender does inside. A count that fails is told with the counts, and spoils nothing.
    fn count(&mut self, standings: &[Standing], clock: &StageClock) -> Result<(), Stop> {
        let measured = |(_, it): &(usize, &Standing)| it.measured && !it.counted;
        for (at, standing) in standings.iter().enumerate().filter(measured) {
            let costs_nothing = self.sampler.is_counted(standing.trial);
            let counts = if !costs_nothing && clock.is_counting_up(self.sampler.elapsed_ns()) {
                uncounted(TIME_USED_UP)
            } else {
                let progress = self.progress_of_counting(&standings[at..], clock);
                self.sink.about_to(Step::Count(standing.trial, progress));
                match self.sampler.count(standing.trial) {
                    Ok(counts) => counts,
                    Err(Ending::Run(end) | Ending::Both(_, end)) => return Err(Stop::Ended(end)),
                    Err(Ending::Trial(outcome)) => {
                        uncounted(outcome.reason().unwrap_or("it could not be counted"))
                    }
                }
            };
            self.sink.append(Line::Counts { trial: standing.trial, counts })?;
            self.measured.push(standing.trial);
        }
        Ok(())
    }

    /// Looks inside what was measured, where that was asked for; when all rounds of all states are over, so that none of them has
    /// less time or another cache for it. The state that stands now comes first.
    pub(super) fn look_inside(&mut self) -> Result<(), Stop> {
        let states = self.plan.states.iter().rev().filter(|_| self.sampler.looks_inside());
        let trials: Vec<usize> = states.flat_map(|&state| self.plan.trials_of(state)).collect();
        for trial in trials.into_iter().filter(|trial| self.measured.contains(trial)).collect::<Vec<_>>() {
            let lines = if self.is_run_firmly_up() {
                self.sampler.not_inspected(trial, TIME_USED_UP)
            } else {
                self.sink.about_to(Step::LookInside(trial));
                self.sampler.look_inside(trial).map_err(Stop::Ended)?
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
