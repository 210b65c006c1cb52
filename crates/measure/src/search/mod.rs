//! The order of a search. In each rung, some candidates are read once, from a proven cache state
//! and in shuffled order; their times decide which candidates the next rung reads. Then the chosen
//! candidates are measured afresh, as in any race. For candidates that were never read, the record
//! has the prediction of the search model.
//!
//! [`readlab_analysis::stats::Search`] decides which candidates are read; [`super::round`] defines
//! a turn and what happens if it fails. Readings of the search carry the number of their rung;
//! reported numbers never use them.

#[cfg(test)]
mod tests;

use super::interface::{Sampler, Sink, Slot, Step};
use super::plan::Plan;
use super::round::resume_state::NextRound;
use super::round::state_clock::StateClock;
use super::round::state_run::StateRun;
use super::round::trial_progress::TrialProgress;
use super::round::{ResumeState, Run, RunResult};
use readlab_analysis::stats::{
    EXHAUSTIVE_READINGS_PER_CANDIDATE, PredictedRatio, Search, SearchRules, SearchSetting, float, median,
    whole,
};
use readlab_catalog::roster::Warmup;
use readlab_catalog::snippet::needs_only_language;
use readlab_model::trial::{CacheState, Params, TrialId, TrialIndex};
use readlab_record::{EndReason, Outcome, Prediction, RecordError, Trial};
use std::collections::{BTreeMap, BTreeSet};

/// Share of a state's time that its search may take; the rest is for measuring the chosen
/// candidates.
const SEARCH_SHARE: f64 = 0.7;

/// Number of best candidates that are measured afresh: the winner and the runner-up.
const BEST_COUNT_MEASURED_AFRESH: usize = 2;

#[derive(Debug, Clone, PartialEq)]
pub struct SearchPlan {
    /// All trials, with the rules of the fresh measurement.
    pub plan: Plan,
    pub candidates: BTreeSet<TrialIndex>,
    /// The reference trials, which are always measured afresh.
    pub references: BTreeSet<TrialIndex>,
    /// Candidates that are easy to use in a program; the best of these is measured afresh, too.
    pub easy_candidates: BTreeSet<TrialIndex>,
}

/// Executes a search in each state of its plan; every trial that was announced gets an outcome.
pub fn run(
    tuning: &SearchPlan,
    sampler: &mut dyn Sampler,
    sink: &mut dyn Sink,
) -> Result<EndReason, RecordError> {
    let run = Run::new(&tuning.plan, ResumeState::default(), sampler, sink);
    run.execute(|run, state_run| run.search_and_measure(tuning, state_run))
}

impl SearchPlan {
    /// A search among the candidates of a plan, with a reference that is always measured. Settings
    /// that bypass the page cache are searched only in the cold state.
    pub fn new(mut plan: Plan, candidates: &[TrialId], reference: Option<&TrialId>) -> SearchPlan {
        let ids: BTreeSet<&TrialId> = candidates.iter().collect();
        plan.absent_trials.retain(|(trial, _)| !(trial.bypasses_cache() && ids.contains(&trial.id)));
        let trials = || plan.trials.iter().map(|planned| &planned.trial);
        let is_candidate = |trial: &&Trial| ids.contains(&trial.id);
        let of = |trial: &Trial| trial.index;
        let references = trials().filter(|trial| Some(&trial.id) == reference).map(of).collect();
        let easy_candidates = trials()
            .filter(is_candidate)
            .filter(|trial| needs_only_language(&trial.id.method))
            .map(of)
            .collect();
        SearchPlan {
            candidates: trials().filter(is_candidate).map(of).collect(),
            references,
            easy_candidates,
            plan,
        }
    }

    fn candidates_in_state(&self, state: CacheState) -> Vec<TrialIndex> {
        let mut trials = self.plan.trials_in_state(state);
        trials.retain(|trial| self.candidates.contains(trial));
        trials
    }

