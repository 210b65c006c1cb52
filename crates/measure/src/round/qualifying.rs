//! Qualifying decides which trials of a race get further rounds. A trial stops when a rival is
//! faster by more than the indifference zone. When one trial is left, the rest of the time is used
//! to confirm that trial and to narrow the intervals that a report needs most. Only trials that
//! deliver the same bytes are rivals: decoded content of an archive is not compared with the
//! archive's bytes.
//!
//! After each round, the noise of each rival is estimated from the readings of all rivals, stopped
//! ones included ([`ContestRivals`]), and [`stats::find_stops`] returns the competing trials that
//! are behind. A stop never changes what is reported: a trial keeps its readings and their
//! interval. The leader's own numbers must be plausible, because otherwise it would stop all other
//! trials.
//!
//! All decisions depend only on the readings and on the trials that were stopped before. So a
//! resumed run decides in the same way as a run without an interruption.

use super::state_run::StateRun;
use super::trial_progress::TrialProgress;
use super::{Run, RunResult};
use crate::plan::{Focus, Plan, ROUNDS_MIN, Role};
use readlab_analysis::stats::{self, Confidence, Indifference, SharedVariance, Significance};
use readlab_record::{Contest, Line, Outcome, StopReason};

/// Two trials tie if the half-width of their ratio's interval is at most this many times the
/// requested precision of a median.
const TIE_PRECISION_FACTOR: f64 = 2.0;

/// Number of further rounds that the winner gets, divided by the number of rounds by which it was
/// chosen. In the rounds of the choice the winner's readings are faster than on average, because
/// they decided the choice; the further rounds outweigh them.
const FRESH_ROUNDS_FACTOR: u32 = 2;

/// The rivals of one contest that have readings, and their pooled noise. Rivals are identified by
/// their index in `rivals`.
struct ContestRivals<'a> {
    rivals: Vec<Rival<'a>>,
    shared_variance: SharedVariance,
}

struct Rival<'a> {
    progress_index: usize,
    contender: &'a str,
    role: Role,
    median_ns: f64,
}

impl<'a> ContestRivals<'a> {
    fn new(state_run: &StateRun, plan: &'a Plan, contest: Contest) -> ContestRivals<'a> {
        let mut rivals = Vec::new();
        for (at, it) in state_run.progresses.iter().enumerate() {
            let planned = plan.planned_trial(it.trial);
            let is_rival = !planned.trial.is_control() && planned.trial.contest() == contest;
            if let Some(median_ns) = it.median_ns().filter(|_| is_rival && !it.has_ended) {
                let (contender, role) = (planned.trial.contender(), planned.role);
                rivals.push(Rival { progress_index: at, contender, role, median_ns });
            }
        }
        // The readings decide when this race ends, so the wider intervals of a decided race apply.
        // If time ends the race, its report has narrower intervals.
        let shared =
            SharedVariance::new(rivals.iter().map(|it| &state_run.progresses[it.progress_index].wall_times));
        ContestRivals { rivals, shared_variance: shared.of_decided_race() }
    }

    fn methods_of_language(&self, it: usize) -> Vec<usize> {
        let contender = self.rivals[it].contender;
        (0..self.rivals.len()).filter(|&other| self.rivals[other].contender == contender).collect()
    }

    fn fastest_of(&self, methods_of_language: &[usize]) -> Option<usize> {
        let median_ns = |it: usize| self.rivals[it].median_ns;
        methods_of_language.iter().copied().min_by(|&a, &b| median_ns(a).total_cmp(&median_ns(b)))
    }

    /// Whether a trial is the usual or the best method of its language, while the difference
    /// between these two methods is not clear.
    fn is_open_method(&self, it: usize) -> bool {
        let methods_of_language = self.methods_of_language(it);
        let usual =
            methods_of_language.iter().copied().find(|&method| self.rivals[method].role == Role::Usual);
        let (Some(best), Some(usual)) = (self.fastest_of(&methods_of_language), usual) else { return false };
        if best == usual || it != best && it != usual {
            return false;
        }
        let ratio = self.shared_variance.ratio_of_chosen(best, usual, methods_of_language.len() - 1);
        ratio.and_then(|ratio| ratio.significance()).is_none_or(|clear| clear == Significance::Tie)
    }

    /// Whether a trial is the fastest method of its language.
    fn is_best_method(&self, it: usize) -> bool {
        self.fastest_of(&self.methods_of_language(it)) == Some(it)
    }
}

impl Run<'_> {
    /// Stops the trials that need no further round. Called after each round of a state.
    pub(super) fn qualify(&mut self, state_run: &mut StateRun) -> RunResult {
        if self.plan.rules.focus != Focus::First {
            return Ok(());
        }
        let contests: Vec<Contest> = state_run.leaders(self.plan).into_keys().collect();
        // In a contest without a competing trial there is nothing to compare further readings with.
        for progress in &mut state_run.progresses {
            progress.has_refining_rounds &= contests.contains(&self.plan.contest(progress.trial));
        }
        contests.into_iter().try_for_each(|contest| self.qualify_in_contest(state_run, contest))
    }

