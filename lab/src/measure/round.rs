//! Carries out a plan: states, fills, rounds, and in each round every trial once, until every trial is settled.
//!
//! Everything that touches the world is behind [`Sampler`], so that whole runs can be scripted to the digit, and
//! everything found goes to a [`Sink`] line by line, so that a run may end at any moment. What a reading is, and how
//! its state is proven, lives in [`super::sampler`].

pub(super) mod clock;
#[cfg(test)]
pub(super) mod tests;

use super::plan::{Plan, Rules};
use crate::record::{Count, EndReason, Fill, Line, Outcome, RecordError, Sample};
use crate::stats::{self, Observation};
use crate::trial::{CacheState, Params};
use crate::units::Nanos;
use clock::StageClock;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What a run asks of the world.
pub trait Sampler {
    /// Starts the trial's contender anew; tells every parameter in force.
    ///
    /// # Errors
    /// If the contender cannot take part, or the run must end.
    fn open(&mut self, trial: usize) -> Result<Params, Ending>;

    /// One untimed reading whose answer is checked.
    ///
    /// # Errors
    /// If the contender failed or answered wrongly, or the run must end.
    fn rehearse(&mut self, trial: usize) -> Result<(), Ending>;

    /// Empties the cache of the target and fills it the standard way.
    ///
    /// # Errors
    /// If the file cannot be made warm, or the run must end.
    fn fill(&mut self, fill: u32) -> Result<Fill, Ending>;

    /// One turn from a proven state: one or more timed readings, metered, with every answer checked.
    ///
    /// # Errors
    /// If the state could not be proven, the trial ended, or the run must end.
    fn turn(&mut self, trial: usize, state: CacheState) -> Result<Vec<Sample>, Trouble>;

    /// What a contender does inside, counted in one untimed run of a process of its own.
    ///
    /// # Errors
    /// If the contender could not be counted, or the run must end.
    fn count(&mut self, trial: usize) -> Result<BTreeMap<String, Count>, Ending>;

    /// Lets the trial's contender go.
    fn close(&mut self, trial: usize);

    /// Meters that could not be read in the last turn, with the reason.
    fn missing(&mut self) -> Vec<(&'static str, String)>;

    /// Lines for the record that were found beside what the calls return, such as warm-ups, since the last call.
    fn notes(&mut self) -> Vec<Line> {
        Vec::new()
    }

    /// Time since the run began.
    fn elapsed_ns(&self) -> u64;
}

/// What is told of a run while it goes on.
pub trait Sink {
    /// One more line for the record.
    ///
    /// # Errors
    /// If the record cannot be written; the run ends.
    fn append(&mut self, line: Line) -> Result<(), RecordError>;

    /// What is about to happen.
    fn about_to(&mut self, step: Step);
}

/// What a run is about to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Begins a state with so many trials.
    Stage(CacheState, usize),
    /// Fills the cache.
    Fill(u32),
    /// Starts a contender and has it read once without a clock.
    Start(usize),
    /// Counts what a contender does inside, without a clock.
    Count(usize),
    /// Takes a turn: trial, round, place in the round, trials in the round.
    Turn(usize, u32, u32, u32),
    /// A round is over.
    RoundOver(Progress),
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The share of the whole run that is done, 0 to 1.
    pub share: f64,
    /// Time since it began.
    pub elapsed_ns: u64,
}

impl Progress {
    /// The time left, if it goes on as it went; `None` before anything is done.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn left(&self) -> Option<Nanos> {
        let elapsed_s = self.elapsed_ns as f64 / 1e9;
        (self.share > 0.0).then(|| Nanos::from_secs_f64(elapsed_s * (1.0 - self.share).max(0.0) / self.share))
    }
}

/// The end of a trial or of the whole run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Of the trial.
    Trial(Outcome),
    /// Of the run.
    Run(EndReason),
    /// Of the run, because of this trial.
    Both(Outcome, EndReason),
}

/// Why a turn gave no samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The state of the cache was not proven; the turn may be taken again.
    Unproven(String),
    /// Something ended.
    Ending(Ending),
}

/// What is counted of every contender.
const COUNTED: [&str; 2] = ["mallocs", "syscalls"];

/// How often a turn is taken whose state could not be proven.
const TRIES: u32 = 4;

