//! Carries out a plan: states, fills, rounds, and in each round every trial once, until every trial
//! is settled.
//!
//! Everything that touches the world is behind [`Sampler`], so that whole runs can be scripted to
//! the digit, and everything found goes to a [`Sink`] line by line, so that a run may end at any
//! moment. One turn is in `turn`, the end of a state in `closing`. What a reading is, and how its
//! state is proven, lives in [`super::sampler`].

mod again;
pub(super) mod ceiling;
pub(super) mod clock;
mod doubt;
mod finish;
mod progress;
pub(super) mod resume_state;
#[cfg(test)]
pub(super) mod tests;
pub(super) mod trial_progress;
pub(super) mod turn;
pub(super) mod unaccounted;

use super::interface::{Sampler, Sink, Step, TrialEnd};
use super::plan::{Plan, Rules};
use crate::record::{EndReason, Line, Outcome, Record, RecordError, VisitCost};
use crate::trial::{CacheState, Params};
use ceiling::Ceiling;
use clock::StageClock;
use resume_state::NextRound;
pub use resume_state::{ResumeState, reopen};
use std::ops::Range;
use trial_progress::TrialProgress;
use turn::Slot;
use unaccounted::Answering;
pub use unaccounted::share_of_bound;

/// Why a run stops before its plan is done.
pub(super) enum RunStop {
    Ended(EndReason),
    Record(RecordError),
}

impl From<RecordError> for RunStop {
    fn from(error: RecordError) -> RunStop {
        RunStop::Record(error)
    }
}

/// A plan being carried out.
pub struct Run<'a> {
    pub(super) plan: &'a Plan,
    pub(super) sampler: &'a mut dyn Sampler,
    pub(super) sink: &'a mut dyn Sink,
    pub(super) ceiling: Ceiling,
    pub(super) answering: Answering,
    pub(super) visit: VisitCost,
    past: ResumeState<'a>,
    stages_done: usize,
    /// The share of the whole run that was told last.
    share_told: f64,
    measured: Vec<usize>,
}

/// Carries out the plan; every trial that was announced gets its outcome.
///
/// # Errors
/// Only if the record cannot be written. Everything else is an outcome.
pub fn run(plan: &Plan, sampler: &mut dyn Sampler, sink: &mut dyn Sink) -> Result<EndReason, RecordError> {
    run_from(plan, ResumeState::default(), (sampler, sink))
}

/// Carries out what is left of a plan after a part of it was carried out and recorded.
///
/// # Errors
/// As for [`run`].
pub fn resume(
    plan: &Plan,
    record: &Record,
    (sampler, sink): (&mut dyn Sampler, &mut dyn Sink),
) -> Result<EndReason, RecordError> {
    run_from(plan, ResumeState::of(record), (sampler, sink))
}

fn run_from(
    plan: &Plan,
    past: ResumeState,
    (sampler, sink): (&mut dyn Sampler, &mut dyn Sink),
) -> Result<EndReason, RecordError> {
    execute((plan, past), (sampler, sink), |run, state, parts| run.run_state(state, parts))
}

