//! The line about a turn that several processes of a contender took together on one host.

use readlab_model::trial::TrialIndex;
use serde::{Deserialize, Serialize};

/// When each reader read in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadersTurn {
    pub trial: TrialIndex,
    pub round: u32,
    /// Each reader, in the order in which they were told to read.
    pub readers: Vec<ReaderTiming>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReaderTiming {
    /// How long after the first reader it was told to read.
    pub began_ns: u64,
    /// What its reading took by its own clock.
    pub wall_ns: u64,
    /// How long after it was told to read its answer was there, by the lab's clock.
    pub answered_ns: u64,
}