/// A rate is believed up to this multiple of the best rate at which any control visited bytes already in memory: the
/// ceiling is itself a measurement, which a busy machine has been seen to halve, and the last-level cache can serve a
/// small file faster than memory does. A loop that a compiler removed is faster by hundreds.
const CEILING_SLACK: f64 = 3.0;

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

/// Where one trial stands.
pub(super) struct Standing {
    pub(super) trial: usize,
    pub(super) announced: bool,
    pub(super) ended: bool,
    measured: bool,
    pub(super) walls: Vec<Observation>,
    fastest_ns: Option<u64>,
    missing: BTreeSet<&'static str>,
}

/// A plan being carried out.
pub struct Run<'a> {
    pub(super) plan: &'a Plan,
    pub(super) sampler: &'a mut dyn Sampler,
    pub(super) sink: &'a mut dyn Sink,
    pub(super) ceiling_wall_ns: Option<u64>,
    stages_done: usize,
}

/// Carries out the plan; every trial that was announced gets its outcome.
///
/// # Errors
/// Only if the record cannot be written. Everything else is an outcome.
pub fn run(plan: &Plan, sampler: &mut dyn Sampler, sink: &mut dyn Sink) -> Result<EndReason, RecordError> {
    carry_out(plan, (sampler, sink), |run, state, stages_left| run.stage(state, stages_left))
}

/// Carries out a plan, each state of it as `stage` does; whatever happens, the record gets its last line.
pub(super) fn carry_out(
    plan: &Plan,
    (sampler, sink): (&mut dyn Sampler, &mut dyn Sink),
    mut stage: impl FnMut(&mut Run, CacheState, usize) -> Result<EndReason, Stop>,
) -> Result<EndReason, RecordError> {
    let mut run = Run { plan, sampler, sink, ceiling_wall_ns: None, stages_done: 0 };
    for (trial, outcome) in &plan.absent {
        run.sink.append(Line::Trial(Box::new(trial.clone())))?;
        run.sink.append(Line::Outcome { trial: trial.index, outcome: outcome.clone() })?;
    }
    let mut reason = EndReason::Settled;
    for (at, &state) in plan.states.iter().enumerate() {
        run.stages_done = at;
        match stage(&mut run, state, plan.states.len() - at) {
            Ok(EndReason::Settled) => {}
            Ok(EndReason::Budget) => reason = EndReason::Budget,
            Ok(end) | Err(Stop::Ended(end)) => {
                reason = end;
                break;
            }
            Err(Stop::Record(error)) => return Err(error),
        }
    }
    let wall_ns = run.sampler.elapsed_ns();
    run.sink.append(Line::End { reason, wall_ns })?;
    Ok(reason)
}

