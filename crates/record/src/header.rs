//! The header, which is the first line of a record, and the receipts of the contenders.

use super::reference::ReferenceCandidate;
use super::resume_plan::ResumePlan;
use super::run_kind::RunKind;
use readlab_model::trial::TrialId;
use readlab_system::machine::Machine;
use serde::{Deserialize, Serialize};

/// Name of the format.
pub const SCHEMA: &str = "readlab.record";
/// Version of the format.
pub const SCHEMA_VERSION: u32 = 5;

/// The first line: the command, the program, the machine and the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`SCHEMA_VERSION`].
    pub version: u32,
    /// The lab's version.
    pub lab: String,
    /// The commit it was built from.
    pub revision: String,
    /// Which command began the run.
    #[serde(rename = "verb")]
    pub kind: RunKind,
    /// The command line that repeats the run, word by word.
    pub command: Vec<String>,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// Seed of every shuffle and resample.
    pub seed: u64,
    /// The trial against which ratios are made, if one was named.
    pub reference: Option<TrialId>,
    /// The trials against which ratios may be made, best first; none in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<ReferenceCandidate>,
    /// Where.
    pub machine: Machine,
    /// What is to be measured, so that a run which is cut short can go on; `None` for verbs that
    /// begin anew, and in records of before there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agenda: Option<ResumePlan>,
}

/// A contender that showed its receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Its name in the roster.
    pub contender: String,
    pub version: String,
    /// Compiler, runtime, flags.
    pub runtime: String,
    /// The language that a user's roster states; `None` for a contender that comes with readlab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}
