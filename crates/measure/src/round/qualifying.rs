//! Qualifying: which trials of a race get further rounds. A trial stops when a rival is faster by
//! more than matters; when one is left, the time that is left is for its confirmation and for the
//! intervals that a report needs most. Rivals do the same with the same bytes: what comes out of an
//! archive is not compared with its bytes.
//!
//! After each round the readings of all rivals, stopped ones included, say how noisy each of them
//! is ([`Field`]), and [`stats::stops`] says which of those that compete are behind. A stop never
//! changes what is reported: a trial keeps its readings and their interval. The trial that the
//! others are compared with must itself be possible, or it would stop all others.
//!
//! Whatever is decided follows from the readings and from which trials were stopped before. So a
//! run that was cut short goes on as it would have without.

use super::state_run::StateRun;
use super::trial_progress::TrialProgress;
use super::{Run, RunStop};
use crate::plan::{Focus, Plan, ROUNDS_MIN, Role};
use readlab_analysis::stats::{self, Confidence, Indifference, SharedVariance, Significance};
use readlab_record::{Contest, Line, Outcome, StopReason};

/// Two trials tie when the half-width of their ratio's interval is at most so many times the
/// requested precision of a median.
const TIE_PRECISIONS: f64 = 2.0;

/// The one that is left was chosen because its readings were fast. It has so many times as many
/// fresh rounds, so that they outweigh those by which it was chosen.
const FRESH_ROUNDS: u32 = 2;

/// The rivals of one contest that were read, and the noise that they share. They are named by their
/// places here.
struct Field {
    /// Their places in the state.
    places: Vec<usize>,
    shared: SharedVariance,
}

impl Field {
    fn new(state_run: &StateRun, plan: &Plan, contest: Contest) -> Field {
        let progresses = &state_run.progresses;
        let takes_part = |&at: &usize| {
            let it = &progresses[at];
            let is_rival = !plan.is_control(it.trial) && plan.contest(it.trial) == contest;
            is_rival && !it.ended && !it.walls.is_empty()
        };
        let places: Vec<usize> = (0..progresses.len()).filter(takes_part).collect();
        let shared = SharedVariance::new(places.iter().map(|&at| &progresses[at].walls));
        Field { places, shared }
    }

    fn place(&self, at: usize) -> Option<usize> {
        self.places.iter().position(|place| *place == at)
    }
}

