//! The rounds of one state: fills, spans of rounds for which contenders are started together,
//! single rounds in shuffled order, block by block if several settings of the system are raced, and
//! turns, whose cache state is proven and whose readings are recorded. `refutation` decides whether
//! the numbers of a trial can be true, at the end of a state, or at once in a search.

use super::plausibility::why_window_is_zero;
use super::resume_state::NextRound;
use super::state_run::StateRun;
use super::trial_progress::TrialProgress;
use super::{Run, RunResult};
use crate::attempt;
use crate::interface::{Sampler, Sink, Slot, Step};
use crate::plan::{Budget, FILLS_PER_START, Focus};
use readlab_model::sample::Sample;
use readlab_model::trial::{CacheState, Params};
use readlab_record::{EndReason, Line, Outcome};
use std::ops::Range;

/// Number of contenders that are started ahead while another one reads untimed.
const CONTENDERS_STARTED_AHEAD: usize = 2;

/// A turn may take this many times as long as a start with its untimed reading, because the untimed
/// reading may get its bytes from memory.
const STARTS_PER_TURN: u64 = 4;

/// A waiting trial is started if there is time for this many turns of it and of each other trial:
/// an untimed turn, and a turn in each of two rounds.
const AFFORDABLE_TURNS_MIN: u64 = 3;

/// Rounds for which contenders are started together.
struct RoundSpan {
    fill: u32,
    /// Number of spans before this one in this part of the run.
    spans_before: u32,
    rounds: Range<u32>,
}

