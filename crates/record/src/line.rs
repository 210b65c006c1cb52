//! The lines of a record: all kinds of lines, and the content of the short ones.

use super::latencies::Latencies;
use super::{
    FlameGraph, Fleet, FleetTurn, Header, LeftBehind, Limit, Outcome, OwnScheduling, RankClock, ReadersTurn,
    Receipt, Trace, Trial, UntimedCount,
};
use readlab_model::sample::Sample;
use readlab_model::target::{TargetFacts, TargetIndex};
use readlab_model::trial::{CacheState, TrialIndex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Every trial reached the requested precision, or its largest number of readings, or its time
    /// limit.
    Settled,
    /// The time for the whole run was used up.
    Budget,
    Interrupted,
    TargetChanged,
    /// A command that sets up, prepares or cleans up failed.
    CommandFailed,
    /// A rank of a fleet ended or hung.
    RankLost,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    Header(Box<Header>),
    Target {
        index: TargetIndex,
        /// The facts about the target, found before anything was measured.
        facts: Box<TargetFacts>,
    },
    Contender(Receipt),
    Trial(Box<Trial>),
    Fill(Fill),
    /// Settings of the system were changed. All following readings are under these settings.
    Settings(SettingsChange),
    Warmup(WarmedUp),
    /// An untimed cold reading of a command whose measured readings are all warm. The reading shows
    /// which part of the target the command reads.
    ColdProbe(Box<Sample>),
    /// A file was written by the lab.
    Write {
        target: TargetIndex,
        #[serde(rename = "how")]
        way: WriteWay,
        #[serde(flatten)]
        times: WriteTimes,
    },
    Sample(Box<Sample>),
    /// A reading whose cache state could not be proven. It was repeated, or the trial was refused.
    Rejected {
        trial: TrialIndex,
        round: u32,
        /// What could not be proven.
        reason: String,
    },
    /// A meter that could not be read in this trial; reported once.
    Missing {
        trial: TrialIndex,
        /// The meter's name, as in samples.
        meter: String,
        reason: String,
    },
    /// Processes that were still running after the readings of a turn; the lab ended them.
    LeftBehind {
        trial: TrialIndex,
        #[serde(flatten)]
        left: LeftBehind,
    },
    /// Scheduling that a contender gave itself; each kind once for each trial.
    Scheduling {
        trial: TrialIndex,
        /// The scheduling that the contender gave itself, and the scheduling with which the lab
        /// started it.
        #[serde(flatten)]
        scheduling: Box<OwnScheduling>,
    },
    /// Counts from an untimed run of a trial; one line for each run that counted.
    Counts {
        trial: TrialIndex,
        counts: BTreeMap<String, UntimedCount>,
    },
    /// The latencies of single reads in the timed readings of a turn, for targets that are places.
    Latencies {
        trial: TrialIndex,
        /// Number of the fill of the cache, from 0.
        fill: u32,
        /// Number of the round, from 0.
        round: u32,
        /// The latency of each read, in nanoseconds.
        histogram: Latencies,
    },
    /// Where the CPU time went in an untimed run of a trial.
    FlameGraph {
        trial: TrialIndex,
        #[serde(flatten)]
        graph: Box<FlameGraph>,
    },
    /// The calls that read the bytes in an untimed run of a trial.
    Trace {
        trial: TrialIndex,
        #[serde(flatten)]
        trace: Box<Trace>,
    },
    /// A trial has no more readings.
    Stopped {
        trial: TrialIndex,
        #[serde(flatten)]
        stopped: Stopped,
    },
    Outcome {
        trial: TrialIndex,
        #[serde(flatten)]
        outcome: Outcome,
    },
    /// The ranks that take every turn together.
    Fleet(Box<Fleet>),
    /// The differences between the clocks of the ranks, before a round.
    Clocks {
        round: u32,
        ranks: Vec<RankClock>,
    },
    /// The times of each rank in a turn.
    FleetTurn(Box<FleetTurn>),
    /// The times of each reader of one host in a turn.
    ReadersTurn(Box<ReadersTurn>),
    /// A limit that was not measured by a trial.
    Limit(Box<Limit>),
    Warning {
        text: String,
    },
    /// An interrupted run is resumed.
    Resumed(Resumption),
    /// The last line of a run that was not interrupted.
    End {
        reason: EndReason,
        wall_ns: u64,
    },
}

/// One standard fill: the file was evicted and read into the page cache again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fill {
    /// Number of the fill, as in samples.
    pub fill: u32,
    pub target: TargetIndex,
    /// Description of the method of filling.
    pub how: String,
    pub wall_ns: u64,
    /// Share of the file's pages in the page cache afterwards.
    pub resident_after: Option<f64>,
}

/// A change of settings of the system: the values of a target were set and read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "SettingsApplied")]
pub struct SettingsChange {
    /// Number of a target that is read under these settings.
    pub target: TargetIndex,
    /// Time to set the values and to read them back.
    pub wall_ns: u64,
}

/// The untimed readings of a contender that warms up until it is steady, after one of its starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WarmedUp {
    pub trial: TrialIndex,
    pub readings: u32,
    pub wall_ns: u64,
    pub end: WarmupEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarmupEnd {
    /// The times of the readings stayed at one level.
    Steady,
    /// The time or the readings for warm-up were used up, and the level still changed.
    NoSteadyState,
    /// The time for warm-up was used up before there were enough readings to decide.
    TooFewReadings,
}

/// How the lab writes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum WriteWay {
    /// write(2) through the page cache; when it returns, the bytes may still be in memory only.
    Plain,
    /// As `plain`, then fdatasync(2), which is timed separately.
    Fdatasync,
    /// write(2) with O_DIRECT from an aligned buffer.
    Direct,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WriteTimes {
    /// Time to create, write and close the file.
    pub write_ns: u64,
    /// Time of the sync before the file was closed, if there was one.
    pub sync_ns: Option<u64>,
}

/// Why the lab stopped reading a trial before the end of the run. [`Outcome`] states how a trial
/// ended, and [`EndReason`] why the whole run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The trial's median is as precise as requested.
    Precise,
    /// The trial has the requested number of readings.
    MostReadings,
    /// The trial's readings took the time that one trial may take.
    MostTime,
    /// Another trial is clearly faster.
    NotFirst,
    /// The race is decided: one trial is left that is the fastest or within the indifference zone.
    /// Without that zone, the fastest trial is known, or the fastest trials tie.
    Decided,
    Budget,
}

impl StopReason {
    /// True if the readings of all trials, compared with each other, decided that the trial stops.
    pub fn is_comparison(self) -> bool {
        matches!(self, StopReason::NotFirst | StopReason::Decided)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stopped {
    pub why: StopReason,
    /// Number of rounds that have a reading of the trial.
    pub rounds: u32,
}

/// Separates what was measured before an interruption from what was measured after the run was
/// resumed: in new processes, from new fills of the cache, by the same plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resumption {
    /// When the run was resumed, RFC 3339 in UTC.
    #[serde(rename = "at")]
    pub resumed_at: String,
    /// Time that the run had taken before the interruption; the budget counts it.
    pub elapsed_ns: u64,
    /// The cache state in which the run was resumed.
    pub state: CacheState,
    /// The round of that cache state with which the run was resumed, from 0: the first round that
    /// had not begun.
    pub round: u32,
    /// The trials that the interruption had ended as measured; they continue without an outcome.
    #[serde(rename = "reopen")]
    pub reopened_trials: Vec<TrialIndex>,
}