    /// The inputs of the search model for each candidate: its method, the level of each parameter,
    /// and the index of its scan. If a candidate leaves out a parameter that other candidates of
    /// its method set, the parameter has its default value, which counts as the lowest level.
    fn model_settings(&self, state: CacheState) -> Vec<(TrialIndex, SearchSetting)> {
        let candidates = self.candidates_in_state(state);
        let id = |&trial: &TrialIndex| &self.plan.planned_trial(trial).trial.id;
        let of_method = |id: &TrialId| (id.method.contender.clone(), id.method.method.clone());
        let mut values = BTreeMap::<&str, BTreeSet<u64>>::new();
        let (mut methods, mut named) = (BTreeMap::<_, BTreeSet<_>>::new(), BTreeSet::new());
        for id in candidates.iter().map(id) {
            methods.entry(of_method(id)).or_default().insert(id.method.scan.clone());
            for (name, &value) in &id.params.0 {
                values.entry(Params::short_name(name)).or_default().insert(value);
                named.insert((of_method(id), Params::short_name(name)));
            }
        }
        let setting = |id: &TrialId| {
            let method = of_method(id);
            let level = |(&name, values): (&&str, &BTreeSet<u64>)| {
                let own = id.params.0.iter().find(|(its, _)| Params::short_name(its) == name);
                own.map(|(_, value)| 1 + values.range(..value).count())
                    .or_else(|| named.contains(&(method.clone(), name)).then_some(0))
            };
            let scan = methods[&method].range(..id.method.scan.clone()).count();
            let levels = values.iter().map(level).chain([Some(scan)]).collect();
            SearchSetting { method: methods.range(..method.clone()).count(), levels }
        };
        candidates.iter().map(|trial| (*trial, setting(id(trial)))).collect()
    }

    fn search_rules(&self, state: CacheState) -> SearchRules {
        let references =
            self.plan.trials_in_state(state).iter().filter(|trial| self.references.contains(trial)).count();
        let measured =
            BEST_COUNT_MEASURED_AFRESH + references + usize::from(!self.easy_candidates.is_empty());
        let candidates = self.candidates_in_state(state).len();
        SearchRules::for_candidates(
            candidates,
            measured * EXHAUSTIVE_READINGS_PER_CANDIDATE,
            self.plan.rules.seed,
        )
    }

    /// The trials of a state that are measured afresh: the best candidate, the reference, the other
    /// best candidates, and the best easy candidate. If there is time for only `count_max`, the
    /// first of these.
    fn trials_to_measure_afresh(
        &self,
        state: CacheState,
        search: &Search<TrialIndex>,
        count_max: usize,
    ) -> BTreeSet<TrialIndex> {
        let best = search.best_first();
        let Some(leader) = best.first() else { return BTreeSet::new() };
        let of_state = self.plan.trials_in_state(state);
        let easy_candidate = best.iter().find(|trial| self.easy_candidates.contains(trial));
        let by_importance = [leader]
            .into_iter()
            .chain(of_state.iter().filter(|trial| self.references.contains(trial)))
            .chain(best.iter().take(BEST_COUNT_MEASURED_AFRESH).skip(1))
            .chain(easy_candidate);
        // The best candidate may be the reference or an easy candidate, too.
        let mut chosen = BTreeSet::new();
        for &trial in by_importance {
            if chosen.len() < count_max {
                chosen.insert(trial);
            }
        }
        chosen
    }
}

struct StateSearch {
    search: Search<TrialIndex>,
    /// The part of the state's time that the search may take.
    clock: StateClock,
    /// Duration of the last fill; 0 if the state needs none.
    fill_ns: u64,
    /// Duration of each turn of a candidate so far, its start included.
    turn_times_ns: Vec<u64>,
}

