//! The lines of a record: every kind that exists, and what the short ones hold.

use super::latencies::Latencies;
use super::{
    Count, FlameGraph, Fleet, FleetTurn, Header, LeftBehind, Limit, Outcome, OwnScheduling, RankClock,
    ReadersTurn, Receipt, Trace, Trial,
};
use readlab_model::sample::Sample;
use readlab_model::target::TargetFacts;
use readlab_model::trial::{CacheState, TrialIndex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Every trial reached its precision or its own limit.
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
        index: usize,
        /// Everything found out about it before measuring.
        facts: Box<TargetFacts>,
    },
    Contender(Receipt),
    Trial(Box<Trial>),
    Fill(Fill),
    Warmup(WarmedUp),
    /// A file was written by the lab.
    Write {
        target: usize,
        how: WriteWay,
        #[serde(flatten)]
        times: WriteTimes,
    },
    Sample(Box<Sample>),
    /// A reading whose state could not be proven; it was taken again or the trial was refused.
    Rejected {
        trial: TrialIndex,
        round: u32,
        /// What was not proven.
        reason: String,
    },
    /// A meter that could not be read in this trial; said once.
    Missing {
        trial: TrialIndex,
        /// Name of the meter, as in samples.
        meter: String,
        reason: String,
    },
    /// What outlived the readings of a turn; it was ended.
    LeftBehind {
        trial: TrialIndex,
        #[serde(flatten)]
        left: LeftBehind,
    },
    /// Scheduling that a contender gave itself; each kind once for a trial.
    Scheduling {
        trial: TrialIndex,
        /// How it ran, and how it was started.
        #[serde(flatten)]
        scheduling: Box<OwnScheduling>,
    },
    /// Counts from an untimed run of a trial; one line for each run that counted.
    Counts {
        trial: TrialIndex,
        counts: BTreeMap<String, Count>,
    },
    /// What single reads took in the timed readings of a turn, where places are read.
    Latencies {
        trial: TrialIndex,
        /// Which fill of the cache, from 0.
        fill: u32,
        /// Which round, from 0.
        round: u32,
        /// Nanoseconds of each read.
        histogram: Latencies,
    },
    /// Where the processor's time went, in an untimed run of a trial.
    FlameGraph {
        trial: TrialIndex,
        #[serde(flatten)]
        graph: Box<FlameGraph>,
    },
    /// The calls that brought the bytes, in an untimed run of a trial.
    Trace {
        trial: TrialIndex,
        #[serde(flatten)]
        trace: Box<Trace>,
    },
    /// A trial is read no more.
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
    /// How the clocks of the ranks differ, before a round.
    Clocks {
        round: u32,
        ranks: Vec<RankClock>,
    },
    /// When each rank took a turn.
    FleetTurn(Box<FleetTurn>),
    /// When each of several readers of one host took a turn.
    ReadersTurn(Box<ReadersTurn>),
    /// A limit that was measured by something else than a trial.
    Limit(Box<Limit>),
    Warning {
        text: String,
    },
    /// A run that had been cut short goes on.
    Resumed(Resumption),
    /// The last line, if the run ended by itself.
    End {
        reason: EndReason,
        wall_ns: u64,
    },
}

/// The standard fill that made the file warm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fill {
    /// Its number, as in samples.
    pub fill: u32,
    pub target: usize,
    /// What was done, in words.
    pub how: String,
    pub wall_ns: u64,
    /// Share of the file's pages in the page cache afterwards.
    pub resident_after: Option<f64>,
}

/// The untimed readings of a contender that reads until it is steady, each time it is started.
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
    /// The readings stayed at one level.
    Steady,
    /// Time or readings were used up and the level still changed.
    NoSteadyState,
    /// Time was used up before there were enough readings to decide.
    TooFewReadings,
}

/// How the lab writes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum WriteWay {
    /// write(2) through the page cache; when it returns, the bytes may still be in memory only.
    Plain,
    /// The same, then fdatasync(2), timed apart.
    Fdatasync,
    /// write(2) with O_DIRECT from an aligned buffer.
    Direct,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WriteTimes {
    /// Creating, writing and closing.
    pub write_ns: u64,
    /// The sync before closing, where there was one.
    pub sync_ns: Option<u64>,
}

/// Why a trial has no more readings, although more were possible. How a trial ended is its
/// [`Outcome`]; why the whole run ended is [`EndReason`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Its median is as precise as requested.
    Precise,
    /// It has the requested number of readings.
    MostReadings,
    /// Its readings took the time that one trial may take.
    MostTime,
    /// Another trial is clearly faster.
    NotFirst,
    /// One is left that is the fastest, or as good by the indifference zone; without one, the fastest is
    /// known, or the fastest trials tie.
    Decided,
    Budget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stopped {
    pub why: StopReason,
    /// How many rounds have a reading of it.
    pub rounds: u32,
}

/// A line between what was measured before a run was cut short and what was measured when it went
/// on: in new processes, from new fills of the cache, by the same plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resumption {
    /// When it went on, RFC 3339 in UTC.
    pub at: String,
    /// Time that the run had taken until it was cut short; the rest counts from there.
    pub elapsed_ns: u64,
    /// The state of the cache in which it continued.
    pub state: CacheState,
    /// The round of that state with which it continued, from 0: the first round that had not begun.
    pub round: u32,
    /// The trials that an interruption had ended as measured: they continue without an outcome.
    pub reopen: Vec<TrialIndex>,
}
