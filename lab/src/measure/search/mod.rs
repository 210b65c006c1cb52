//! Carries out a search: rung after rung every candidate that is left is read once, from a proven
//! state and in shuffled order, and the slower ones leave; then the chosen are measured afresh, as
//! in any race.
//!
//! Who leaves is decided by [`crate::analysis::stats::Search`]; what a turn is, and what becomes of
//! one that fails, is that of [`super::round`]. Readings of the search carry their rung, and no
//! number is told from them.

#[cfg(test)]
mod tests;

use super::interface::{Sampler, Sink, Step};
use super::plan::Plan;
use super::round::clock::StageClock;
use super::round::resume_state::NextRound;
use super::round::trial_progress::TrialProgress;
use super::round::turn::Slot;
use super::round::{ResumeState, Run, RunStop, execute};
use crate::analysis::stats::{EXHAUSTIVE_READINGS, Observation, Search, SearchRules, quantile};
use crate::contender::roster::Warmup;
use crate::contender::snippet::is_easy;
use crate::record::{EndReason, RecordError, Trial};
use crate::trial::{CacheState, TrialId};
use std::collections::BTreeSet;

/// Share of a state's time that its search may take: what it finds must still be measured.
const SEARCH_SHARE: f64 = 0.7;

/// The chosen of a search: the winner and the runner-up.
const CHOSEN: usize = 2;

/// What is searched.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// Everybody who takes part. Its rules are those of the fresh measurement.
    pub plan: Plan,
    /// The trials among which the fastest is searched.
    pub candidates: BTreeSet<usize>,
    /// The trials that are measured afresh in any case: the reference.
    pub always: BTreeSet<usize>,
    /// The candidates that are easy to have in a program: the best of them is measured afresh
    /// beside the chosen.
    pub easy: BTreeSet<usize>,
}

/// Carries out a search in each state of its plan; every trial that was announced gets its outcome.
///
/// # Errors
/// Only if the record cannot be written. Everything else is an outcome.
pub fn run(
    tuning: &Tuning,
    sampler: &mut dyn Sampler,
    sink: &mut dyn Sink,
) -> Result<EndReason, RecordError> {
    let begun = (&tuning.plan, ResumeState::default());
    execute(begun, (sampler, sink), |run, state, parts| run.tune(tuning, state, parts))
}

impl Tuning {
    /// A search among the candidates of a plan, with a reference that is measured in any case.
    /// Settings past the page cache are searched among the cold only.
    #[must_use]
    pub fn of(mut plan: Plan, candidates: &[TrialId], reference: Option<&TrialId>) -> Tuning {
        let ids: BTreeSet<&TrialId> = candidates.iter().collect();
        plan.absent.retain(|(trial, _)| !(trial.bypasses_cache() && ids.contains(&trial.id)));
        let trials = || plan.trials.iter().map(|planned| &planned.trial);
        let is_candidate = |trial: &&Trial| ids.contains(&trial.id);
        let of = |trial: &Trial| trial.index;
        let always = trials().filter(|trial| Some(&trial.id) == reference).map(of).collect();
        let easy = trials().filter(is_candidate).filter(|trial| is_easy(&trial.id.method)).map(of).collect();
        Tuning { candidates: trials().filter(is_candidate).map(of).collect(), always, easy, plan }
    }

    /// The candidates of one state.
    fn candidates_of(&self, state: CacheState) -> Vec<usize> {
        let mut trials = self.plan.trials_of(state);
        trials.retain(|trial| self.candidates.contains(trial));
        trials
    }

    fn rules(&self, state: CacheState) -> SearchRules {
        let beside = self.plan.trials_of(state).iter().filter(|trial| self.always.contains(trial)).count();
        let measured = CHOSEN + beside + usize::from(!self.easy.is_empty());
        let candidates = self.candidates_of(state).len();
        SearchRules::for_candidates(candidates, measured * EXHAUSTIVE_READINGS, self.plan.rules.seed)
    }

    /// Who is measured afresh: the two best, the best that is easy to have, and who is in any case.
    fn chosen(&self, search: &Search) -> BTreeSet<usize> {
        let best = search.best_first();
        let easy = best.iter().find(|trial| self.easy.contains(trial));
        let always = self.always.iter().filter(|_| !best.is_empty());
        best.iter().take(CHOSEN).chain(easy).chain(always).copied().collect()
    }
}

