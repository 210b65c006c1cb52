//! What a run asks of the world and what it tells of itself: the two traits between
//! [`super::round`] and everything that reads files, starts processes and writes records, and the
//! words they speak.
//!
//! The world itself lives in [`super::sampler`]; a scripted one in the tests of the rounds.

use crate::record::{Count, EndReason, Fill, Line, Outcome, RecordError, Sample};
use crate::trial::{CacheState, Params};
use crate::units::Nanos;
use std::collections::BTreeMap;

/// What a run asks of the world.
pub trait Sampler {
    /// Starts the trial's contender anew; tells every parameter in force.
    ///
    /// # Errors
    /// If the contender cannot take part, or the run must end.
    fn open(&mut self, trial: usize) -> Result<Params, TrialEnd>;

    /// One untimed reading whose answer is checked.
    ///
    /// # Errors
    /// If the contender failed or answered wrongly, or the run must end.
    fn warm_up(&mut self, trial: usize) -> Result<(), TrialEnd>;

    /// Empties the cache of the target and fills it the standard way.
    ///
    /// # Errors
    /// If the file cannot be made warm, or the run must end.
    fn fill(&mut self, fill: u32) -> Result<Fill, TrialEnd>;

    /// One turn from a proven state: one or more timed readings, metered, with every answer
    /// checked.
    ///
    /// # Errors
    /// If the state could not be proven, the trial ended, or the run must end.
    fn turn(&mut self, trial: usize, state: CacheState) -> Result<Vec<Sample>, SampleError>;

    /// What a contender does inside, counted in one untimed run of a process of its own.
    ///
    /// # Errors
    /// If the contender could not be counted, or the run must end.
    fn count(&mut self, trial: usize) -> Result<BTreeMap<String, Count>, TrialEnd>;

    /// Whether counting it takes no reading, as the same readings were counted from another state.
    fn is_counted(&self, _trial: usize) -> bool {
        false
    }

    /// Whether anything is looked at inside contenders besides.
    fn looks_inside(&self) -> bool {
        false
    }

    /// What is seen inside a contender, in untimed runs of processes of its own, as lines for the
    /// record.
    ///
    /// # Errors
    /// If the run must end. What cannot be seen has its reason in the lines.
    fn look_inside(&mut self, _trial: usize) -> Result<Vec<Line>, EndReason> {
        Ok(Vec::new())
    }

    /// Why the numbers of a trial do not stand, though its turns went well: found while others had
    /// theirs.
    fn refusal(&self, _trial: usize) -> Option<Outcome> {
        None
    }

    /// The lines that [`Sampler::look_inside`] would give, each with the reason why nothing was
    /// looked at.
    fn not_inspected(&mut self, _trial: usize, _reason: &str) -> Vec<Line> {
        Vec::new()
    }

    /// Bytes that one reader of the trial brings in one reading; `None` where nobody knows.
    fn bytes(&self, _trial: usize) -> Option<u64> {
        None
    }

    /// Lets the trial's contender go.
    fn close(&mut self, trial: usize);

    /// Meters that could not be read in the last turn, with the reason.
    fn missing(&mut self) -> Vec<(&'static str, String)>;

    /// Lines for the record that were found beside what the calls return, such as warm-ups, since
    /// the last call.
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
    Count(usize, Progress),
    /// Looks inside a contender, without a clock.
    LookInside(usize),
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
pub enum TrialEnd {
    /// Of the trial.
    Trial(Outcome),
    /// Of the run.
    Run(EndReason),
    /// Of the run, because of this trial.
    Both(Outcome, EndReason),
}

/// Why a turn gave no samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SampleError {
    /// The state of the cache was not proven; the turn may be taken again.
    Unproven(String),
    /// Something ended.
    TrialEnd(TrialEnd),
}
