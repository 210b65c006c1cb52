//! The boundary between the order of a run and everything that reads files, starts processes and
//! writes records: the traits [`Sampler`] and [`Sink`] and the values that pass through them.
//!
//! [`super::round`] calls them. The real sampler lives in [`super::sampler`]; a scripted one is in
//! the tests of the rounds.

use super::cache::CacheError;
use super::counts::Counts;
use readlab_model::sample::Sample;
use readlab_model::trial::{CacheState, Params, TrialIndex};
use readlab_model::units::Nanos;
use readlab_record::{EndReason, Fill, Line, Outcome, RecordError};
use readlab_roster::session::SessionError;
use serde::{Deserialize, Serialize};

pub trait Sampler {
    /// Starts the contenders of the trials that will be opened next, without waiting for them. Ends
    /// contenders that were started ahead before, were not opened and are not in `next`.
    fn launch(&mut self, next: &[TrialIndex]);

    /// Starts the trial's contender, or restarts it if it is running; returns every parameter in
    /// force.
    fn open(&mut self, trial: TrialIndex) -> Result<Params, TrialEnd>;

    /// Makes one untimed reading and compares its answer. If the trial's file may be read only
    /// once, another file is read.
    fn warm_up(&mut self, trial: TrialIndex) -> Result<(), TrialEnd>;

    /// Applies the settings of the system under which a trial is read.
    fn apply_settings(&mut self, _trial: TrialIndex) -> Result<(), TrialEnd> {
        Ok(())
    }

    /// Evicts the files of the plan and fills the cache from them. If `fill` is the number of the
    /// last fill, only files that lost pages since then are evicted and filled.
    fn fill(&mut self, fill: u32) -> Result<Fill, TrialEnd>;

    /// Takes one turn from a proven cache state: one or more timed readings, metered, with every
    /// answer compared. The samples carry the slot.
    fn take_turn(&mut self, trial: TrialIndex, slot: &Slot) -> Result<Vec<Sample>, SampleError>;

    /// Counts system calls and allocations of contenders. Each contender has one untimed run in a
    /// separate process; the runs are at the same time. Returns for each trial, in order, its
    /// counts or why the trial or the run ends. A count that is missing has a reason.
    fn count(&mut self, trials: &[TrialIndex]) -> Vec<Result<Counts, TrialEnd>>;

    /// Counts again, each trial in a new process. The result has no counts that runtimes report,
    /// because those are already means of all turns.
    fn count_again(&mut self, trials: &[TrialIndex]) -> Vec<Result<Counts, TrialEnd>>;

    /// Whether counting a trial takes no further run, because the same readings were counted in
    /// another cache state.
    fn is_counted(&self, trial: TrialIndex) -> bool;

    /// Whether contenders are inspected after the rounds.
    fn has_inspections(&self) -> bool;

    /// Inspects a contender in untimed runs of separate processes; returns the lines for the
    /// record.
    fn inspect(&mut self, trial: TrialIndex) -> Result<Vec<Line>, EndReason>;

    /// The lines that [`Sampler::inspect`] would return, each with the reason why the trial was not
    /// inspected.
    fn uninspected_lines(&mut self, trial: TrialIndex, reason: &str) -> Vec<Line>;

    /// Why the numbers of a trial are refused, even if its own turns succeeded: the reason may have
    /// been found during turns of other trials. `None` if they are not refused.
    fn refusal(&self, trial: TrialIndex) -> Option<Outcome>;

    /// Bytes that all processes of the trial together read in one reading; `None` if that is not
    /// known. Readers within a process count once ([`readlab_record::Trial::reader_count`]).
    fn bytes_per_reading(&self, trial: TrialIndex) -> Option<u64>;

    /// Closes the session of a trial that has no further turns and whose contender works: another
    /// trial that differs only in the cache state may take over the session.
    fn retire_session(&mut self, trial: TrialIndex) {
        self.close_session(trial);
    }

    fn close_session(&mut self, trial: TrialIndex);

    /// Runs the user's clean-up commands once and restores the settings of the system, after the
    /// last reading.
    fn clean_up(&mut self) -> Result<(), CleanUpError> {
        Ok(())
    }

    /// Meters that could not be read in the last turn, with the reason.
    fn drain_missing_meters(&mut self) -> Vec<(String, String)>;

    /// Lines for the record since the last call that no other call returns, such as warm-ups.
    fn drain_notes(&mut self) -> Vec<Line> {
        Vec::new()
    }

    fn elapsed_ns(&self) -> u64;
}

/// The gate at which a turn waits until it may begin.
pub trait StartingGate {
    /// Waits until this host may make the cache state from which the turn starts.
    fn wait_to_make_state(&mut self) -> Result<(), SampleError>;