/// Carries out a plan, each state of it as `run_state` does; whatever happens, the record gets its
/// last line.
pub(super) fn execute(
    (plan, past): (&Plan, ResumeState),
    (sampler, sink): (&mut dyn Sampler, &mut dyn Sink),
    mut run_state: impl FnMut(&mut Run, CacheState, usize) -> Result<EndReason, RunStop>,
) -> Result<EndReason, RecordError> {
    let measured = past.not_inspected(plan);
    let (ceiling, stages_done, share_told) = (Ceiling::default(), 0, 0.0);
    let (answering, visit) = (Answering::default(), VisitCost::default());
    let mut run =
        Run { plan, sampler, sink, ceiling, answering, visit, past, stages_done, share_told, measured };
    for (trial, outcome) in plan.absent.iter().filter(|(trial, _)| !past.has_ended(trial.index)) {
        run.sink.append(Line::Trial(Box::new(trial.clone())))?;
        run.sink.append(Line::Outcome { trial: trial.index, outcome: outcome.clone() })?;
    }
    let mut reason = EndReason::Settled;
    for (at, &state) in plan.states.iter().enumerate() {
        run.stages_done = at;
        let parts = plan.states.len() - at + usize::from(run.sampler.looks_inside());
        match run_state(&mut run, state, parts) {
            Ok(EndReason::Settled) => {}
            Ok(EndReason::Budget) => reason = EndReason::Budget,
            Ok(end) | Err(RunStop::Ended(end)) => {
                reason = end;
                break;
            }
            Err(RunStop::Record(error)) => return Err(error),
        }
    }
    if matches!(reason, EndReason::Settled | EndReason::Budget) {
        match run.look_inside() {
            Ok(()) => {}
            Err(RunStop::Ended(end)) => reason = end,
            Err(RunStop::Record(error)) => return Err(error),
        }
    }
    let wall_ns = run.sampler.elapsed_ns();
    run.sink.append(Line::End { reason, wall_ns })?;
    Ok(reason)
}