    fn qualify_in_contest(&mut self, state_run: &mut StateRun, contest: Contest) -> RunResult {
        let Some(leader) = self.find_leader(state_run, contest)? else { return Ok(()) };
        let field = ContestRivals::new(state_run, self.plan, contest);
        let place = |it: usize| field.rivals[it].progress_index;
        let mut running: Vec<usize> = (0..field.rivals.len()).collect();
        running.retain(|&it| state_run.progresses[place(it)].competes());
        let zone = Indifference::within(self.plan.rules.indifference);
        let behind: Vec<usize> = stats::find_stops(&field.shared_variance, &running, zone)
            .into_iter()
            .map(|stop| stop.trial)
            .collect();
        for &it in &behind {
            if !self.is_needed(state_run, &field, leader, it) {
                self.stop_trial(&mut state_run.progresses[place(it)], StopReason::NotFirst)?;
            }
        }
        let left: Vec<usize> = running.iter().copied().filter(|it| !behind.contains(it)).collect();
        let Some(first) = self.decided_winner(&field, &left, leader) else { return Ok(()) };
        let winner = &state_run.progresses[place(first)];
        if self.has_waiting_trials(state_run, contest) || !self.is_confirmed(state_run, winner) {
            return Ok(());
        }
        if !self.resume_needed_trials(state_run, &field, first) {
            for it in running {
                let progress = &mut state_run.progresses[place(it)];
                if progress.competes() {
                    self.stop_trial(progress, StopReason::Decided)?;
                }
            }
        }
        Ok(())
    }

    /// The fastest among those trials of a contest that can still have rounds; `None` if there is
    /// none. A leader whose numbers cannot be true is refused here.
    fn find_leader(&mut self, state_run: &mut StateRun, contest: Contest) -> RunResult<Option<usize>> {
        loop {
            let Some(&at) = state_run.leaders(self.plan).get(&contest) else { return Ok(None) };
            match self.find_refutation(&mut state_run.progresses[at])? {
                None => return Ok(Some(at)),
                Some(reason) => self.end_trial(&mut state_run.progresses[at], Outcome::Refused { reason })?,
            }
        }
    }

    /// The fastest trial, if it is decided: only one trial is left, or, without an indifference
    /// zone, all trials that are left tie with the leader.
    fn decided_winner(&self, field: &ContestRivals, left: &[usize], leader: usize) -> Option<usize> {
        if let [first] = left {
            return Some(*first);
        }
        let first = field.rivals.iter().position(|rival| rival.progress_index == leader)?;
        let tie = TIE_PRECISION_FACTOR * self.plan.rules.precision;
        let ties = |&it: &usize| {
            let ends = field.shared_variance.ratio(it, first).and_then(|ratio| ratio.ci95).map(|it| it.ends);
            it == first || ends.is_some_and(|ends| ends.holds(1.0) && ends.half_width() <= tie)
        };
        (self.plan.rules.indifference <= 0.0 && left.iter().all(ties)).then_some(first)
    }

    /// Whether the winner is precise, or has enough further rounds after those by which it was
    /// chosen.
    fn is_confirmed(&self, state_run: &StateRun, winner: &TrialProgress) -> bool {
        let rules = &self.plan.rules;
        let rivals = state_run.progresses.iter().filter(|it| self.are_rivals(it, winner));
        let chosen_after = rivals.filter_map(|it| it.rounds_at_stop).max().unwrap_or(0);
        let fresh = chosen_after.saturating_mul(FRESH_ROUNDS_FACTOR).min(rules.min_readings);
        winner.is_settled(rules)
            || winner.round_count() >= rules.min_readings.max(chosen_after.saturating_add(fresh))
    }