impl StateSearch {
    /// Whether no further turn of the search may begin: its time is used up, or a turn that takes
    /// as long as the longest so far would leave no time to measure the fastest candidate afresh.
    /// Before the first turn there is nothing to measure afresh, so that turn begins in any case.
    fn is_time_up(&self, of_state: &StateClock, now_ns: u64) -> bool {
        let turns = self.turn_times_ns.iter().max().zip(self.turn_times_ns.iter().min());
        turns.is_some_and(|(longest_ns, shortest_ns)| {
            let needed_ns = self.fill_ns.saturating_add(*longest_ns).saturating_add(*shortest_ns);
            self.clock.is_firm_time_up(now_ns) || of_state.firm_time_ends_within(now_ns, needed_ns)
        })
    }

    /// Number of trials, at least one and at most `count_max`, for a fresh turn of which a state has
    /// time.
    fn affordable_fresh_trials(&self, of_state: &StateClock, now_ns: u64, count_max: usize) -> usize {
        let longest_ns = self.turn_times_ns.iter().max().copied().unwrap_or_default();
        let has_time = |&count: &usize| {
            let turns_ns = longest_ns.saturating_mul(count as u64);
            !of_state.firm_time_ends_within(now_ns, self.fill_ns.saturating_add(turns_ns))
        };
        (1..=count_max).take_while(has_time).count().max(1)
    }

    /// Limits the further readings of the search to the number for which there is time at the rate
    /// so far.
    fn limit_to_affordable_readings(&mut self, now_ns: u64) {
        let share = self.clock.share_used(now_ns).clamp(f64::EPSILON, 1.0);
        self.search.limit_further_readings(whole(
            float(self.search.reading_count() as u64) * (1.0 - share) / share,
        ) as usize);
    }
}

