//! The header (the first line of a record), the kinds of runs, the candidates for the reference,
//! and the versions of contenders.

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
    #[serde(rename = "lab")]
    pub lab_version: String,
    /// The commit from which readlab was built.
    pub revision: String,
    #[serde(rename = "verb")]
    pub kind: RunKind,
    /// The command line that repeats the run, one word an element.
    pub command: Vec<String>,
    /// When the run began, RFC 3339 in UTC.
    pub started: String,
    /// Seed of all shuffling and resampling.
    pub seed: u64,
    /// The trial that the user or the suite named as the reference of ratios.
    pub reference: Option<TrialId>,
    /// The trials that may become the reference of ratios, best first; empty if nothing is ranked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "references")]
    pub reference_candidates: Vec<ReferenceCandidate>,
    pub machine: Machine,
    /// How the targets are compared, if trials read all of them in the same rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locations: Option<LocationOptions>,
    /// The plan of the run, by which an interrupted run can be resumed; `None` for kinds of runs
    /// that cannot be resumed.
    #[serde(rename = "agenda", skip_serializing_if = "Option::is_none")]
    pub resume_plan: Option<ResumePlan>,
}

/// How the targets of a run are compared as locations of the same content, each with the first
/// target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Locations")]
pub struct LocationOptions {
    /// Whether the user asserts that all targets have the same content.
    #[serde(rename = "same_content")]
    pub asserts_same_content: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    /// The contender's name in the roster.
    pub contender: String,
    pub version: String,
    /// The contender's compiler, runtime and flags.
    pub runtime: String,
    /// The language that a user's roster states; `None` for a contender of the built-in roster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// The command that began a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// Every available method on the user's own target.
    Race,
    /// The trials of a suite file.
    Suite,
    /// A search for the fastest settings of a method.
    Tune,
    /// The limits of memory, kernel and device.
    Limits,
    /// Files of many sizes, each read once in a pass by each method.
    Sweep,
}

readlab_model::worded! {
    RunKind { Race = "race", Suite = "suite", Tune = "tune", Limits = "limits", Sweep = "sweep" }
}

impl RunKind {
    /// True if an interrupted run of this kind can be resumed from its record.
    pub fn is_resumable(self) -> bool {
        matches!(self, RunKind::Race | RunKind::Suite)
    }
}

/// A trial that may become the reference of ratios. In each ranking the best candidate that was
/// measured is the reference; all rankings of a run have the same reference if that is possible.
/// `experiment::references` chooses the candidates before the first measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceCandidate {
    pub trial: TrialId,
    pub why: ReferenceReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceReason {
    /// The user or the suite names the trial.
    Named,
    /// The trial is the user's own command or program.
    Own,
    Independent,
    /// The trial is the usual method of the language that most users ask for.
    Usual,
}

/// Independent programs that read files, archives and URLs.
pub const INDEPENDENT_READERS: [&str; 4] = [
    "command/wc -l",
    "command/unzip -p {} | wc -l",
    "command/gzip -dc {} | wc -l",
    "command/curl -s {} | wc -l",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_kind_is_serialized_as_its_word() {
        for kind in [RunKind::Race, RunKind::Suite, RunKind::Tune, RunKind::Limits, RunKind::Sweep] {
            let json = serde_json::to_value(kind).unwrap();
            assert_eq!(json, kind.word());
            assert_eq!(serde_json::from_value::<RunKind>(json).unwrap(), kind);
        }
    }
}