    /// Whether the contest has a trial that has no reading yet and gets one if there is time.
    fn has_waiting_trials(&self, state_run: &StateRun, contest: Contest) -> bool {
        let waiting = self.waiting_trials(state_run);
        let trials = waiting.into_iter().map(|at| state_run.progresses[at].trial);
        trials.filter(|&it| !self.plan.is_control(it)).any(|it| self.plan.contest(it) == contest)
    }

    /// Gives further rounds to stopped trials whose intervals are needed most, while there is time:
    /// trials that share the first rank, the best method of each language, and its usual method as
    /// long as the difference between the two is not clear. Returns whether any trial is resumed.
    fn resume_needed_trials(&self, state_run: &mut StateRun, field: &ContestRivals, first: usize) -> bool {
        let is_late = state_run.clock.is_time_used_up(self.sampler.elapsed_ns());
        let is_asked_for = |it: usize| {
            let is_first_rank = || {
                !matches!(
                    field.shared_variance.significance_against_first(first, it),
                    Some(Significance::Slower)
                )
            };
            field.is_open_method(it) || field.is_best_method(it) || is_first_rank()
        };
        let mut any = false;
        for (it, rival) in field.rivals.iter().enumerate() {
            let progress = &mut state_run.progresses[rival.progress_index];
            let is_out = progress.stop_reason == Some(StopReason::NotFirst);
            let may_improve = !is_late && is_out && progress.is_imprecise(&self.plan.rules);
            progress.has_refining_rounds = may_improve && is_asked_for(it);
            any |= progress.has_refining_rounds;
        }
        any
    }

    fn are_rivals(&self, one: &TrialProgress, other: &TrialProgress) -> bool {
        self.plan.contest(one.trial) == self.plan.contest(other.trial)
    }

    /// Whether a trial has further rounds although another is faster. The usual and the best method
    /// of a language have further rounds until their difference is clear, or until they have enough
    /// rounds for an interval without the shared noise. Once the time of the state is used up, only
    /// the methods of the leader's language and the baseline that the user named have further
    /// rounds.
    fn is_needed(&self, state_run: &StateRun, field: &ContestRivals, leader: usize, it: usize) -> bool {
        let rival = &field.rivals[it];
        let is_late = state_run.clock.is_time_used_up(self.sampler.elapsed_ns());
        match rival.role {
            Role::Baseline => return true,
            Role::SuiteBaseline => return !is_late,
            Role::Usual | Role::Candidate => {}
        }
        let is_own = rival.contender == self.planned_trial(&state_run.progresses[leader]).trial.contender();
        let has_few = state_run.progresses[rival.progress_index].round_count() < ROUNDS_MIN;
        has_few && (!is_late || is_own) && field.is_open_method(it)
    }

    /// Whether a trial of a race is no baseline and is slower than the fastest trial: the trial was
    /// stopped for that reason, or the readings of the two trials show it.
    pub(super) fn is_left_behind(&self, state_run: &StateRun, progress: &TrialProgress) -> bool {
        let role = self.planned_trial(progress).role;
        let is_baseline =
            role == Role::Baseline || role == Role::SuiteBaseline && progress.stop_reason.is_none();
        if self.plan.rules.focus != Focus::First || is_baseline || self.is_control(progress) {
            return false;
        }
        let has_numbers =
            |it: &&TrialProgress| self.are_rivals(it, progress) && it.is_measured && !self.is_control(it);
        let medians = state_run.progresses.iter().filter(has_numbers);
        let medians = medians.filter_map(|it| it.median_ns().map(|median_ns| (median_ns, it)));
        let leader = medians.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, it)| it);
        let ratio = leader
            .and_then(|it| stats::ratio_interval(&it.wall_times, &progress.wall_times, Confidence::REPORTED));
        progress.stop_reason == Some(StopReason::NotFirst) || ratio.is_some_and(|ends| ends.high < 1.0)
    }

    /// Stops a trial, so that it has no further round. If it stops because another trial is faster,
    /// also retires its contender and records the stop.
    fn stop_trial(&mut self, progress: &mut TrialProgress, why: StopReason) -> RunResult {
        progress.stop_reason = Some(why);
        if why != StopReason::NotFirst {
            return Ok(());
        }
        self.sampler.retire_session(progress.trial);
        let stopped = progress.describe_stop(&self.plan.rules);
        progress.rounds_at_stop = Some(stopped.rounds);
        Ok(self.sink.append(Line::Stopped { trial: progress.trial, stopped })?)
    }
}
