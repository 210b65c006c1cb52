//! The boundary between the order of a run and everything that reads files, starts processes and
//! writes records: the traits [`Sampler`] and [`Sink`] and the values that pass through them.
//!
//! [`super::round`] calls them. The real sampler lives in [`super::sampler`]; a scripted one is in
//! the tests of the rounds.

use super::cache::CacheError;
use readlab_model::sample::Sample;
use readlab_model::trial::{CacheState, Params, TrialIndex};
use readlab_model::units::Nanos;
use readlab_record::{Count, EndReason, Fill, Line, Outcome, RecordError};
use readlab_roster::session::SessionError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub trait Sampler {
    /// Starts the contenders of these trials without waiting for them, because they are opened
    /// next. Others that were started like this and are not opened yet are ended.
    fn launch(&mut self, next: &[TrialIndex]);

    /// Starts the trial's contender, again if it is running; every parameter in force.
    fn open(&mut self, trial: TrialIndex) -> Result<Params, TrialEnd>;

    /// One untimed reading whose answer is compared. If the file of the trial may be read only
    /// once, another file is read.
    fn warm_up(&mut self, trial: TrialIndex) -> Result<(), TrialEnd>;

    /// Evicts the files of the plan and fills them the standard way; with the number of the last
    /// fill, only what was evicted since then.
    fn fill(&mut self, fill: u32) -> Result<Fill, TrialEnd>;

    /// One turn from a proven state: one or more timed readings, metered, with every answer
    /// compared. The samples carry the slot.
    fn turn(&mut self, trial: TrialIndex, slot: &Slot) -> Result<Vec<Sample>, SampleError>;

    /// Counts what contenders do inside, each in one untimed run of a process of its own, side by
    /// side. In the order of the trials: the counts, or why there are none, or why the run must
    /// end.
    fn count(&mut self, trials: &[TrialIndex]) -> Vec<Result<BTreeMap<String, Count>, TrialEnd>>;

    /// The same again, each in a new process. Runtimes report nothing then: what they count is a
    /// mean of all turns already.
    fn count_again(&mut self, trials: &[TrialIndex]) -> Vec<Result<BTreeMap<String, Count>, TrialEnd>>;

    /// Whether counting a trial takes no reading, because the same readings were counted from
    /// another state.
    fn is_counted(&self, trial: TrialIndex) -> bool;

    /// Whether contenders are inspected besides.
    fn inspects(&self) -> bool;

    /// Inspects a contender in untimed runs of processes of its own; the lines for the record.
    fn inspect(&mut self, trial: TrialIndex) -> Result<Vec<Line>, EndReason>;

    /// The lines that [`Sampler::inspect`] would give, each with the reason why the trial was not
    /// inspected.
    fn not_inspected(&mut self, trial: TrialIndex, reason: &str) -> Vec<Line>;

    /// Why the numbers of a trial are refused although its turns went well: this may be found
    /// during the turns of other trials.
    fn refusal(&self, trial: TrialIndex) -> Option<Outcome>;

    /// Bytes that one reader of the trial reads in one reading; `None` if that is not known.
    fn bytes(&self, trial: TrialIndex) -> Option<u64>;

    /// The trial has no further turns and its contender is sound: it may serve a trial that differs
    /// only in the state of the cache.
    fn retire(&mut self, trial: TrialIndex) {
        self.close(trial);
    }

    fn close(&mut self, trial: TrialIndex);

    /// Runs what the user wants to be run after the last reading, once.
    fn clean_up(&mut self) -> Result<(), CleanUpError> {
        Ok(())
    }

    /// Meters that could not be read in the last turn, with the reason.
    fn missing(&mut self) -> Vec<(String, String)>;

    /// Lines for the record that no other call returns, such as warm-ups, since the last call.
    fn notes(&mut self) -> Vec<Line> {
        Vec::new()
    }

    fn elapsed_ns(&self) -> u64;
}

/// Where a turn waits until it may begin.
pub trait StartingGate {
    /// Waits until this host may make the state that the turn starts from.
    fn before_state(&mut self) -> Result<(), SampleError>;

    /// The state of this host is proven; whether the turn may begin.
    fn ready(&mut self) -> Result<(), SampleError>;

    /// Waits for the beginning, right before the contender is told to read. Returns at once unless
    /// the turn may begin.
    fn wait(&mut self);
}

/// Takes what a run finds and shows what it does.
pub trait Sink {
    fn append(&mut self, line: Line) -> Result<(), RecordError>;

    fn about_to(&mut self, step: Step);

    /// Whether the user wants the run to end as if its time were used up. Asked between turns.
    fn wants_end(&mut self) -> Result<bool, RecordError> {
        Ok(false)
    }
}

/// The place of a turn in a run. Its samples carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    pub state: CacheState,
    /// Which fill of the cache, from 0; turns that are not warm have one each.
    pub fill: u32,
    /// Which round, from 0.
    pub round: u32,
    /// Place in the round's shuffled order, from 0.
    pub position: u32,
    /// Which rung of a search; `None` for a turn whose numbers are reported.
    pub rung: Option<u32>,
}

