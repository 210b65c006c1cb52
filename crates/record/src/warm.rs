//! The lines about what happens before the clock starts: the cache is filled, and a contender warms
//! up until it is steady.

use readlab_model::trial::TrialIndex;
use serde::{Deserialize, Serialize};

/// The standard fill that made the file warm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmedUp {
    pub trial: TrialIndex,
    pub readings: u32,
    pub wall_ns: u64,
    pub end: WarmupEnd,
}

/// How a warm-up ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarmupEnd {
    /// The readings stayed at one level.
    Steady,
    /// Time or readings were used up and the level still changed.
    NoSteadyState,
    /// Time was used up before there were enough readings to decide.
    TooFewReadings,
}
