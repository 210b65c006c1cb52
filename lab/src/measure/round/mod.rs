//! Carries out a plan: states, fills, rounds, and in each round every trial once, until every trial is settled.
//!
//! Everything that touches the world is behind [`Sampler`], so that whole runs can be scripted to the digit, and
//! everything found goes to a [`Sink`] line by line, so that a run may end at any moment. One turn is in `turn`, the end of a
//! state in `closing`. What a reading is, and how its state is proven, lives in [`super::sampler`].

mod again;
pub(super) mod ceiling;
pub(super) mod clock;
mod closing;
mod done;
mod doubt;
pub(super) mod past;
pub(super) mod standing;
#[cfg(test)]
pub(super) mod tests;
pub(super) mod turn;
pub(super) mod unaccounted;

use super::plan::{Plan, Rules};
use super::world::{Ending, Sampler, Sink, Step};
use crate::record::{EndReason, Line, Outcome, Record, RecordError, Visit};
use crate::trial::{CacheState, Params};
use ceiling::Ceiling;
use clock::StageClock;
use past::First;
pub use past::{Past, reopened};
use standing::Standing;
use std::ops::Range;
use turn::Slot;
use unaccounted::Answering;
pub use unaccounted::share_of_bound;

/// Why a run stops before its plan is done.
pub(super) enum Stop {
    Ended(EndReason),
    Record(RecordError),
}

impl From<RecordError> for Stop {
    fn from(error: RecordError) -> Stop {
        Stop::Record(error)
    }
}

/// A plan being carried out.
pub struct Run<'a> {
    pub(super) plan: &'a Plan,
    pub(super) sampler: &'a mut dyn Sampler,
    pub(super) sink: &'a mut dyn Sink,
    pub(super) ceiling: Ceiling,
    pub(super) answering: Answering,
    pub(super) visit: Visit,
    past: Past<'a>,
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
    go_on(plan, Past::default(), (sampler, sink))
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
    go_on(plan, Past::of(record), (sampler, sink))
}

fn go_on(
    plan: &Plan,
    past: Past,
    (sampler, sink): (&mut dyn Sampler, &mut dyn Sink),
) -> Result<EndReason, RecordError> {
    carry_out((plan, past), (sampler, sink), |run, state, parts| run.stage(state, parts))
}

/// Carries out a plan, each state of it as `stage` does; whatever happens, the record gets its last line.
pub(super) fn carry_out(
    (plan, past): (&Plan, Past),
    (sampler, sink): (&mut dyn Sampler, &mut dyn Sink),
    mut stage: impl FnMut(&mut Run, CacheState, usize) -> Result<EndReason, Stop>,
) -> Result<EndReason, RecordError> {
    let measured = past.unseen(plan);
    let (ceiling, stages_done, share_told) = (Ceiling::default(), 0, 0.0);
    let (answering, visit) = (Answering::default(), Visit::default());
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
        match stage(&mut run, state, parts) {
            Ok(EndReason::Settled) => {}
            Ok(EndReason::Budget) => reason = EndReason::Budget,
            Ok(end) | Err(Stop::Ended(end)) => {
                reason = end;
                break;
            }
            Err(Stop::Record(error)) => return Err(error),
        }
    }
    if matches!(reason, EndReason::Settled | EndReason::Budget) {
        match run.look_inside() {
            Ok(()) => {}
            Err(Stop::Ended(end)) => reason = end,
            Err(Stop::Record(error)) => return Err(error),
        }
    }
    let wall_ns = run.sampler.elapsed_ns();
    run.sink.append(Line::End { reason, wall_ns })?;
    Ok(reason)
}

