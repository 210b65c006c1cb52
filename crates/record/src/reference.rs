//! The trials that ratios may be computed against, in a record's header: the best that was measured
//! is the reference of a ranking, and all of a run are against the same trial where that is
//! possible.
//!
//! They are chosen before anything is measured, by `experiment::references`.

use readlab_model::trial::TrialId;
use serde::{Deserialize, Serialize};

/// A trial that may be the reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReferenceCandidate {
    pub trial: TrialId,
    /// Why it may be.
    pub why: ReferenceReason,
}

/// Why a trial may be the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceReason {
    /// The user or the suite names it.
    Named,
    /// It is the user's own command or program.
    Own,
    /// It is independent code.
    Independent,
    /// It is what programs usually do in the language most asked for.
    Usual,
}

/// Independent code that reads files, archives and URLs.
pub const INDEPENDENT: [&str; 4] = [
    "command/wc -l",
    "command/unzip -p {} | wc -l",
    "command/gzip -dc {} | wc -l",
    "command/curl -s {} | wc -l",
];
