//! The number that a record gives a trial.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// Identifies a trial of a plan and of its record. It is not a position: trials that cannot be
/// measured here are announced first and are numbered last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrialIndex(usize);

impl TrialIndex {
    pub const fn new(number: usize) -> TrialIndex {
        TrialIndex(number)
    }
}

impl From<TrialIndex> for u64 {
    fn from(index: TrialIndex) -> u64 {
        index.0 as u64
    }
}

impl Display for TrialIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