impl Run<'_> {
    /// Stops the trials that need no further round, after a round of a state.
    pub(super) fn qualify(&mut self, state_run: &mut StateRun) -> Result<(), RunStop> {
        if self.plan.rules.focus != Focus::First {
            return Ok(());
        }
        let contests: Vec<Contest> = state_run.leaders(self.plan).into_keys().collect();
        // Without one that competes there is nothing to compare further readings with.
        for progress in &mut state_run.progresses {
            progress.is_refined &= contests.contains(&self.plan.contest(progress.trial));
        }
        contests.into_iter().try_for_each(|contest| self.qualify_in(state_run, contest))
    }

    /// The same in one contest.
    fn qualify_in(&mut self, state_run: &mut StateRun, contest: Contest) -> Result<(), RunStop> {
        let Some(leader) = self.leader(state_run, contest)? else { return Ok(()) };
        let field = Field::new(state_run, self.plan, contest);
        let running: Vec<usize> =
            (0..field.places.len()).filter(|&it| state_run.progresses[field.places[it]].competes()).collect();
        let zone = Indifference::within(self.plan.rules.indifference);
        let behind: Vec<usize> =
            stats::stops(&field.shared, &running, zone).into_iter().map(|stop| stop.trial).collect();
        for &it in &behind {
            if !self.is_needed(state_run, &field, leader, it) {
                self.stop(&mut state_run.progresses[field.places[it]], StopReason::NotFirst)?;
            }
        }
        let left: Vec<usize> = running.iter().copied().filter(|it| !behind.contains(it)).collect();
        let Some(first) = self.decided(&field, &left, leader) else { return Ok(()) };
        let winner = &state_run.progresses[field.places[first]];
        if self.waits_for_others(state_run, contest) || !self.is_confirmed(state_run, winner) {
            return Ok(());
        }
        if !self.refine(state_run, &field, first) {
            for at in running.into_iter().map(|it| field.places[it]) {
                if state_run.progresses[at].competes() {
                    self.stop(&mut state_run.progresses[at], StopReason::Decided)?;
                }
            }
        }
        Ok(())
    }

    /// The fastest trial of a contest that can still have rounds. One that cannot be true is
    /// refused here.
    fn leader(&mut self, state_run: &mut StateRun, contest: Contest) -> Result<Option<usize>, RunStop> {
        loop {
            let Some(&at) = state_run.leaders(self.plan).get(&contest) else { return Ok(None) };
            match self.refutation(&mut state_run.progresses[at])? {
                None => return Ok(Some(at)),
                Some(reason) => self.end(&mut state_run.progresses[at], Outcome::Refused { reason })?,
            }
        }
    }

    /// The fastest, if that is decided: one is left that no other is faster than, or, without an
    /// indifference zone, all that are left tie.
    fn decided(&self, field: &Field, left: &[usize], leader: usize) -> Option<usize> {
        if let [first] = left {
            return Some(*first);
        }
        let first = field.place(leader)?;
        let tie = TIE_PRECISIONS * self.plan.rules.precision;
        let ties = |&it: &usize| {
            let ends = field.shared.ratio(it, first).and_then(|ratio| ratio.ci95).map(|it| it.ends);
            it == first || ends.is_some_and(|ends| ends.holds(1.0) && ends.half_width() <= tie)
        };
        (self.plan.rules.indifference <= 0.0 && left.iter().all(ties)).then_some(first)
    }

    /// Whether the one that is left is precise, or has enough fresh rounds beside those by which it was
    /// chosen.
    fn is_confirmed(&self, state_run: &StateRun, winner: &TrialProgress) -> bool {
        let rules = &self.plan.rules;
        let rivals = state_run.progresses.iter().filter(|it| self.are_rivals(it, winner));
        let chosen_after = rivals.filter_map(|it| it.stopped_after).max().unwrap_or(0);
        let fresh = chosen_after.saturating_mul(FRESH_ROUNDS).min(rules.min_runs);
        winner.is_settled(rules) || winner.rounds() >= rules.min_runs.max(chosen_after.saturating_add(fresh))
    }

    /// Whether a rival has no reading yet and will have one if there is time.
    fn waits_for_others(&self, state_run: &StateRun, contest: Contest) -> bool {
        let waiting = self.waiting(state_run);
        let trials = waiting.into_iter().map(|at| state_run.progresses[at].trial);
        trials.filter(|&it| !self.plan.is_control(it)).any(|it| self.plan.contest(it) == contest)
    }

    /// Gives rounds to stopped trials whose intervals are asked for most, while there is time;
    /// whether there are any: those that share the first rank, the best way of each language, and
    /// its usual way as long as the two are not told apart.
    fn refine(&self, state_run: &mut StateRun, field: &Field, first: usize) -> bool {
        let is_late = state_run.clock.is_late(self.sampler.elapsed_ns());
        let is_asked_for = |it: usize| {
            let is_first_rank =
                || !matches!(field.shared.against_first(first, it), Some(Significance::Slower));
            self.is_open_way(state_run, field, it)
                || self.is_best_way(state_run, field, it)
                || is_first_rank()
        };
        let is_refined = |it: usize| {
            let progress = &state_run.progresses[field.places[it]];
            let is_out = progress.stopped == Some(StopReason::NotFirst);
            !is_late && is_out && progress.is_rough(&self.plan.rules) && is_asked_for(it)
        };
        let refined: Vec<bool> = (0..field.places.len()).map(is_refined).collect();
        for (&at, is_refined) in field.places.iter().zip(&refined) {
            state_run.progresses[at].is_refined = *is_refined;
        }
        refined.contains(&true)
    }

    fn are_rivals(&self, one: &TrialProgress, other: &TrialProgress) -> bool {
        self.plan.contest(one.trial) == self.plan.contest(other.trial)
    }

    /// Whether a trial has further rounds although another one is faster. The usual way of a
    /// language and its best have them until the two are told apart, or as many as an interval
    /// takes that needs no other trial. Once the state has had its time, which readings of seconds
    /// take in two rounds, only those of the leader's language have, and what the user named.
    fn is_needed(&self, state_run: &StateRun, field: &Field, leader: usize, it: usize) -> bool {
        let progress = &state_run.progresses[field.places[it]];
        let planned = self.plan.planned(progress.trial);
        let is_late = state_run.clock.is_late(self.sampler.elapsed_ns());
        match planned.role {
            Role::Baseline => return true,
            Role::Common => return !is_late,
            Role::Usual | Role::Candidate => {}
        }
        let leader = &state_run.progresses[leader];
        let is_own = planned.trial.contender() == self.plan.planned(leader.trial).trial.contender();
        progress.rounds() < ROUNDS_MIN && (!is_late || is_own) && self.is_open_way(state_run, field, it)
    }

    /// Whether a trial is the usual way of its language, or the best, and the two are not told
    /// apart.
    fn is_open_way(&self, state_run: &StateRun, field: &Field, it: usize) -> bool {
        let ways = self.ways(state_run, field, it);
        let usual = ways.iter().copied().find(|&way| self.role_of(state_run, field, way) == Role::Usual);
        let (Some(best), Some(usual)) = (self.best_of(state_run, field, &ways), usual) else { return false };
        if best == usual || it != best && it != usual {
            return false;
        }
        let ratio = field.shared.ratio_of_chosen(best, usual, ways.len() - 1);
        ratio.and_then(|ratio| ratio.clear()).is_none_or(|clear| clear == Significance::Tie)
    }

    /// Whether a trial is the fastest way of its language.
    fn is_best_way(&self, state_run: &StateRun, field: &Field, it: usize) -> bool {
        self.best_of(state_run, field, &self.ways(state_run, field, it)) == Some(it)
    }

    /// The trials of the same contender.
    fn ways(&self, state_run: &StateRun, field: &Field, it: usize) -> Vec<usize> {
        let contender =
            |it: usize| self.plan.planned(state_run.progresses[field.places[it]].trial).trial.contender();
        (0..field.places.len()).filter(|&other| contender(other) == contender(it)).collect()
    }

    fn best_of(&self, state_run: &StateRun, field: &Field, ways: &[usize]) -> Option<usize> {
        let median_ns =
            |it: usize| state_run.progresses[field.places[it]].median_ns().unwrap_or(f64::INFINITY);
        ways.iter().copied().min_by(|&a, &b| median_ns(a).total_cmp(&median_ns(b)))
    }

    fn role_of(&self, state_run: &StateRun, field: &Field, it: usize) -> Role {
        self.plan.planned(state_run.progresses[field.places[it]].trial).role
    }

    /// Whether another trial of a race is faster, by the readings of both, and not all others are
    /// compared with this one.
    pub(super) fn is_left_behind(&self, state_run: &StateRun, progress: &TrialProgress) -> bool {
        let role = self.plan.planned(progress.trial).role;
        let is_baseline = role == Role::Baseline || role == Role::Common && progress.stopped.is_none();
        if self.plan.rules.focus != Focus::First || is_baseline || self.plan.is_control(progress.trial) {
            return false;
        }
        let has_numbers = |it: &&TrialProgress| {
            let is_rival = self.are_rivals(it, progress);
            is_rival && it.measured && !self.plan.is_control(it.trial)
        };
        let medians = state_run.progresses.iter().filter(has_numbers);
        let medians = medians.filter_map(|it| it.median_ns().map(|median_ns| (median_ns, it)));
        let leader = medians.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, it)| it);
        let ratio = leader.and_then(|it| stats::ratio_at(&it.walls, &progress.walls, Confidence::REPORTED));
        progress.stopped == Some(StopReason::NotFirst) || ratio.is_some_and(|ends| ends.high < 1.0)
    }

    /// A trial has no further round; its process is ended.
    fn stop(&mut self, progress: &mut TrialProgress, why: StopReason) -> Result<(), RunStop> {
        progress.stopped = Some(why);
        if why != StopReason::NotFirst {
            return Ok(());
        }
        self.sampler.retire(progress.trial);
        let stopped = progress.stop(&self.plan.rules);
        progress.stopped_after = Some(stopped.rounds);
        Ok(self.sink.append(Line::Stopped { trial: progress.trial, stopped })?)
    }
}