impl Run<'_> {
    /// Searches in one state: reads rungs until few candidates are left or the best one is clear,
    /// then measures the chosen candidates afresh.
    fn search_and_measure(&mut self, tuning: &SearchPlan, state_run: &mut StateRun) -> RunResult<EndReason> {
        let state = state_run.state;
        let search = Search::new(tuning.model_settings(state), tuning.search_rules(state));
        let clock = state_run.clock.clock_of_first_part(SEARCH_SHARE);
        let mut searching = StateSearch { search, clock, fill_ns: 0, turn_times_ns: Vec::new() };
        let searched = self.read_rungs(&mut searching, state_run)?;
        let now_ns = self.sampler.elapsed_ns();
        let count_max =
            searching.affordable_fresh_trials(&state_run.clock, now_ns, state_run.progresses.len());
        let chosen = tuning.trials_to_measure_afresh(state, &searching.search, count_max);
        self.rule_out_unread(&searching.search, &chosen, state_run)?;
        match self.measure_afresh(&chosen, searching.search.rung(), state_run)? {
            EndReason::Settled => Ok(searched),
            end => Ok(end),
        }
    }

    fn read_rungs(&mut self, searching: &mut StateSearch, state_run: &mut StateRun) -> RunResult<EndReason> {
        while !searching.search.is_over() {
            if self.is_firm_time_up(&searching.clock)? {
                return Ok(EndReason::Budget);
            }
            let rung = searching.search.rung();
            let begun_ns = self.sampler.elapsed_ns();
            if state_run.state == CacheState::Warm && !self.try_fill(rung, state_run)? {
                return Ok(EndReason::Settled);
            }
            searching.fill_ns = self.sampler.elapsed_ns().saturating_sub(begun_ns);
            let end = self.read_rung(searching, state_run)?;
            let now_ns = self.sampler.elapsed_ns();
            searching.limit_to_affordable_readings(now_ns);
            searching.search.close_rung();
            if end == EndReason::Budget {
                return Ok(end);
            }
            let of_state = SEARCH_SHARE * searching.clock.share_used(now_ns);
            let progress = self.display.progress(of_state, now_ns);
            self.sink.announce_step(Step::RoundOver(progress));
        }
        Ok(EndReason::Settled)
    }

    /// Ends candidates that were never read, with the predictions for them. Without any reading
    /// there are no predictions.
    fn rule_out_unread(
        &mut self,
        search: &Search<TrialIndex>,
        chosen: &BTreeSet<TrialIndex>,
        state_run: &mut StateRun,
    ) -> RunResult {
        let is_unread = |it: &&mut TrialProgress| !it.is_announced && !chosen.contains(&it.trial);
        for progress in state_run.progresses.iter_mut().filter(is_unread) {
            let Some(PredictedRatio { ratio, ci95, model_error }) = search.ratio_to_leader(progress.trial)
            else {
                continue;
            };
            let prediction = Prediction { ratio, ci95, model_error };
            self.announce_trial(progress, &Params::default())?;
            self.end_trial(progress, Outcome::RuledOut { prediction })?;
        }
        Ok(())
    }

    /// Reads the candidates of a rung, and the controls, once in shuffled order.
    fn read_rung(&mut self, searching: &mut StateSearch, state_run: &mut StateRun) -> RunResult<EndReason> {
        let (rung, left) = (searching.search.rung(), searching.search.remaining_candidates());
        let takes_part = |progress: &TrialProgress| {
            !progress.has_ended && (left.contains(&progress.trial) || self.plan.is_control(progress.trial))
        };
        let progresses = &mut state_run.progresses;
        let live: Vec<usize> = (0..progresses.len()).filter(|&at| takes_part(&progresses[at])).collect();
        let begin = Slot { state: state_run.state, fill: rung, round: rung, position: 0, rung: Some(rung) };
        let of = u32::try_from(live.len()).unwrap_or(u32::MAX);
        for (position, at) in (0..).zip(self.plan.round_order(begin.state, rung, &live, |_| 0)) {
            if self.is_time_up(|now_ns| searching.is_time_up(&state_run.clock, now_ns))? {
                return Ok(EndReason::Budget);
            }
            let begun_ns = self.sampler.elapsed_ns();
            let progress = &mut progresses[at];
            if !progress.is_announced {
                self.start_and_warm_up(progress)?;
            }
            if !progress.has_ended {
                let slot = Slot { position, ..begin };
                self.announce_turn(&slot, of, progress);
                self.take_turn(&slot, progress)?;
            }
            if !self.plan.is_control(progress.trial) {
                searching.turn_times_ns.push(self.sampler.elapsed_ns().saturating_sub(begun_ns));
            }
            self.add_turn_to_search(&mut searching.search, progress);
            self.close_after_turn(progress);
        }
        Ok(EndReason::Settled)
    }

    fn add_turn_to_search(&self, search: &mut Search<TrialIndex>, progress: &TrialProgress) {
        if self.plan.is_control(progress.trial) {
            return;
        }
        let of_rung = progress.wall_times.iter().filter(|wall| wall.round == search.rung());
        match median(of_rung.map(|wall| wall.value)) {
            Some(wall_ns) if !progress.has_ended => search.add_reading(progress.trial, wall_ns),
            _ => search.fail(progress.trial),
        }
    }

    /// Closes a contender after its turn, because hundreds of candidates cannot run side by side.
    /// The next turn starts it again. A contender that must warm up until it is steady stays
    /// running.
    fn close_after_turn(&mut self, progress: &TrialProgress) {
        if self.plan.planned_trial(progress.trial).warmup != Warmup::UntilSteady {
            self.sampler.close_session(progress.trial);
        }
    }

    /// Measures the chosen candidates in new processes, new fills and new rounds, without using
    /// earlier readings.
    fn measure_afresh(
        &mut self,
        chosen: &BTreeSet<TrialIndex>,
        rung: u32,
        state_run: &mut StateRun,
    ) -> RunResult<EndReason> {
        if chosen.is_empty() {
            return Ok(EndReason::Settled);
        }
        let plan = self.plan;
        let others = state_run.set_aside_others(|it| chosen.contains(&it.trial) || plan.is_control(it.trial));
        for progress in &mut state_run.progresses {
            self.sampler.close_session(progress.trial);
            progress.forget_readings();
        }
        // Without a fresh turn, the time of the search would give no number.
        state_run.owe_first_turn();
        let next = rung + 1;
        let end = self.measure_from(NextRound { round: next, fill: next }, state_run);
        state_run.progresses.extend(others);
        end
    }
}
