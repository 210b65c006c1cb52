//! The lines of a record: every kind that exists.

use super::latencies::Latencies;
use super::{
    Count, Fill, FlameGraph, Fleet, FleetTurn, Header, LeftBehind, Limit, Outcome, OwnScheduling, RankClock,
    ReadersTurn, Receipt, Resumption, Stopped, Trace, Trial, WarmedUp, WriteTimes, WriteWay,
};
use readlab_model::sample::Sample;
use readlab_model::target::TargetFacts;
use readlab_model::trial::TrialIndex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Every trial reached its precision or its own limit.
    Settled,
    /// The time for the whole run was used up.
    Budget,
    /// The user stopped it.
    Interrupted,
    /// The target changed while it was read.
    TargetChanged,
    /// A command that sets up, prepares or cleans up failed.
    CommandFailed,
    /// A rank of a fleet ended or hung.
    RankLost,
}

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    Header(Box<Header>),
    Target {
        /// Its number in this record.
        index: usize,
        /// Everything found out about it before measuring.
        facts: Box<TargetFacts>,
    },
    /// A contender that showed its receipt.
    Contender(Receipt),
    /// A trial about to be measured.
    Trial(Box<Trial>),
    /// The cache was filled.
    Fill(Fill),
    /// A contender was warmed up.
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
    /// What outlived the readings of a turn; it was ended. Since version 3.
    LeftBehind {
        trial: TrialIndex,
        /// How much.
        #[serde(flatten)]
        left: LeftBehind,
    },
    /// Scheduling that a contender gave itself; each kind once for a trial. Since version 3.
    Scheduling {
        trial: TrialIndex,
        /// How it ran, and how it was started.
        #[serde(flatten)]
        scheduling: Box<OwnScheduling>,
    },
    /// Counts from an untimed run of a trial; one line for each run that counted.
    Counts {
        trial: TrialIndex,
        /// `syscalls`, `mallocs`, `retains`, `releases` …
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
    /// Where the processor's time went, in an untimed run of a trial. Since version 3.
    FlameGraph {
        trial: TrialIndex,
        /// What was sampled.
        #[serde(flatten)]
        graph: Box<FlameGraph>,
    },
    /// The calls that brought the bytes, in an untimed run of a trial. Since version 3.
    Trace {
        trial: TrialIndex,
        /// The calls.
        #[serde(flatten)]
        trace: Box<Trace>,
    },
    /// A trial is read no more. Since version 4.
    Stopped {
        trial: TrialIndex,
        /// Why, and after how many rounds.
        #[serde(flatten)]
        stopped: Stopped,
    },
    /// How a trial ended.
    Outcome {
        trial: TrialIndex,
        /// Measured, refused, failed or unavailable.
        #[serde(flatten)]
        outcome: Outcome,
    },
    /// The ranks that take every turn together. Since version 5.
    Fleet(Box<Fleet>),
    /// How the clocks of the ranks differ, before a round. Since version 5.
    Clocks {
        /// The round, from 0.
        round: u32,
        ranks: Vec<RankClock>,
    },
    /// When each rank took a turn. Since version 5.
    FleetTurn(Box<FleetTurn>),
    /// When each of several readers of one host took a turn. Since version 5.
    ReadersTurn(Box<ReadersTurn>),
    /// A limit that was measured by something else than a trial.
    Limit(Box<Limit>),
    /// A warning for readers of the numbers.
    Warning {
        text: String,
    },
    /// A run that had been cut short goes on. Since version 3.
    Resumed(Resumption),
    /// The last line, if the run ended by itself.
    End {
        reason: EndReason,
        /// Time from the first line to this one.
        wall_ns: u64,
    },
}
