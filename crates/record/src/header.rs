//! The header, a record's first line: its kind, its references; and the receipts of contenders.

use super::resume_plan::ResumePlan;
use readlab_model::trial::TrialId;
use readlab_system::machine::Machine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const SCHEMA: &str = "readlab.record";
pub const SCHEMA_VERSION: u32 = 1;

/// The first line: the command, the program, the machine and the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub version: u32,
    pub lab: String,
    /// The commit it was built from.
    pub revision: String,
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
    /// The trials against which ratios may be made, best first; none where nothing is ranked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<ReferenceCandidate>,
    pub machine: Machine,
    /// What is to be measured, so that a run which is cut short can go on; `None` for verbs that
    /// begin anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agenda: Option<ResumePlan>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    /// Its name in the roster.
    pub contender: String,
    pub version: String,
    /// Compiler, runtime, flags.
    pub runtime: String,
    /// The language that a user's roster states; `None` for a contender that comes with readlab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// By which command a run was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// Every available method on the user's own target.
    Race,
    /// The trials of a suite file.
    Suite,
    /// A search for the fastest settings.
    Tune,
    /// The limits of memory, kernel and device.
    Limits,
    /// Files of many sizes, each read once by each method.
    Sweep,
}

readlab_model::worded! {
    RunKind { Race = "race", Suite = "suite", Tune = "tune", Limits = "limits", Sweep = "sweep" }
}

impl RunKind {
    /// Whether an interrupted run of this kind can be resumed from its record.
    pub fn is_resumable(self) -> bool {
        matches!(self, RunKind::Race | RunKind::Suite)
    }
}

/// A trial that ratios may be computed against: the best that was measured is the reference of a
/// ranking, and all of a run are against the same trial where that is possible. They are chosen
/// before anything is measured, by `experiment::references`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceCandidate {
    pub trial: TrialId,
    pub why: ReferenceReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceReason {
    /// The user or the suite names it.
    Named,
    /// It is the user's own command or program.
    Own,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_serialized_as_its_word() {
        for kind in [RunKind::Race, RunKind::Suite, RunKind::Tune, RunKind::Limits, RunKind::Sweep] {
            let json = serde_json::to_value(kind).unwrap();
            assert_eq!(json, kind.word());
            assert_eq!(serde_json::from_value::<RunKind>(json).unwrap(), kind);
        }
    }
}