impl Slot {
    pub fn unrecorded(state: CacheState) -> Slot {
        Slot { state, fill: 0, round: 0, position: 0, rung: None }
    }

    /// A sample of a trial, of which nothing is known but its place.
    pub(super) fn sample(&self, trial: TrialIndex) -> Sample {
        let &Slot { fill, round, position, rung, .. } = self;
        Sample { trial, fill, round, position, rung, ..Sample::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Begins a state with this number of trials.
    State(CacheState, usize),
    Fill(u32),
    /// Starts a contender and has it read untimed.
    Start(TrialIndex),
    /// Counts what a contender does inside, untimed.
    Count(TrialIndex, Progress),
    /// Inspects a contender, untimed.
    Inspect(TrialIndex),
    Turn {
        trial: TrialIndex,
        /// The round, from 0.
        round: u32,
        /// Place in the round, from 0.
        position: u32,
        /// Trials in the round.
        of: u32,
    },
    RoundOver(Progress),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The share of the whole run that is done, 0 to 1.
    pub share: f64,
    pub elapsed_ns: u64,
}

impl Progress {
    /// The time left at the rate so far; `None` before anything is done.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn left(&self) -> Option<Nanos> {
        let elapsed_s = self.elapsed_ns as f64 / 1e9;
        (self.share > 0.0).then(|| Nanos::from_secs_f64(elapsed_s * (1.0 - self.share).max(0.0) / self.share))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TrialEnd {
    Trial(Outcome),
    Run(EndReason),
    /// Of the run, because of this trial.
    Both(Outcome, EndReason),
}

/// How the run ends because of what was run after its last reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanUpError {
    pub end: EndReason,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SampleError {
    /// The state of the cache was not proven; the turn may be repeated.
    Unproven(String),
    TrialEnd(TrialEnd),
}

impl TrialEnd {
    pub fn failed(reason: String) -> TrialEnd {
        TrialEnd::Trial(Outcome::Failed { reason })
    }

    /// What the trial ends with if the run goes on; else why the run ends.
    pub fn outcome(self) -> Result<Outcome, EndReason> {
        match self {
            TrialEnd::Trial(outcome) => Ok(outcome),
            TrialEnd::Run(end) | TrialEnd::Both(_, end) => Err(end),
        }
    }
}

impl SampleError {
    pub fn refused(reason: String) -> SampleError {
        TrialEnd::Trial(Outcome::Refused { reason }).into()
    }
}

impl From<TrialEnd> for SampleError {
    fn from(end: TrialEnd) -> SampleError {
        SampleError::TrialEnd(end)
    }
}

/// Where a turn is not repeated, a state that was not proven ends the trial.
impl From<SampleError> for TrialEnd {
    fn from(error: SampleError) -> TrialEnd {
        match error {
            SampleError::TrialEnd(end) => end,
            SampleError::Unproven(reason) => TrialEnd::Trial(Outcome::Refused { reason }),
        }
    }
}

impl From<SessionError> for TrialEnd {
    fn from(error: SessionError) -> TrialEnd {
        error.outcome().map_or(TrialEnd::Run(EndReason::Interrupted), TrialEnd::Trial)
    }
}

impl From<SessionError> for SampleError {
    fn from(error: SessionError) -> SampleError {
        SampleError::TrialEnd(error.into())
    }
}

/// What it means for a trial that the state which it starts from cannot be made.
impl From<CacheError> for TrialEnd {
    fn from(error: CacheError) -> TrialEnd {
        let reason = error.to_string();
        match error {
            // The file could be read when the right answer was found: its device fails.
            CacheError::Io { .. } => TrialEnd::failed(reason),
            _ => TrialEnd::Trial(Outcome::Unavailable { reason }),
        }
    }
}

/// Pages that stay may go at the next try; every other failure comes from the file system.
impl From<CacheError> for SampleError {
    fn from(error: CacheError) -> SampleError {
        match error {
            CacheError::Remains { .. } => SampleError::Unproven(error.to_string()),
            other => SampleError::TrialEnd(other.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_ends_the_run_and_any_other_error_the_trial() {
        let interrupted = TrialEnd::from(SessionError::Interrupted);
        assert_eq!(interrupted, TrialEnd::Run(EndReason::Interrupted));
        assert_eq!(interrupted.outcome(), Err(EndReason::Interrupted));
        let failed = TrialEnd::from(SessionError::Failed("it broke".to_owned()));
        assert_eq!(failed, TrialEnd::failed("it broke".to_owned()));
        // A device that fails fails the trial.
        let cause = std::io::Error::other("torn");
        let error = CacheError::Io { path: "f".into(), call: "read", cause };
        assert!(matches!(TrialEnd::from(error), TrialEnd::Trial(Outcome::Failed { .. })));
        let error = CacheError::DropCaches { cause: std::io::Error::other("no") };
        assert!(matches!(TrialEnd::from(error), TrialEnd::Trial(Outcome::Unavailable { .. })));
    }
}