impl Run<'_> {
    /// All rounds of one state; whatever happens, every trial gets its outcome.
    fn run_state(&mut self, state: CacheState, parts: usize) -> Result<EndReason, RunStop> {
        let trials = self.plan.trials_of(state);
        if trials.is_empty() {
            return Ok(EndReason::Settled);
        }
        self.sink.about_to(Step::Stage(state, trials.len()));
        self.forget_controls();
        for (trial, turn) in self.past.turns_of_controls(self.plan, state) {
            self.learn(trial, &turn);
        }
        let progress = |trial| self.past.progress(trial, &self.plan.rules);
        let mut progresses: Vec<TrialProgress> = trials.into_iter().map(progress).collect();
        let clock = StageClock::start(self.plan, self.sampler.elapsed_ns(), parts);
        let end = match self.past.rounds_ended(self.plan, state) {
            Some(reason) => Ok(reason),
            None if self.live(&progresses).is_empty() => Ok(EndReason::Settled),
            None => self.rounds_and_limits(state, self.past.first(state), (&mut progresses, &clock)),
        };
        self.close(state, (&mut progresses, &clock), end)
    }

    /// Rounds from this one on until everybody is settled or time is up: of the cold in one
    /// sitting, of the warm over fills.
    fn rounds(
        &mut self,
        state: CacheState,
        first: NextRound,
        (progresses, clock): (&mut [TrialProgress], &StageClock),
    ) -> Result<EndReason, RunStop> {
        match state {
            CacheState::Cold | CacheState::Unknown => {
                let run_block = Block { state, fill: 0, nth: 0, rounds: first.round..u32::MAX };
                self.run_block(&run_block, (progresses, clock))
            }
            CacheState::Warm => self.fills(first, (progresses, clock)),
        }
    }

    /// Fill after fill, each with a few rounds.
    fn fills(
        &mut self,
        first: NextRound,
        (progresses, clock): (&mut [TrialProgress], &StageClock),
    ) -> Result<EndReason, RunStop> {
        let each = self.plan.rules.rounds_per_fill();
        for nth in 0_u32.. {
            let begin = first.round.saturating_add(nth.saturating_mul(each));
            if clock.is_up(begin, self.sampler.elapsed_ns()) {
                return Ok(EndReason::Budget);
            }
            let fill = first.fill.saturating_add(nth);
            if !self.filled(fill, progresses)? {
                return Ok(EndReason::Settled);
            }
            let run_block =
                Block { state: CacheState::Warm, fill, nth, rounds: begin..begin.saturating_add(each) };
            let end = self.run_block(&run_block, (progresses, clock))?;
            if end != EndReason::Settled || self.live(progresses).is_empty() {
                return Ok(end);
            }
        }
        Ok(EndReason::Settled)
    }

    /// Fills the cache; `false` where that cannot be, which is then the outcome of whoever has no
    /// sample yet.
    pub(super) fn filled(&mut self, fill: u32, progresses: &mut [TrialProgress]) -> Result<bool, RunStop> {
        self.sink.about_to(Step::Fill(fill));
        match self.sampler.fill(fill) {
            Ok(fill) => {
                self.sink.append(Line::Fill(fill))?;
                self.write_notes().map(|()| true)
            }
            Err(TrialEnd::Trial(outcome)) => self.unfilled(fill, progresses, &outcome).map(|()| false),
            Err(TrialEnd::Run(end) | TrialEnd::Both(_, end)) => Err(RunStop::Ended(end)),
        }
    }

    /// The file could not be filled: whoever has no sample yet ends with it. What was measured from
    /// earlier fills stands.
    fn unfilled(
        &mut self,
        fill: u32,
        progresses: &mut [TrialProgress],
        outcome: &Outcome,
    ) -> Result<(), RunStop> {
        if let (1.., Some(reason)) = (fill, outcome.reason()) {
            let text = format!("the cache could not be filled again after {fill} fills: {reason}");
            self.sink.append(Line::Warning { text })?;
        }
        for progress in progresses.iter_mut().filter(|progress| !progress.ended && progress.walls.is_empty())
        {
            self.announce(progress, &Params::default())?;
            self.end(progress, outcome.clone())?;
        }
        Ok(())
    }

    /// Contenders started where their turn to start has come, then rounds until all are settled,
    /// `rounds` are done, or time is up. Those whose start had to wait for a firm time's sake are
    /// started when all others are settled.
    fn run_block(
        &mut self,
        run_block: &Block,
        (progresses, clock): (&mut [TrialProgress], &StageClock),
    ) -> Result<EndReason, RunStop> {
        let &Block { state, fill, nth, .. } = run_block;
        let due: Vec<usize> =
            self.live(progresses).into_iter().filter(|&at| self.starts(progresses[at].trial, nth)).collect();
        self.start(&due, progresses, clock)?;
        for round in run_block.rounds.clone() {
            let mut live = self.live_among(progresses, |it| it.announced);
            if live.is_empty() {
                let waiting = self.live_among(progresses, |it| !it.announced);
                self.start(&waiting, progresses, clock)?;
                live = self.live_among(progresses, |it| it.announced);
            }
            if live.is_empty() {
                let is_up = clock.is_firmly_up(self.sampler.elapsed_ns());
                return Ok(if is_up { EndReason::Budget } else { EndReason::Settled });
            }
            if clock.is_up(round, self.sampler.elapsed_ns()) {
                return Ok(EndReason::Budget);
            }
            // Where nothing is filled, every round is a state of its own.
            let fill = if state == CacheState::Warm { fill } else { round };
            let slot = Slot { state, fill, round, rung: None };
            if self.round(&slot, &live, (progresses, clock))? == EndReason::Budget {
                return Ok(EndReason::Budget);
            }
            let done = self.progress(progresses, clock, round + 1);
            self.sink.about_to(Step::RoundOver(done));
        }
        Ok(EndReason::Settled)
    }

    /// Starts these, in the order of the plan. Under a firm time only as many as leave time for
    /// their rounds, yet at least one that is no control.
    fn start(
        &mut self,
        due: &[usize],
        progresses: &mut [TrialProgress],
        clock: &StageClock,
    ) -> Result<(), RunStop> {
        let end_ns = clock.starts_end_ns(self.sampler.elapsed_ns());
        let mut any = false;
        for &at in due {
            let now_ns = self.sampler.elapsed_ns();
            if clock.is_firmly_up(now_ns) || any && now_ns >= end_ns {
                break;
            }
            self.seat(&mut progresses[at])?;
            any |= !progresses[at].ended && !self.is_control(progresses[at].trial);
        }
        Ok(())
    }

    /// Whether a contender is started anew with this fill, counted from the first.
    fn starts(&self, trial: usize, nth: u32) -> bool {
        nth.is_multiple_of(Rules::fills_per_start(self.plan.planned(trial).warmup))
    }

    /// Starts a contender and has it read untimed until it is warm; what it cannot do is its
    /// outcome.
    pub(super) fn seat(&mut self, progress: &mut TrialProgress) -> Result<(), RunStop> {
        self.sink.about_to(Step::Start(progress.trial));
        let opened = self.sampler.open(progress.trial);
        let params = opened.as_ref().cloned().unwrap_or_default();
        self.announce(progress, &params)?;
        let warm_ups = self.plan.rules.warmup.max(u32::from(progress.walls.is_empty()));
        let ready = opened.and_then(|_| (0..warm_ups).try_for_each(|_| self.sampler.warm_up(progress.trial)));
        self.write_notes()?;
        match ready {
            Ok(()) => Ok(()),
            Err(ending) => self.take_ending(progress, ending),
        }
    }

    /// Every live trial once, in the shuffled order of this round.
    fn round(
        &mut self,
        slot: &Slot,
        live: &[usize],
        (progresses, clock): (&mut [TrialProgress], &StageClock),
    ) -> Result<EndReason, RunStop> {
        let order = self.plan.order(slot.state, slot.round, live);
        let of = u32::try_from(order.len()).unwrap_or(u32::MAX);
        for (position, at) in (0..).zip(order) {
            if clock.is_firmly_up(self.sampler.elapsed_ns()) {
                return Ok(EndReason::Budget);
            }
            self.sink.about_to(Step::Turn(progresses[at].trial, slot.round, position, of));
            self.turn(slot, position, &mut progresses[at])?;
        }
        Ok(EndReason::Settled)
    }

    /// Writes the trial's line, once, with the parameters in force.
    fn announce(&mut self, progress: &mut TrialProgress, params: &Params) -> Result<(), RunStop> {
        if progress.announced {
            return Ok(());
        }
        progress.announced = true;
        let mut trial = self.plan.planned(progress.trial).trial.clone();
        trial.params.0.extend(params.0.clone());
        Ok(self.sink.append(Line::Trial(Box::new(trial)))?)
    }

    fn take_ending(&mut self, progress: &mut TrialProgress, ending: TrialEnd) -> Result<(), RunStop> {
        match ending {
            TrialEnd::Trial(outcome) => self.end(progress, outcome),
            TrialEnd::Run(reason) => Err(RunStop::Ended(reason)),
            TrialEnd::Both(outcome, reason) => {
                self.end(progress, outcome)?;
                Err(RunStop::Ended(reason))
            }
        }
    }

    /// Writes the trial's outcome; it takes no further part.
    fn end(&mut self, progress: &mut TrialProgress, outcome: Outcome) -> Result<(), RunStop> {
        progress.ended = true;
        self.sampler.close(progress.trial);
        Ok(self.sink.append(Line::Outcome { trial: progress.trial, outcome })?)
    }

    /// The trials that take part in the next round: those not settled, and with them the controls,
    /// which are the measure of every round.
    fn live(&self, progresses: &[TrialProgress]) -> Vec<usize> {
        self.live_among(progresses, |_| true)
    }

    /// The same among some.
    fn live_among(&self, progresses: &[TrialProgress], some: impl Fn(&TrialProgress) -> bool) -> Vec<usize> {
        let open: Vec<bool> =
            progresses.iter().map(|it| some(it) && !it.is_settled(&self.plan.rules)).collect();
        let any_other = progresses.iter().zip(&open).any(|(it, open)| *open && !self.is_control(it.trial));
        let only_controls = progresses.iter().all(|it| self.is_control(it.trial));
        let takes_part = |at: &usize| {
            let it = &progresses[*at];
            if self.is_control(it.trial) && !only_controls {
                any_other && !it.ended && some(it)
            } else {
                open[*at]
            }
        };
        (0..progresses.len()).filter(takes_part).collect()
    }

    pub(super) fn is_control(&self, trial: usize) -> bool {
        self.plan.planned(trial).trial.is_control()
    }
}

/// Rounds for which contenders are started together, where they are.
struct Block {
    state: CacheState,
    fill: u32,
    /// Sittings of these contenders before this one.
    nth: u32,
    rounds: Range<u32>,
}
