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
struct Field<'a> {
    rivals: Vec<Rival<'a>>,
    shared: SharedVariance,
}

struct Rival<'a> {
    at: usize,
    contender: &'a str,
    role: Role,
    median_ns: f64,
}

impl<'a> Field<'a> {
    fn new(state_run: &StateRun, plan: &'a Plan, contest: Contest) -> Field<'a> {
        let mut rivals = Vec::new();
        for (at, it) in state_run.progresses.iter().enumerate() {
            let planned = plan.planned(it.trial);
            let is_rival = !planned.trial.is_control() && planned.trial.contest() == contest;
            if let Some(median_ns) = it.median_ns().filter(|_| is_rival && !it.ended) {
                let (contender, role) = (planned.trial.contender(), planned.role);
                rivals.push(Rival { at, contender, role, median_ns });
            }
        }
        let shared = SharedVariance::new(rivals.iter().map(|it| &state_run.progresses[it.at].walls));
        Field { rivals, shared }
    }

    fn ways(&self, it: usize) -> Vec<usize> {
        let contender = self.rivals[it].contender;
        (0..self.rivals.len()).filter(|&other| self.rivals[other].contender == contender).collect()
    }

    fn best_of(&self, ways: &[usize]) -> Option<usize> {
        let median_ns = |it: usize| self.rivals[it].median_ns;
        ways.iter().copied().min_by(|&a, &b| median_ns(a).total_cmp(&median_ns(b)))
    }

    /// Whether a trial is the usual way of its language, or the best, and the two are not told
    /// apart.
    fn is_open_way(&self, it: usize) -> bool {
        let ways = self.ways(it);
        let usual = ways.iter().copied().find(|&way| self.rivals[way].role == Role::Usual);
        let (Some(best), Some(usual)) = (self.best_of(&ways), usual) else { return false };
        if best == usual || it != best && it != usual {
            return false;
        }
        let ratio = self.shared.ratio_of_chosen(best, usual, ways.len() - 1);
        ratio.and_then(|ratio| ratio.clear()).is_none_or(|clear| clear == Significance::Tie)
    }

    /// Whether a trial is the fastest way of its language.
    fn is_best_way(&self, it: usize) -> bool {
        self.best_of(&self.ways(it)) == Some(it)
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

    fn qualify_in(&mut self, state_run: &mut StateRun, contest: Contest) -> Result<(), RunStop> {
        let Some(leader) = self.leader(state_run, contest)? else { return Ok(()) };
        let field = Field::new(state_run, self.plan, contest);
        let place = |it: usize| field.rivals[it].at;
        let mut running: Vec<usize> = (0..field.rivals.len()).collect();
        running.retain(|&it| state_run.progresses[place(it)].competes());
        let zone = Indifference::within(self.plan.rules.indifference);
        let behind: Vec<usize> =
            stats::stops(&field.shared, &running, zone).into_iter().map(|stop| stop.trial).collect();
        for &it in &behind {
            if !self.is_needed(state_run, &field, leader, it) {
                self.stop(&mut state_run.progresses[place(it)], StopReason::NotFirst)?;
            }
        }
        let left: Vec<usize> = running.iter().copied().filter(|it| !behind.contains(it)).collect();
        let Some(first) = self.decided(&field, &left, leader) else { return Ok(()) };
        let winner = &state_run.progresses[place(first)];
        if self.waits_for_others(state_run, contest) || !self.is_confirmed(state_run, winner) {
            return Ok(());
        }
        if !self.refine(state_run, &field, first) {
            for it in running {
                let progress = &mut state_run.progresses[place(it)];
                if progress.competes() {
                    self.stop(progress, StopReason::Decided)?;
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
        let first = field.rivals.iter().position(|rival| rival.at == leader)?;
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
            field.is_open_way(it) || field.is_best_way(it) || is_first_rank()
        };
        let mut any = false;
        for (it, rival) in field.rivals.iter().enumerate() {
            let progress = &mut state_run.progresses[rival.at];
            let is_out = progress.stopped == Some(StopReason::NotFirst);
            let may_improve = !is_late && is_out && progress.is_rough(&self.plan.rules);
            progress.is_refined = may_improve && is_asked_for(it);
            any |= progress.is_refined;
        }
        any
    }

    fn are_rivals(&self, one: &TrialProgress, other: &TrialProgress) -> bool {
        self.plan.contest(one.trial) == self.plan.contest(other.trial)
    }

    /// Whether a trial has further rounds although another one is faster. The usual way of a
    /// language and its best have them until the two are told apart, or as many as an interval
    /// takes that needs no other trial. Once the state has had its time, which readings of seconds
    /// take in two rounds, only those of the leader's language have, and what the user named.
    fn is_needed(&self, state_run: &StateRun, field: &Field, leader: usize, it: usize) -> bool {
        let rival = &field.rivals[it];
        let is_late = state_run.clock.is_late(self.sampler.elapsed_ns());
        match rival.role {
            Role::Baseline => return true,
            Role::Common => return !is_late,
            Role::Usual | Role::Candidate => {}
        }
        let is_own = rival.contender == self.planned(&state_run.progresses[leader]).trial.contender();
        let has_few = state_run.progresses[rival.at].rounds() < ROUNDS_MIN;
        has_few && (!is_late || is_own) && field.is_open_way(it)
    }

    /// Whether another trial of a race is faster, by the readings of both, and not all others are
    /// compared with this one.
    pub(super) fn is_left_behind(&self, state_run: &StateRun, progress: &TrialProgress) -> bool {
        let role = self.planned(progress).role;
        let is_baseline = role == Role::Baseline || role == Role::Common && progress.stopped.is_none();
        if self.plan.rules.focus != Focus::First || is_baseline || self.is_control(progress) {
            return false;
        }
        let has_numbers =
            |it: &&TrialProgress| self.are_rivals(it, progress) && it.measured && !self.is_control(it);
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
