//! The resume plan: the trials, targets and rules of a run, decided before the first measurement.
//! An interrupted run is resumed from this plan without asking the user again.
//!
//! The plan is part of the header. `experiment::resume` decides whether a run may be resumed.

use super::rules::Rules;
use super::trial::{Outcome, Trial};
use readlab_model::target::identity::Identity;
use readlab_model::target::{ServerOptions, Targets};
use readlab_model::trial::{CacheState, Transport};
use readlab_protocol::Archive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The complete plan, with the conditions under which it is valid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResumePlan {
    /// The kernel's random identifier of the current boot; `None` if the system has none.
    #[serde(rename = "boot")]
    pub boot_id: Option<String>,
    /// The folder in which the lab was started, because commands may use relative paths.
    pub folder: String,
    /// How each target is read, by number of the target.
    pub targets: Targets<TargetRef>,
    /// The cache states, in order.
    pub states: Vec<CacheState>,
    pub rules: Rules,
    /// The trials that can be measured, with the parameters that were given.
    pub trials: Vec<Trial>,
    /// The trials that cannot be measured, with the reason.
    #[serde(rename = "absent")]
    pub absent_trials: Vec<(Trial, Outcome)>,
    /// Absolute paths of the rosters besides the built-in one.
    #[serde(rename = "rosters")]
    pub roster_paths: Vec<String>,
    /// The folder of flame graphs, if they were requested.
    #[serde(rename = "flame_graphs")]
    pub flame_graph_folder: Option<String>,
    #[serde(rename = "trace")]
    pub has_trace: bool,
    #[serde(rename = "drop_caches")]
    pub may_drop_caches: bool,
    #[serde(rename = "allow_device")]
    pub may_read_block_device: bool,
    #[serde(default, skip_serializing_if = "readlab_model::is_default")]
    pub server: ServerOptions,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "requested")]
    pub requested_names: Vec<RequestedName>,
}

/// How a target is read, and how a resumed run recognises it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetRef {
    /// The format of the archive in which this target holds the content of the first target; `None`
    /// if its bytes are read as they are.
    #[serde(rename = "form")]
    pub archive: Option<Archive>,
    #[serde(rename = "over")]
    pub transport: Transport,
    /// The identity of the target before it was first read; `None` on a foreign server.
    pub identity: Option<Identity>,
}

/// A name that the user requested, so that a resumed run can still report names that did not take
/// part. `experiment::outcome` finds these names, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", content = "name", rename_all = "snake_case")]
#[schemars(rename = "Requested")]
pub enum RequestedName {
    /// `-c`: a command line.
    Command(String),
    /// `--method`: a name or a glob, with optional settings.
    Method(String),
    /// `--reference`: a trial.
    Reference(String),
    /// `--roster`: a contender of the roster file.
    Contender(String),
    /// `--language`: a language, as it is displayed.
    Language(String),
    /// A trial of the user's own suite file.
    Trial(String),
}

impl fmt::Display for RequestedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestedName::Command(words) => write!(f, "-c '{words}'"),
            RequestedName::Method(glob) => write!(f, "--method '{glob}'"),
            RequestedName::Reference(trial) => write!(f, "--reference '{trial}'"),
            RequestedName::Contender(name) => write!(f, "contender '{name}' of the roster"),
            RequestedName::Language(name) => write!(f, "--language '{name}'"),
            RequestedName::Trial(name) => write!(f, "trial '{name}' of the suite"),
        }
    }
}
