//! Qualifying: which trials of a race get further rounds. A trial stops when a rival is clearly
//! faster; when the fastest trial is known, or the fastest trials tie, all trials stop. Rivals do
//! the same with the same bytes: what comes out of an archive is not compared with its bytes.
//!
//! A stop never changes what is reported: a trial keeps its readings and their interval. The rules
//! look at readings after every round up to [`ROUNDS_MIN`], and then only after the rounds of
//! [`look_after`], each with its share of the error, so that many looks do not add up to a wrong
//! one. The trial that the others are compared with must itself be possible, or it would stop all
//! others.

use super::state_run::StateRun;
use super::trial_progress::TrialProgress;
use super::{Run, RunStop};
use crate::plan::{Focus, ROUNDS_MIN, Role};
use readlab_analysis::stats::{self, Confidence, look_after};
use readlab_record::{Contest, Line, Outcome, StopReason};
use std::collections::BTreeMap;

/// Two trials tie when the half-width of their ratio's interval is at most so many times the
/// requested precision of a median.
const TIE_PRECISIONS: f64 = 2.0;

/// By so much a trial must be slower than all readings of the leader but the slowest, which may
/// have been disturbed.
const CLEAR_MARGIN: f64 = 1.1;

/// How a trial compares with the fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// It is clearly slower.
    Slower,
    /// They tie.
    Tied,
    /// More readings may decide.
    Open,
}

impl Run<'_> {
    /// Stops the trials that need no further round, after a round of a state.
    pub(super) fn qualify(&mut self, state_run: &mut StateRun) -> Result<(), RunStop> {
        if self.plan.rules.focus != Focus::First {
            return Ok(());
        }
        let contests: Vec<Contest> = state_run.leaders(self.plan).into_keys().collect();
        contests.into_iter().try_for_each(|contest| self.qualify_in(state_run, contest))
    }

    /// The same in one contest.
    fn qualify_in(&mut self, state_run: &mut StateRun, contest: Contest) -> Result<(), RunStop> {
        let Some(leader) = self.leader(state_run, contest)? else { return Ok(()) };
        let rounds = state_run.progresses[leader].rounds();
        if rounds > ROUNDS_MIN && look_after(rounds).is_none() {
            return Ok(());
        }
        let compared = self.compare(state_run, leader);
        for (&at, _) in compared.iter().filter(|(_, it)| **it == Comparison::Slower) {
            if !self.is_needed(state_run, leader, at) {
                self.stop(&mut state_run.progresses[at], StopReason::NotFirst)?;
            }
        }
        let is_open = compared.values().any(|it| *it == Comparison::Open);
        let has_enough = |at: &usize| state_run.progresses[*at].rounds() >= self.plan.rules.min_runs;
        if !is_open && rounds > ROUNDS_MIN && compared.keys().chain([&leader]).all(has_enough) {
            for &at in compared.keys().chain([&leader]) {
                self.stop(&mut state_run.progresses[at], StopReason::Decided)?;
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

    /// How each of its rivals that has rounds compares with the leader.
    fn compare(&self, state_run: &StateRun, leader: usize) -> BTreeMap<usize, Comparison> {
        let progresses = &state_run.progresses;
        let mut compared = BTreeMap::new();
        for (at, other) in progresses.iter().enumerate() {
            let has_rounds = other.stopped.is_none() && !other.ended && !other.walls.is_empty();
            let is_rival = self.are_rivals(&progresses[leader], other);
            if at != leader && is_rival && has_rounds && !self.plan.is_control(other.trial) {
                compared.insert(at, self.comparison(&progresses[leader], other));
            }
        }
        compared
    }

    fn are_rivals(&self, one: &TrialProgress, other: &TrialProgress) -> bool {
        self.plan.contest(one.trial) == self.plan.contest(other.trial)
    }

    fn comparison(&self, leader: &TrialProgress, other: &TrialProgress) -> Comparison {
        let rounds = leader.rounds().min(other.rounds());
        if rounds <= ROUNDS_MIN {
            let is_slower = is_separate(leader, other, rounds);
            return if is_slower { Comparison::Slower } else { Comparison::Open };
        }
        let ratio_at = |confidence| stats::ratio_at(&leader.walls, &other.walls, confidence);
        let at_look = look_after(rounds).and_then(ratio_at);
        if at_look.is_some_and(|ends| ends.high < 1.0) {
            return Comparison::Slower;
        }
        let tie = TIE_PRECISIONS * self.plan.rules.precision;
        match ratio_at(Confidence::REPORTED) {
            Some(ends) if ends.holds(1.0) && ends.half_width() <= tie => Comparison::Tied,
            _ => Comparison::Open,
        }
    }

    /// Whether a trial has further rounds although the leader is faster. The ways of a language
    /// have as many as an interval needs. Once the state has had its time, which readings of
    /// seconds take in two rounds, only those of the leader's language have, and what the user
    /// named.
    fn is_needed(&self, state_run: &StateRun, leader: usize, at: usize) -> bool {
        let progress = &state_run.progresses[at];
        let planned = self.plan.planned(progress.trial);
        let is_late = state_run.clock.is_late(self.sampler.elapsed_ns());
        match planned.role {
            Role::Baseline => return true,
            Role::Common => return !is_late,
            Role::Usual | Role::Candidate => {}
        }
        let is_way = planned.role == Role::Usual || self.is_best_of_language(state_run, progress);
        let contender = |at: usize| self.plan.planned(state_run.progresses[at].trial).trial.contender();
        is_way && progress.rounds() < ROUNDS_MIN && (!is_late || contender(at) == contender(leader))
    }

    /// Whether a trial is the fastest of its contender.
    fn is_best_of_language(&self, state_run: &StateRun, progress: &TrialProgress) -> bool {
        let contender = |trial| self.plan.planned(trial).trial.contender();
        let own = state_run.progresses.iter().filter(|it| contender(it.trial) == contender(progress.trial));
        let is_rival = |it: &&TrialProgress| self.are_rivals(it, progress) && !self.plan.is_control(it.trial);
        let rivals = own.filter(is_rival).filter_map(TrialProgress::median_ns);
        let median_ns = progress.median_ns();
        median_ns.is_some_and(|median_ns| rivals.fold(f64::INFINITY, f64::min) >= median_ns)
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
        Ok(self.sink.append(Line::Stopped { trial: progress.trial, stopped })?)
    }
}

/// Whether another trial is slower than the leader by its readings alone, without an interval: its
/// fastest reading is slower than the leader's slowest.
///
/// Before [`ROUNDS_MIN`] rounds it must be slower by a margin which noise that leaves a ranking
/// possible does not bridge in all rounds. A trial that is slower by [`CLEAR_MARGIN`] stops even if
/// one reading of the leader was disturbed.
fn is_separate(leader: &TrialProgress, other: &TrialProgress, rounds: u32) -> bool {
    let margin = match rounds {
        0 | 1 => return false,
        2 => 2.0,
        3 => 1.25,
        4 => CLEAR_MARGIN,
        _ => 1.0,
    };
    let mut slowest: Vec<f64> = leader.walls.iter().map(|wall| wall.value).collect();
    slowest.sort_unstable_by(|a, b| b.total_cmp(a));
    let fastest = other.walls.iter().map(|wall| wall.value).fold(f64::INFINITY, f64::min);
    let is_beyond = |slowest: Option<&f64>, margin| slowest.is_some_and(|it| fastest > margin * it);
    let undisturbed = slowest.get(1).filter(|_| rounds >= ROUNDS_MIN);
    is_beyond(slowest.first(), margin) || is_beyond(undisturbed, CLEAR_MARGIN)
}