    /// Reports that the cache state of this host is proven; an error if the turn may not begin.
    fn report_ready(&mut self) -> Result<(), SampleError>;

    /// Waits for the start time, right before the contender gets the request to read. Returns at
    /// once if the turn may not begin.
    fn wait_for_start(&mut self);
}

/// Receives the lines of the record and shows the progress of a run.
pub trait Sink {
    fn append(&mut self, line: Line) -> Result<(), RecordError>;

    fn announce_step(&mut self, step: Step);

    /// Whether the user wants the run to end as if its time were used up. Called between turns.
    fn wants_end(&mut self) -> Result<bool, RecordError> {
        Ok(false)
    }
}

/// The position of a turn in a run. The samples of the turn carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    pub state: CacheState,
    /// Number of the cache's fill, from 0; in states other than warm, the number of the round.
    pub fill: u32,
    /// Number of the round, from 0.
    pub round: u32,
    /// Position in the round's shuffled order, from 0.
    pub position: u32,
    /// Rung of a search; `None` for a turn whose numbers are reported.
    pub rung: Option<u32>,
}

impl Slot {
    pub fn unrecorded(state: CacheState) -> Slot {
        Slot { state, fill: 0, round: 0, position: 0, rung: None }
    }

    /// A sample of a trial with this position and no measured values.
    pub(super) fn empty_sample(&self, trial: TrialIndex) -> Sample {
        let &Slot { fill, round, position, rung, .. } = self;
        Sample { trial, fill, round, position, rung, ..Sample::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Begins a cache state with this number of trials.
    State(CacheState, usize),
    Fill(u32),
    /// Starts a contender and makes it read untimed.
    Start(TrialIndex),
    /// Counts what a contender does inside, untimed.
    Count(TrialIndex, RunProgress),
    Inspect(TrialIndex),
    Turn {
        trial: TrialIndex,
        /// The round, from 0.
        round: u32,
        /// Position in the round, from 0.
        position: u32,
        /// Number of trials in the round.
        trial_count: u32,
    },
    RoundOver(RunProgress),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunProgress {
    /// The share of the whole run that is done, 0 to 1.
    pub share: f64,
    pub elapsed_ns: u64,
}

impl RunProgress {
    /// The time left at the rate so far; `None` before anything is done.
    pub fn time_left(&self) -> Option<Nanos> {
        let elapsed_s = self.elapsed_ns as f64 / 1e9;
        (self.share > 0.0).then(|| Nanos::from_secs_f64(elapsed_s * (1.0 - self.share).max(0.0) / self.share))
    }
}

/// The end of a trial, of the whole run, or of both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TrialEnd {
    Trial(Outcome),
    Run(EndReason),
    Both(Outcome, EndReason),
}

/// Why a clean-up command, or a setting that cannot be restored, ends the run.
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

    /// The outcome of the trial if the run goes on; otherwise why the run ends.
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

/// For turns that are not repeated: a state that was not proven ends the trial.
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

/// The end of a trial whose cache state cannot be established.
impl From<CacheError> for TrialEnd {
    fn from(error: CacheError) -> TrialEnd {
        let reason = error.to_string();
        match error {
            // The file could be read when its expected answer was computed, so its device fails
            // now.
            CacheError::Io { .. } => TrialEnd::failed(reason),
            CacheError::Interrupted => TrialEnd::Run(EndReason::Interrupted),
            CacheError::OutOfTime { .. } => TrialEnd::Run(EndReason::Budget),
            _ => TrialEnd::Trial(Outcome::Unavailable { reason }),
        }
    }
}

/// Pages that remain may be evicted at the next try; every other error comes from the file system.
impl From<CacheError> for SampleError {
    fn from(error: CacheError) -> SampleError {
        match error {
            CacheError::PagesRemain { .. } => SampleError::Unproven(error.to_string()),
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
        assert_eq!(TrialEnd::from(CacheError::Interrupted), TrialEnd::Run(EndReason::Interrupted));
        let out_of_time = CacheError::OutOfTime { path: "f".into() };
        assert_eq!(TrialEnd::from(out_of_time), TrialEnd::Run(EndReason::Budget));
        let failed = TrialEnd::from(SessionError::Failed("it broke".to_owned()));
        assert_eq!(failed, TrialEnd::failed("it broke".to_owned()));
        // An error of the device fails the trial.
        let cause = std::io::Error::other("torn");
        let error = CacheError::Io { path: "f".into(), call: "read", cause };
        assert!(matches!(TrialEnd::from(error), TrialEnd::Trial(Outcome::Failed { .. })));
        let error = CacheError::DropCaches { cause: std::io::Error::other("no") };
        assert!(matches!(TrialEnd::from(error), TrialEnd::Trial(Outcome::Unavailable { .. })));
    }
}