impl Run<'_> {
    /// All rounds of one state; whatever happens, every trial gets its outcome.
    fn stage(&mut self, state: CacheState, parts: usize) -> Result<EndReason, Stop> {
        let trials = self.plan.trials_of(state);
        if trials.is_empty() {
            return Ok(EndReason::Settled);
        }
        self.sink.about_to(Step::Stage(state, trials.len()));
        self.forget_controls();
        for (trial, turn) in self.past.turns_of_controls(self.plan, state) {
            self.learn(trial, &turn);
        }
        let standing = |trial| self.past.standing(trial, &self.plan.rules);
        let mut standings: Vec<Standing> = trials.into_iter().map(standing).collect();
        let clock = StageClock::start(self.plan, self.sampler.elapsed_ns(), parts);
        let end = match self.past.rounds_ended(self.plan, state) {
            Some(reason) => Ok(reason),
            None if self.live(&standings).is_empty() => Ok(EndReason::Settled),
            None => self.rounds_and_limits(state, self.past.first(state), (&mut standings, &clock)),
        };
        self.close(state, (&mut standings, &clock), end)
    }

    /// Rounds from this one on until everybody is settled or time is up: of the cold in one sitting, of the warm over fills.
    fn rounds(
        &mut self,
        state: CacheState,
        first: First,
        (standings, clock): (&mut [Standing], &StageClock),
    ) -> Result<EndReason, Stop> {
        match state {
            CacheState::Cold | CacheState::Unknown => {
                let sitting = Sitting { state, fill: 0, nth: 0, rounds: first.round..u32::MAX };
                self.sitting(&sitting, (standings, clock))
            }
            CacheState::Warm => self.fills(first, (standings, clock)),
        }
    }

    /// Fill after fill, each with a few rounds.
    fn fills(
        &mut self,
        first: First,
        (standings, clock): (&mut [Standing], &StageClock),
    ) -> Result<EndReason, Stop> {
        let each = self.plan.rules.rounds_per_fill();
        for nth in 0_u32.. {
            let begin = first.round.saturating_add(nth.saturating_mul(each));
            if clock.is_up(begin, self.sampler.elapsed_ns()) {
                return Ok(EndReason::Budget);
            }
            let fill = first.fill.saturating_add(nth);
            if !self.filled(fill, standings)? {
                return Ok(EndReason::Settled);
            }
            let sitting =
                Sitting { state: CacheState::Warm, fill, nth, rounds: begin..begin.saturating_add(each) };
            let end = self.sitting(&sitting, (standings, clock))?;
            if end != EndReason::Settled || self.live(standings).is_empty() {
                return Ok(end);
            }
        }
        Ok(EndReason::Settled)
    }

    /// Fills the cache; `false` where that cannot be, which is then the outcome of whoever has no sample yet.
    pub(super) fn filled(&mut self, fill: u32, standings: &mut [Standing]) -> Result<bool, Stop> {
        self.sink.about_to(Step::Fill(fill));
        match self.sampler.fill(fill) {
            Ok(fill) => {
                self.sink.append(Line::Fill(fill))?;
                self.write_notes().map(|()| true)
            }
            Err(Ending::Trial(outcome)) => self.unfilled(fill, standings, &outcome).map(|()| false),
            Err(Ending::Run(end) | Ending::Both(_, end)) => Err(Stop::Ended(end)),
        }
    }

    /// The file could not be filled: whoever has no sample yet ends with it. What was measured from earlier fills stands.
    fn unfilled(&mut self, fill: u32, standings: &mut [Standing], outcome: &Outcome) -> Result<(), Stop> {
        if let (1.., Some(reason)) = (fill, outcome.reason()) {
            let text = format!("the cache could not be filled again after {fill} fills: {reason}");
            self.sink.append(Line::Warning { text })?;
        }
        for standing in standings.iter_mut().filter(|standing| !standing.ended && standing.walls.is_empty()) {
            self.announce(standing, &Params::default())?;
            self.end(standing, outcome.clone())?;
        }
        Ok(())
    }

    /// Contenders started where their turn to start has come, then rounds until all are settled, `rounds` are done, or time is up.
    /// Those whose start had to wait for a firm time's sake are started when all others are settled.
    fn sitting(
        &mut self,
        sitting: &Sitting,
        (standings, clock): (&mut [Standing], &StageClock),
    ) -> Result<EndReason, Stop> {
        let &Sitting { state, fill, nth, .. } = sitting;
        let due: Vec<usize> =
            self.live(standings).into_iter().filter(|&at| self.starts(standings[at].trial, nth)).collect();
        self.start(&due, standings, clock)?;
        for round in sitting.rounds.clone() {
            let mut live = self.live_among(standings, |it| it.announced);
            if live.is_empty() {
                let waiting = self.live_among(standings, |it| !it.announced);
                self.start(&waiting, standings, clock)?;
                live = self.live_among(standings, |it| it.announced);
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
            if self.round(&slot, &live, (standings, clock))? == EndReason::Budget {
                return Ok(EndReason::Budget);
            }
            let done = self.progress(standings, clock, round + 1);
            self.sink.about_to(Step::RoundOver(done));
        }
        Ok(EndReason::Settled)
    }

    /// Starts these, in the order of the plan. Under a firm time only as many as leave time for their rounds, yet at least one that
    /// is no control.
    fn start(&mut self, due: &[usize], standings: &mut [Standing], clock: &StageClock) -> Result<(), Stop> {
        let end_ns = clock.starts_end_ns(self.sampler.elapsed_ns());
        let mut any = false;
        for &at in due {
            let now_ns = self.sampler.elapsed_ns();
            if clock.is_firmly_up(now_ns) || any && now_ns >= end_ns {
                break;
            }
            self.seat(&mut standings[at])?;
            any |= !standings[at].ended && !self.is_control(standings[at].trial);
        }
        Ok(())
    }

    /// Whether a contender is started anew with this fill, counted from the first.
    fn starts(&self, trial: usize, nth: u32) -> bool {
        nth.is_multiple_of(Rules::fills_per_start(self.plan.planned(trial).warmup))
    }

    /// Starts a contender and has it read untimed until it is warm; what it cannot do is its outcome.
    pub(super) fn seat(&mut self, standing: &mut Standing) -> Result<(), Stop> {
        self.sink.about_to(Step::Start(standing.trial));
        let opened = self.sampler.open(standing.trial);
        let params = opened.as_ref().cloned().unwrap_or_default();
        self.announce(standing, &params)?;
        let rehearsals = self.plan.rules.warmup.max(u32::from(standing.walls.is_empty()));
        let ready =
            opened.and_then(|_| (0..rehearsals).try_for_each(|_| self.sampler.rehearse(standing.trial)));
        self.write_notes()?;
        match ready {
            Ok(()) => Ok(()),
            Err(ending) => self.take_ending(standing, ending),
        }
    }

    /// Every live trial once, in the shuffled order of this round.
    fn round(
        &mut self,
        slot: &Slot,
        live: &[usize],
        (standings, clock): (&mut [Standing], &StageClock),
    ) -> Result<EndReason, Stop> {
        let order = self.plan.order(slot.state, slot.round, live);
        let of = u32::try_from(order.len()).unwrap_or(u32::MAX);
        for (position, at) in (0..).zip(order) {
            if clock.is_firmly_up(self.sampler.elapsed_ns()) {
                return Ok(EndReason::Budget);
            }
            self.sink.about_to(Step::Turn(standings[at].trial, slot.round, position, of));
            self.turn(slot, position, &mut standings[at])?;
        }
        Ok(EndReason::Settled)
    }

    /// Writes the trial's line, once, with the parameters in force.
    fn announce(&mut self, standing: &mut Standing, params: &Params) -> Result<(), Stop> {
        if standing.announced {
            return Ok(());
        }
        standing.announced = true;
        let mut trial = self.plan.planned(standing.trial).trial.clone();
        trial.params.0.extend(params.0.clone());
        Ok(self.sink.append(Line::Trial(Box::new(trial)))?)
    }

    fn take_ending(&mut self, standing: &mut Standing, ending: Ending) -> Result<(), Stop> {
        match ending {
            Ending::Trial(outcome) => self.end(standing, outcome),
            Ending::Run(reason) => Err(Stop::Ended(reason)),
            Ending::Both(outcome, reason) => {
                self.end(standing, outcome)?;
                Err(Stop::Ended(reason))
            }
        }
    }

    /// Writes the trial's outcome; it takes no further part.
    fn end(&mut self, standing: &mut Standing, outcome: Outcome) -> Result<(), Stop> {
        standing.ended = true;
        self.sampler.close(standing.trial);
        Ok(self.sink.append(Line::Outcome { trial: standing.trial, outcome })?)
    }

    /// The trials that take part in the next round: those not settled, and with them the controls, which are the
    /// measure of every round.
    fn live(&self, standings: &[Standing]) -> Vec<usize> {
        self.live_among(standings, |_| true)
    }

    /// The same among some.
    fn live_among(&self, standings: &[Standing], some: impl Fn(&Standing) -> bool) -> Vec<usize> {
        let open: Vec<bool> =
            standings.iter().map(|it| some(it) && !it.is_settled(&self.plan.rules)).collect();
        let any_other = standings.iter().zip(&open).any(|(it, open)| *open && !self.is_control(it.trial));
        let only_controls = standings.iter().all(|it| self.is_control(it.trial));
        let takes_part = |at: &usize| {
            let it = &standings[*at];
            if self.is_control(it.trial) && !only_controls {
                any_other && !it.ended && some(it)
            } else {
                open[*at]
            }
        };
        (0..standings.len()).filter(takes_part).collect()
    }

    pub(super) fn is_control(&self, trial: usize) -> bool {
        self.plan.planned(trial).trial.is_control()
    }
}

/// Rounds for which contenders are started together, where they are.
struct Sitting {
    state: CacheState,
    fill: u32,
    /// Sittings of these contenders before this one.
    nth: u32,
    rounds: Range<u32>,
}