impl Run<'_> {
    /// Takes rounds from `first` on until every trial is settled or time is up. Warm rounds are
    /// spread over several fills, rounds of other states are one span. Then measures beaten limits
    /// again.
    pub(crate) fn measure_from(
        &mut self,
        first: NextRound,
        state_run: &mut StateRun,
    ) -> RunResult<EndReason> {
        let end = match state_run.state {
            CacheState::Cold | CacheState::Pressed | CacheState::Unknown => self
                .run_span(&RoundSpan { fill: 0, spans_before: 0, rounds: first.round..u32::MAX }, state_run),
            CacheState::Warm => self.measure_over_fills(first, state_run),
        };
        let end = end?;
        self.remeasure_beaten_limits(state_run)?;
        Ok(end)
    }

    fn measure_over_fills(&mut self, first: NextRound, state_run: &mut StateRun) -> RunResult<EndReason> {
        let rounds_per_fill = self.plan.rules.rounds_per_fill();
        for spans_before in 0_u32.. {
            let begin = first.round.saturating_add(spans_before.saturating_mul(rounds_per_fill));
            let owes_turn = state_run.owes_turn;
            if self.is_time_up(|now_ns| !owes_turn && state_run.clock.is_over(begin, now_ns))? {
                return Ok(EndReason::Budget);
            }
            let fill = first.fill.saturating_add(spans_before);
            // If a round has several blocks, the cache is filled for each of them.
            if self.plan.block_count() == 1 {
                if !self.try_fill(fill, state_run)? {
                    return Ok(EndReason::Settled);
                }
                state_run.owe_first_turn();
            }
            let span = RoundSpan { fill, spans_before, rounds: begin..begin.saturating_add(rounds_per_fill) };
            let end = self.run_span(&span, state_run)?;
            if end != EndReason::Settled
                || state_run.is_unfillable
                || state_run.live_trials(self.plan).is_empty()
            {
                return Ok(end);
            }
        }
        Ok(EndReason::Settled)
    }

    /// Fills the cache; returns whether the fill succeeded. If it failed, the failure becomes the
    /// outcome of every trial without a sample.
    pub(crate) fn try_fill(&mut self, fill: u32, state_run: &mut StateRun) -> RunResult<bool> {
        self.sink.announce_step(Step::Fill(fill));
        match self.sampler.fill(fill) {
            Ok(fill) => {
                self.sink.append(Line::Fill(fill))?;
                self.write_notes().map(|()| true)
            }
            Err(end) => self.end_unfilled(fill, state_run, &end.outcome()?).map(|()| false),
        }
    }

    /// Ends every trial without a sample, because the cache could not be filled. Samples from
    /// earlier fills are kept.
    fn end_unfilled(&mut self, fill: u32, state_run: &mut StateRun, outcome: &Outcome) -> RunResult {
        if let (1.., Some(reason)) = (fill, outcome.reason()) {
            let text = format!("the cache could not be filled again after {fill} fills: {reason}");
            self.sink.append(Line::Warning { text })?;
        }
        for progress in &mut state_run.progresses {
            if !progress.has_ended && progress.wall_times.is_empty() {
                self.announce_trial(progress, &Params::default())?;
                self.end_trial(progress, outcome.clone())?;
            }
        }
        Ok(())
    }

    /// Starts the contenders of the span, then takes rounds until all trials are settled, the
    /// rounds of the span are done, or time is up. If a firm budget left contenders unstarted, they
    /// are started when all others are settled.
    fn run_span(&mut self, span: &RoundSpan, state_run: &mut StateRun) -> RunResult<EndReason> {
        if span.spans_before.is_multiple_of(FILLS_PER_START) {
            let mut due = state_run.live_trials(self.plan);
            due.retain(|&at| !self.is_waiting(&state_run.progresses[at]));
            self.start_trials(&due, state_run)?;
        }
        for round in span.rounds.clone() {
            self.start_named_trials(state_run)?;
            self.start_waiting_trials(state_run)?;
            let mut live = state_run.live_trials_among(self.plan, |it| it.is_announced);
            if live.is_empty() {
                let mut waiting = state_run.live_trials_among(self.plan, |it| !it.is_announced);
                let has_time = !state_run.clock.is_time_used_up(self.sampler.elapsed_ns());
                waiting.retain(|&at| has_time || !self.is_waiting(&state_run.progresses[at]));
                self.start_trials(&waiting, state_run)?;
                live = state_run.live_trials_among(self.plan, |it| it.is_announced);
            }
            if live.is_empty() {
                let is_up = self.is_firm_time_up(&state_run.clock)?;
                return Ok(if is_up { EndReason::Budget } else { EndReason::Settled });
            }
            let owes_turn = state_run.owes_turn;
            if self.is_time_up(|now_ns| !owes_turn && state_run.clock.is_over(round, now_ns))? {
                return Ok(EndReason::Budget);
            }
            let state = state_run.state;
            // If the cache is not filled, every round counts as a fill.
            let fill = if state == CacheState::Warm { span.fill } else { round };
            let begin = Slot { state, fill, round, position: 0, rung: None };
            if let Some(end) = self.run_round(begin, &live, state_run)? {
                return Ok(end);
            }
            self.qualify(state_run)?;
            let progress = self.progress(state_run, round + 1);
            self.sink.announce_step(Step::RoundOver(progress));
        }
        Ok(EndReason::Settled)
    }

    /// Starts these trials in the order of the plan. With a firm budget, trials that the user named
    /// come first, as many as leave time for a turn of each. Other trials are started only as long
    /// as they leave time for the rounds. Until one trial that gives a result runs, trials are
    /// started as long as the budget is not used up; one is started even then, if a turn is owed.
    fn start_trials(&mut self, due: &[usize], state_run: &mut StateRun) -> RunResult {
        if due.is_empty() {
            return Ok(());
        }
        let due = self.named_trials_first(due, state_run);
        let end_ns = state_run.clock.start_deadline_ns(self.sampler.elapsed_ns());
        let is_running = |it: &TrialProgress| it.is_announced && !it.has_ended;
        let mut any =
            state_run.progresses.iter().any(|it| is_running(it) && self.gives_result(it, state_run));
        let mut longest_ns = state_run.longest_start_ns;
        for (place, &at) in due.iter().enumerate() {
            let now_ns = self.sampler.elapsed_ns();
            let is_late = match self.planned_trial(&state_run.progresses[at]).is_first_named {
                // A turn takes about as long as a start with its untimed reading.
                true => state_run.clock.firm_time_ends_within(now_ns, longest_ns * (place as u64 + 1)),
                false => now_ns >= end_ns,
            };
            if self.must_end(state_run)? || any && is_late {
                break;
            }
            let is_overtime = state_run.clock.is_firm_time_up(now_ns);
            if is_overtime && !self.gives_result(&state_run.progresses[at], state_run) {
                continue;
            }
            let next = due[place..]
                .iter()
                .take(1 + CONTENDERS_STARTED_AHEAD)
                .map(|&at| state_run.progresses[at].trial);
            self.sampler.launch(&next.collect::<Vec<_>>());
            let progress = &mut state_run.progresses[at];
            self.start_and_warm_up(progress)?;
            let started = &state_run.progresses[at];
            if is_running(started) && self.gives_result(started, state_run) {
                any = true;
                state_run.owe_first_turn();
            } else if is_overtime {
                state_run.owes_turn = false;
            }
            longest_ns = longest_ns.max(self.sampler.elapsed_ns().saturating_sub(now_ns));
        }
        state_run.longest_start_ns = longest_ns;
        // No contender may still be starting while another one is timed.
        self.sampler.launch(&[]);
        Ok(())
    }

    /// Whether no further start or turn may begin: the user ended the run, or a firm budget is used
    /// up and no turn is owed.
    fn must_end(&mut self, state_run: &StateRun) -> RunResult<bool> {
        let owes_turn = state_run.owes_turn;
        self.is_time_up(|now_ns| !owes_turn && state_run.clock.is_firm_time_up(now_ns))
    }

    /// Whether a reading of a trial is a result: controls only judge other trials, unless the state
    /// has no others.
    fn gives_result(&self, progress: &TrialProgress, state_run: &StateRun) -> bool {
        !self.is_control(progress) || state_run.progresses.iter().all(|it| self.is_control(it))
    }

    /// With a firm budget, starts trials that the user named and that are not started yet.
    fn start_named_trials(&mut self, state_run: &mut StateRun) -> RunResult {
        if !matches!(self.plan.rules.budget, Budget::Firm(_)) {
            return Ok(());
        }
        let mut waiting = state_run.live_trials_among(self.plan, |it| !it.is_announced);
        waiting.retain(|&at| self.planned_trial(&state_run.progresses[at]).is_first_named);
        self.start_trials(&waiting, state_run)
    }

    /// Whether a trial is not started because a prediction leaves no time for it.
    fn is_waiting(&self, progress: &TrialProgress) -> bool {
        !progress.is_announced && !progress.has_ended && self.planned_trial(progress).wait_reason.is_some()
    }

    /// Trials without a reading that get one if the state has time: waiting trials, and in a race
    /// also trials that a firm budget left unstarted before the first round.
    pub(super) fn waiting_trials(&self, state_run: &StateRun) -> Vec<usize> {
        let is_late = state_run.clock.is_time_used_up(self.sampler.elapsed_ns());
        let is_race = self.plan.rules.focus == Focus::First;
        let may_start = |at: &usize| {
            let progress = &state_run.progresses[*at];
            let is_unread = is_race && !progress.is_announced && !progress.has_ended;
            !is_late && (is_unread || self.is_waiting(progress))
        };
        (0..state_run.progresses.len()).filter(may_start).collect()
    }

    /// Starts waiting trials in the order of the plan, as many as there is time for by the duration
    /// of the turns so far. The prediction that made them wait may be too long, because it follows
    /// from a reading that may be slower than theirs.
    fn start_waiting_trials(&mut self, state_run: &mut StateRun) -> RunResult {
        let mut waiting = self.waiting_trials(state_run);
        if waiting.is_empty() || state_run.turn_count == 0 {
            return Ok(());
        }
        let turns_ns =
            (state_run.total_turns_ns / state_run.turn_count).max(1).saturating_mul(AFFORDABLE_TURNS_MIN);
        let each_ns = turns_ns.saturating_add(state_run.longest_start_ns);
        let others = state_run.live_trials_among(self.plan, |it| it.is_announced).len() as u64;
        let left_ns = state_run.clock.left_ns(self.sampler.elapsed_ns());
        let affordable = left_ns.saturating_sub(turns_ns.saturating_mul(others)) / each_ns;
        waiting.truncate(usize::try_from(affordable).unwrap_or(usize::MAX));
        self.start_trials(&waiting, state_run)
    }

    /// Sorts trials: with a firm budget, trials that the user named and that have no reading yet
    /// come first.
    fn named_trials_first(&self, trials: &[usize], state_run: &StateRun) -> Vec<usize> {
        let mut sorted = trials.to_vec();
        if matches!(self.plan.rules.budget, Budget::Firm(_)) {
            let waits = |at: usize| {
                let progress = &state_run.progresses[at];
                progress.wall_times.is_empty() && self.planned_trial(progress).is_first_named
            };
            sorted.sort_by_key(|&at| !waits(at));
        }
        sorted
    }

    /// Starts a contender and makes it read untimed until it is warm. A failure becomes the trial's
    /// outcome.
    pub(crate) fn start_and_warm_up(&mut self, progress: &mut TrialProgress) -> RunResult {
        self.sink.announce_step(Step::Start(progress.trial));
        let opened = self.sampler.open(progress.trial);
        let params = opened.as_ref().cloned().unwrap_or_default();
        self.announce_trial(progress, &params)?;
        let warm_ups = self.plan.rules.warmup_readings.max(u32::from(progress.wall_times.is_empty()));
        let ready = opened.and_then(|_| (0..warm_ups).try_for_each(|_| self.sampler.warm_up(progress.trial)));
        self.write_notes()?;
        match ready {
            Ok(()) => Ok(()),
            Err(end) => self.handle_trial_end(progress, end),
        }
    }

    /// Takes a turn of every live trial in the shuffled order of the round; `begin` is the round's
    /// first slot. If a firm budget may end in this round, trials that the user named and that have
    /// no reading come first. Returns why the state ends, if it ends in this round.
    fn run_round(
        &mut self,
        begin: Slot,
        live: &[usize],
        state_run: &mut StateRun,
    ) -> RunResult<Option<EndReason>> {
        let block_of = |at: usize| self.planned_trial(&state_run.progresses[at]).block_index;
        let mut order = self.plan.round_order(begin.state, begin.round, live, block_of);
        let round_ns = state_run.longest_start_ns.saturating_mul(STARTS_PER_TURN * order.len() as u64);
        if state_run.clock.firm_time_ends_within(self.sampler.elapsed_ns(), round_ns) {
            order = self.named_trials_first(&order, state_run);
        }
        let of = u32::try_from(order.len()).unwrap_or(u32::MAX);
        let (blocks, mut slot, mut last) = (self.plan.block_count(), begin, None);
        for (position, at) in (0..).zip(order) {
            if self.must_end(state_run)? {
                return Ok(Some(EndReason::Budget));
            }
            let gives_result = self.gives_result(&state_run.progresses[at], state_run);
            // The turn that is owed is one of a trial that gives a result.
            if !gives_result && state_run.clock.is_firm_time_up(self.sampler.elapsed_ns()) {
                continue;
            }
            let block = self.planned_trial(&state_run.progresses[at]).block_index;
            if blocks > 1 && last.replace(block) != Some(block) {
                slot.fill = block_fill_number(&begin, block, blocks);
                if !self.begin_block(&slot, at, state_run)? {
                    return Ok(Some(EndReason::Settled));
                }
            }
            let progress = &mut state_run.progresses[at];
            // The trial may have ended when its block began.
            if progress.has_ended {
                continue;
            }
            let slot = Slot { position, ..slot };
            self.announce_turn(&slot, of, progress);
            let begun_ns = self.sampler.elapsed_ns();
            self.take_turn(&slot, progress)?;
            state_run.owes_turn &= !gives_result;
            state_run.turn_count += 1;
            state_run.total_turns_ns += self.sampler.elapsed_ns().saturating_sub(begun_ns);
        }
        Ok(None)
    }

    /// Applies the settings of the block whose first trial is at index `at`. In the warm state,
    /// fills the cache under these settings, and returns `false` if it cannot be filled.
    fn begin_block(&mut self, slot: &Slot, at: usize, state_run: &mut StateRun) -> RunResult<bool> {
        let progress = &mut state_run.progresses[at];
        let applied = self.sampler.apply_settings(progress.trial);
        self.write_notes()?;
        if let Err(end) = applied {
            self.handle_trial_end(progress, end)?;
        }
        if slot.state == CacheState::Warm {
            state_run.is_unfillable = !self.try_fill(slot.fill, state_run)?;
        }
        Ok(!state_run.is_unfillable)
    }

    /// Announces a turn of a trial in a round of `of` trials. Called before the turn, because
    /// drawing the progress takes time.
    pub(crate) fn announce_turn(&mut self, slot: &Slot, of: u32, progress: &TrialProgress) {
        let (trial, &Slot { round, position, .. }) = (progress.trial, slot);
        self.sink.announce_step(Step::Turn { trial, round, position, trial_count: of });
    }

    /// Takes one turn of one trial, repeated while its cache state cannot be proven.
    pub(crate) fn take_turn(&mut self, slot: &Slot, progress: &mut TrialProgress) -> RunResult {
        let (trial, round) = (progress.trial, slot.round);
        let Run { sampler, sink, .. } = self;
        let taken = attempt::take_until_proven(*sampler, trial, slot, |sampler, reason| {
            sink.append(Line::Rejected { trial, round, reason })?;
            if slot.state == CacheState::Warm { refill(slot.fill, sampler, *sink) } else { Ok(()) }
        })?;
        self.write_notes()?;
        match taken {
            Ok(samples) => self.record_samples(slot, progress, samples),
            Err(end) => self.handle_trial_end(progress, end),
        }
    }

    /// Records the samples of a turn. In a search, a trial whose numbers cannot be true is refused
    /// at once, so that the search does not prefer it.
    fn record_samples(
        &mut self,
        slot: &Slot,
        progress: &mut TrialProgress,
        samples: Vec<Sample>,
    ) -> RunResult {
        let trial = &self.planned_trial(progress).trial;
        if let Some(reason) = why_window_is_zero(trial, &samples) {
            return self.end_trial(progress, Outcome::Refused { reason });
        }
        self.learn_bounds(progress.trial, &samples);
        progress.add_samples(&samples, &self.plan.rules);
        for sample in samples {
            self.sink.append(Line::Sample(Box::new(sample)))?;
        }
        self.record_missing_meters(progress)?;
        if slot.rung.is_none() {
            return Ok(());
        }
        match self.find_refutation(progress)? {
            Some(reason) => self.end_trial(progress, Outcome::Refused { reason }),
            None => Ok(()),
        }
    }

    /// Records, once for each trial, the meters that could not be read.
    fn record_missing_meters(&mut self, progress: &mut TrialProgress) -> RunResult {
        for (meter, reason) in self.sampler.drain_missing_meters() {
            if progress.missing_meters.insert(meter.clone()) {
                self.sink.append(Line::Missing { trial: progress.trial, meter, reason })?;
            }
        }
        Ok(())
    }
}

/// The number of the fill of a block of a round; each block of each round has another number. If
/// the cache is not filled, the number of the round.
fn block_fill_number(begin: &Slot, block: usize, blocks: usize) -> u32 {
    let (block, blocks) = (u32::try_from(block), u32::try_from(blocks));
    match (begin.state, block, blocks) {
        (CacheState::Warm, Ok(block), Ok(blocks)) => begin.round.saturating_mul(blocks).saturating_add(block),
        _ => begin.fill,
    }
}

/// Fills the cache again with the same fill number, because a part of the file was evicted.
fn refill(fill: u32, sampler: &mut dyn Sampler, sink: &mut dyn Sink) -> RunResult {
    match sampler.fill(fill) {
        Ok(fill) => Ok(sink.append(Line::Fill(fill))?),
        // On failure, the next try finds the state unproven again and gives the reason.
        Err(end) => Ok(end.outcome().map(drop)?),
    }
}