impl Run<'_> {
    /// All rounds of one state; whatever happens, every trial gets its outcome.
    fn stage(&mut self, state: CacheState, stages_left: usize) -> Result<EndReason, Stop> {
        let trials = self.plan.trials_of(state);
        if trials.is_empty() {
            return Ok(EndReason::Settled);
        }
        self.sink.about_to(Step::Stage(state, trials.len()));
        self.ceiling_wall_ns = None;
        let mut standings: Vec<Standing> = trials.into_iter().map(Standing::new).collect();
        let clock = StageClock::start(self.plan, self.sampler.elapsed_ns(), stages_left);
        let end = self.rounds(state, 0, (&mut standings, &clock));
        self.close(&mut standings, &clock, end)
    }

    /// Rounds from this one on until everybody is settled or time is up: of the cold in one sitting, of the warm over fills.
    pub(super) fn rounds(
        &mut self,
        state: CacheState,
        first: u32,
        (standings, clock): (&mut [Standing], &StageClock),
    ) -> Result<EndReason, Stop> {
        match state {
            CacheState::Cold | CacheState::Unknown => {
                let sitting = Sitting { state, fill: 0, nth: 0, rounds: first..u32::MAX };
                self.sitting(&sitting, (standings, clock))
            }
            CacheState::Warm => self.fills(first, (standings, clock)),
        }
    }

    /// The end of a state: every trial gets its outcome, and what contenders do inside is counted.
    pub(super) fn close(
        &mut self,
        standings: &mut [Standing],
        clock: &StageClock,
        end: Result<EndReason, Stop>,
    ) -> Result<EndReason, Stop> {
        self.conclude(standings, end.as_ref().ok().copied())?;
        match end {
            Ok(reason) => self.count(standings, clock).map(|()| reason),
            Err(stop) => Err(stop),
        }
    }

    /// Everybody leaves; those whose samples stand are measured. `end` is why the stage is over; whoever got no turn
    /// in a run that was stopped has no outcome, and was only cut short.
    fn conclude(&mut self, standings: &mut [Standing], end: Option<EndReason>) -> Result<(), Stop> {
        for standing in standings.iter_mut().filter(|standing| !standing.ended) {
            let Some(fastest_ns) = standing.fastest_ns else {
                let Some(end) = end else {
                    self.sampler.close(standing.trial);
                    continue;
                };
                self.announce(standing, &Params::default())?;
                self.end(standing, untried(end))?;
                continue;
            };
            // The ceiling may have been measured only after this trial's samples.
            let outcome = match self.beyond_ceiling(standing.trial, fastest_ns) {
                Some(reason) => Outcome::Refused { reason },
                None => Outcome::Measured,
            };
            standing.measured = outcome == Outcome::Measured;
            self.end(standing, outcome)?;
        }
        Ok(())
    }

    /// Counts what each measured contender does inside. A count that fails is told with the counts, and spoils nothing.
    fn count(&mut self, standings: &[Standing], clock: &StageClock) -> Result<(), Stop> {
        for standing in standings.iter().filter(|standing| standing.measured) {
            let counts = if clock.is_run_firmly_up(self.sampler.elapsed_ns()) {
                uncounted("the time for the whole run was used up")
            } else {
                self.sink.about_to(Step::Count(standing.trial));
                match self.sampler.count(standing.trial) {
                    Ok(counts) => counts,
                    Err(Ending::Run(end) | Ending::Both(_, end)) => return Err(Stop::Ended(end)),
                    Err(Ending::Trial(outcome)) => {
                        uncounted(outcome.reason().unwrap_or("it could not be counted"))
                    }
                }
            };
            self.sink.append(Line::Counts { trial: standing.trial, counts })?;
        }
        Ok(())
    }

    /// Fill after fill, each with a few rounds; the first is numbered as the first round is.
    fn fills(
        &mut self,
        first: u32,
        (standings, clock): (&mut [Standing], &StageClock),
    ) -> Result<EndReason, Stop> {
        let each = self.plan.rules.rounds_per_fill();
        for nth in 0_u32.. {
            let begin = nth.saturating_mul(each);
            if clock.is_up(begin, self.sampler.elapsed_ns()) {
                return Ok(EndReason::Budget);
            }
            let fill = first.saturating_add(nth);
            if !self.filled(fill, standings)? {
                return Ok(EndReason::Settled);
            }
            let begin = first.saturating_add(begin);
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
    fn sitting(
        &mut self,
        sitting: &Sitting,
        (standings, clock): (&mut [Standing], &StageClock),
    ) -> Result<EndReason, Stop> {
        let &Sitting { state, fill, nth, .. } = sitting;
        for at in self.live(standings) {
            if clock.is_firmly_up(self.sampler.elapsed_ns()) {
                return Ok(EndReason::Budget);
            }
            if self.starts(standings[at].trial, nth) {
                self.seat(&mut standings[at])?;
            }
        }
        for round in sitting.rounds.clone() {
            let live = self.live(standings);
            if live.is_empty() {
                break;
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
            let done = self.progress(standings, clock);
            self.sink.about_to(Step::RoundOver(done));
        }
        Ok(EndReason::Settled)
    }

    /// Whether a contender is started anew with this fill, counted from the first.
    fn starts(&self, trial: usize, nth: u32) -> bool {
        let fills = self.plan.planned(trial).map_or(1, |planned| Rules::fills_per_start(planned.warmup));
        nth.is_multiple_of(fills)
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

    /// One turn of one trial, taken again while its state cannot be proven.
    pub(super) fn turn(&mut self, slot: &Slot, position: u32, standing: &mut Standing) -> Result<(), Stop> {
        let trial = standing.trial;
        let mut last = String::new();
        for _ in 0..TRIES {
            match self.sampler.turn(trial, slot.state) {
                Ok(samples) => return self.keep(slot, position, (standing, samples)),
                Err(Trouble::Ending(ending)) => return self.take_ending(standing, ending),
                Err(Trouble::Unproven(reason)) => {
                    let line = Line::Rejected { trial, round: slot.round, reason: reason.clone() };
                    self.sink.append(line)?;
                    last = reason;
                    if slot.state == CacheState::Warm {
                        self.refill(slot.fill)?;
                    }
                }
            }
        }
        let reason = format!("the {} state could not be proven in {TRIES} tries: {last}", slot.state);
        self.end(standing, Outcome::Refused { reason })
    }

    /// The standard fill again, within the same fill's number: something evicted part of the file.
    fn refill(&mut self, fill: u32) -> Result<(), Stop> {
        match self.sampler.fill(fill) {
            Ok(fill) => Ok(self.sink.append(Line::Fill(fill))?),
            // The next try finds the state unproven again, and says so.
            Err(Ending::Trial(_)) => Ok(()),
            Err(Ending::Run(end) | Ending::Both(_, end)) => Err(Stop::Ended(end)),
        }
    }

    /// Writes down the samples of a turn, unless their rate is beyond belief.
    fn keep(
        &mut self,
        slot: &Slot,
        position: u32,
        (standing, samples): (&mut Standing, Vec<Sample>),
    ) -> Result<(), Stop> {
        self.raise_ceiling(standing.trial, &samples);
        let fastest_ns = samples.iter().map(|sample| sample.wall_ns).min();
        if let Some(reason) = fastest_ns.and_then(|ns| self.beyond_ceiling(standing.trial, ns)) {
            return self.end(standing, Outcome::Refused { reason });
        }
        standing.fastest_ns = standing.fastest_ns.into_iter().chain(fastest_ns).min();
        for mut sample in samples {
            (sample.fill, sample.round, sample.position) = (slot.fill, slot.round, position);
            sample.rung = slot.rung;
            standing.walls.push(stats::wall(&sample));
            self.sink.append(Line::Sample(Box::new(sample)))?;
        }
        self.write_notes()?;
        for (meter, reason) in self.sampler.missing() {
            if standing.missing.insert(meter) {
                let meter = meter.to_owned();
                self.sink.append(Line::Missing { trial: standing.trial, meter, reason })?;
            }
        }
        Ok(())
    }

    /// Writes down what the sampler found beside the samples.
    fn write_notes(&mut self) -> Result<(), Stop> {
        self.sampler.notes().into_iter().try_for_each(|line| Ok(self.sink.append(line)?))
    }

    /// Learns how fast bytes in memory can be visited, if this is a control that proves to have visited them.
    fn raise_ceiling(&mut self, trial: usize, samples: &[Sample]) {
        let Some(trial) = self.plan.planned(trial).map(|planned| &planned.trial) else { return };
        if trial.is_control() && samples.iter().all(|sample| sample.answer.proves(trial.work, &sample.answer))
        {
            let fastest = samples.iter().map(|sample| sample.wall_ns).min();
            self.ceiling_wall_ns = self.ceiling_wall_ns.into_iter().chain(fastest).min();
        }
    }

    /// Why this window cannot be true: shorter than visiting bytes that are already in memory.
    fn beyond_ceiling(&self, trial: usize, fastest_ns: u64) -> Option<String> {
        let trial = &self.plan.planned(trial)?.trial;
        if trial.is_control() || !trial.work.touches_bytes() {
            return None;
        }
        let ceiling_ns = self.ceiling_wall_ns?;
        #[expect(clippy::cast_precision_loss, reason = "compared with a slack of half")]
        let beyond = (fastest_ns as f64) * CEILING_SLACK < ceiling_ns as f64;
        beyond.then(|| {
            format!("a window of {fastest_ns} ns is shorter than visiting the bytes in memory took: {ceiling_ns} ns")
        })
    }

    /// Writes the trial's line, once, with the parameters in force.
    fn announce(&mut self, standing: &mut Standing, params: &Params) -> Result<(), Stop> {
        if standing.announced {
            return Ok(());
        }
        standing.announced = true;
        let Some(planned) = self.plan.planned(standing.trial) else { return Ok(()) };
        let mut trial = planned.trial.clone();
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
        let is_control = |standing: &Standing| {
            self.plan.planned(standing.trial).is_some_and(|planned| planned.trial.is_control())
        };
        let open = |standing: &Standing| !standing.ended && !self.is_settled(standing);
        let any_other = standings.iter().any(|standing| !is_control(standing) && open(standing));
        let only_controls = standings.iter().all(is_control);
        let takes_part = |standing: &Standing| {
            if is_control(standing) && !only_controls { any_other && !standing.ended } else { open(standing) }
        };
        (0..standings.len()).filter(|&at| takes_part(&standings[at])).collect()
    }

    /// Whether a trial needs no more turns.
    fn is_settled(&self, standing: &Standing) -> bool {
        self.done(standing) >= 1.0
    }

    /// How much of what a trial needs it has: 1 when it is settled. Intervals shrink with the root of the readings, so
    /// precision counts by its square.
    #[expect(clippy::cast_precision_loss, reason = "numbers of readings")]
    fn done(&self, standing: &Standing) -> f64 {
        if standing.ended {
            return 1.0;
        }
        let rules = &self.plan.rules;
        let n = standing.walls.len() as f64;
        let fills: BTreeSet<u32> = standing.walls.iter().map(|sample| sample.fill).collect();
        let fewest = (n / f64::from(rules.min_runs)).min(fills.len() as f64 / f64::from(rules.fills));
        let timed_ns: f64 = standing.walls.iter().map(|wall| wall.value).sum();
        let by_time = timed_ns / (rules.max_time.as_secs_f64() * 1e9);
        let by_precision = match stats::precision(&standing.walls, rules.seed) {
            Some(found) if found <= rules.precision => 1.0,
            Some(found) => (rules.precision.max(0.0) / found).powi(2),
            None => 0.0,
        };
        (n / f64::from(rules.max_runs)).max(fewest.min(by_time.max(by_precision)))
    }

    /// The share of the whole run that is done: of this stage by time or by what its trials need, whichever is further.
    #[expect(clippy::cast_precision_loss, reason = "numbers of trials")]
    fn progress(&self, standings: &[Standing], clock: &StageClock) -> Progress {
        let needed = standings.iter().map(|standing| self.done(standing).clamp(0.0, 1.0)).sum::<f64>();
        let by_trials = needed / standings.len().max(1) as f64;
        self.progress_with(by_trials.max(clock.share(self.sampler.elapsed_ns())))
    }

    /// The share of the whole run that is done when so much of this stage is.
    #[expect(clippy::cast_precision_loss, reason = "numbers of stages")]
    pub(super) fn progress_with(&self, of_stage: f64) -> Progress {
        let elapsed_ns = self.sampler.elapsed_ns();
        let share = (self.stages_done as f64 + of_stage) / self.plan.states.len().max(1) as f64;
        Progress { share, elapsed_ns }
    }
}

impl Standing {
    pub(super) fn new(trial: usize) -> Standing {
        let (walls, missing) = (Vec::new(), BTreeSet::new());
        Standing { trial, announced: false, ended: false, measured: false, walls, fastest_ns: None, missing }
    }
}

/// What becomes of a trial that was asked for and never got a turn.
fn untried(end: EndReason) -> Outcome {
    let reason = match end {
        EndReason::Budget => "the time for the whole run was used up before its first reading",
        _ => "nobody was left to race against",
    };
    Outcome::Unavailable { reason: reason.to_owned() }
}

/// Counts that could not be made, each with the reason.
fn uncounted(how: &str) -> BTreeMap<String, Count> {
    COUNTED.iter().map(|name| ((*name).to_owned(), Count { value: None, how: how.to_owned() })).collect()
}

/// Where in the run a turn stands.
pub(super) struct Slot {
    pub(super) state: CacheState,
    pub(super) fill: u32,
    pub(super) round: u32,
    /// Of a search; `None` where numbers are told.
    pub(super) rung: Option<u32>,
}

/// Rounds for which contenders are started together, where they are.
struct Sitting {
    state: CacheState,
    fill: u32,
    /// Sittings of these contenders before this one.
    nth: u32,
    rounds: Range<u32>,
}