impl Run<'_> {
    /// The sentence: rungs until few are left and told apart, the chosen measured afresh, every
    /// outcome written.
    fn tune(&mut self, tuning: &Tuning, state: CacheState, parts: usize) -> Result<EndReason, RunStop> {
        let trials = self.plan.trials_of(state);
        self.sink.about_to(Step::Stage(state, trials.len()));
        self.forget_controls();
        let mut progresses: Vec<TrialProgress> = trials.into_iter().map(TrialProgress::new).collect();
        let clock = StageClock::start(self.plan, self.sampler.elapsed_ns(), parts);
        let mut search = Search::new(tuning.candidates_of(state), tuning.rules(state));
        let searched = self.rungs(state, &mut search, (&mut progresses, &clock.first_part(SEARCH_SHARE)));
        let end = match searched {
            Ok(searched) => self
                .afresh(state, &search, tuning, (&mut progresses, &clock))
                .map(|measured| if measured == EndReason::Settled { searched } else { measured }),
            Err(stop) => Err(stop),
        };
        self.close(state, (&mut progresses, &clock), end)
    }

    /// Rung after rung, until the search has seen enough or its time is up.
    fn rungs(
        &mut self,
        state: CacheState,
        search: &mut Search,
        (progresses, clock): (&mut Vec<TrialProgress>, &StageClock),
    ) -> Result<EndReason, RunStop> {
        while !search.is_over() {
            if clock.is_firmly_up(self.sampler.elapsed_ns()) {
                return Ok(EndReason::Budget);
            }
            let rung = search.rung();
            if state == CacheState::Warm && !self.filled(rung, progresses)? {
                return Ok(EndReason::Settled);
            }
            if self.rung(state, search, (progresses, clock))? == EndReason::Budget {
                return Ok(EndReason::Budget);
            }
            search.close_rung();
            let of_stage = SEARCH_SHARE * clock.share(self.sampler.elapsed_ns());
            let progress = self.progress_with(of_stage);
            self.sink.about_to(Step::RoundOver(progress));
        }
        Ok(EndReason::Settled)
    }

    /// Everybody who is left, and the controls, once in shuffled order.
    fn rung(
        &mut self,
        state: CacheState,
        search: &mut Search,
        (progresses, clock): (&mut [TrialProgress], &StageClock),
    ) -> Result<EndReason, RunStop> {
        let (rung, left) = (search.rung(), search.left());
        let takes_part = |progress: &TrialProgress| {
            !progress.ended && (left.contains(&progress.trial) || self.is_control(progress.trial))
        };
        let live: Vec<usize> = (0..progresses.len()).filter(|&at| takes_part(&progresses[at])).collect();
        let slot = Slot { state, fill: rung, round: rung, rung: Some(rung) };
        let of = u32::try_from(live.len()).unwrap_or(u32::MAX);
        for (position, at) in (0..).zip(self.plan.order(state, rung, &live)) {
            if clock.is_firmly_up(self.sampler.elapsed_ns()) {
                return Ok(EndReason::Budget);
            }
            let progress = &mut progresses[at];
            if !progress.announced {
                self.seat(progress)?;
            }
            if !progress.ended {
                self.sink.about_to(Step::Turn(progress.trial, rung, position, of));
                self.turn(&slot, position, progress)?;
            }
            self.tell(search, progress);
            self.dismiss(progress);
        }
        Ok(EndReason::Settled)
    }

    /// What the search learns of a candidate's turn.
    fn tell(&self, search: &mut Search, progress: &TrialProgress) {
        if self.is_control(progress.trial) {
            return;
        }
        match turn_wall_ns(&progress.walls, search.rung()) {
            Some(wall_ns) if !progress.ended => search.take(progress.trial, wall_ns),
            _ => search.fail(progress.trial),
        }
    }

    /// Hundreds of candidates do not wait side by side: each is started anew for its next turn,
    /// unless its start is long.
    fn dismiss(&mut self, progress: &TrialProgress) {
        if self.plan.planned(progress.trial).warmup != Warmup::UntilSteady {
            self.sampler.close(progress.trial);
        }
    }

    /// New processes, new fills, new rounds for the chosen, whatever was found of them before.
    fn afresh(
        &mut self,
        state: CacheState,
        search: &Search,
        tuning: &Tuning,
        (progresses, clock): (&mut Vec<TrialProgress>, &StageClock),
    ) -> Result<EndReason, RunStop> {
        let chosen = tuning.chosen(search);
        if chosen.is_empty() {
            return Ok(EndReason::Settled);
        }
        let takes_part =
            |progress: &TrialProgress| chosen.contains(&progress.trial) || self.is_control(progress.trial);
        let (mut fresh, others): (Vec<_>, Vec<_>) = progresses.drain(..).partition(takes_part);
        for progress in &mut fresh {
            self.sampler.close(progress.trial);
            progress.forget();
        }
        let next = search.rung() + 1;
        let first = NextRound { round: next, fill: next };
        let end = self.rounds_and_limits(state, first, (&mut fresh, clock));
        progresses.extend(fresh.into_iter().chain(others));
        end
    }
}

/// The median of the readings of one turn; `None` where it had none.
fn turn_wall_ns(walls: &[Observation], round: u32) -> Option<f64> {
    let mut values: Vec<f64> =
        walls.iter().filter(|wall| wall.round == round).map(|wall| wall.value).collect();
    values.sort_unstable_by(f64::total_cmp);
    (!values.is_empty()).then(|| quantile(&values, 0.5))
}
