//! The resume plan: what is to be measured and by which rules, decided before the first
//! measurement. A run that was cut short is continued from it, without asking the user again.
//!
//! It is part of the header. Why a run may not go on is decided by `experiment::resume`.

use super::rules::Rules;
use super::trial::{Outcome, Trial};
use readlab_model::target::ServerOptions;
use readlab_model::target::identity::Identity;
use readlab_model::trial::{CacheState, Transport};
use readlab_protocol::Archive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A whole plan, with what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResumePlan {
    /// The kernel's random name for the time since it was started; `None` where it has none.
    pub boot: Option<String>,
    /// The folder in which the lab was started: commands may be seen from there.
    pub folder: String,
    /// How each target is read, by its number.
    pub targets: Vec<TargetRef>,
    /// The states of the cache, in order.
    pub states: Vec<CacheState>,
    pub rules: Rules,
    /// The trials that can be measured, with the parameters that were given.
    pub trials: Vec<Trial>,
    /// The trials that cannot, with the reason.
    pub absent: Vec<(Trial, Outcome)>,
    /// Rosters beside the built-in one, by their absolute paths.
    pub rosters: Vec<String>,
    /// The folder of flame graphs, if there shall be any.
    pub flame_graphs: Option<String>,
    pub trace: bool,
    pub drop_caches: bool,
    pub allow_device: bool,
    #[serde(default, skip_serializing_if = "readlab_model::is_default")]
    pub server: ServerOptions,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requested: Vec<Requested>,
}

/// How a target is read, and by what it is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetRef {
    /// The archive that it is of the first target, if it is one.
    pub form: Option<Archive>,
    pub over: Transport,
    /// What it was before it was first read; `None` on a foreign server.
    pub identity: Option<Identity>,
}

/// A name that a user requested: a resumed run can still report which of them did not take part.
/// `experiment::outcome` decides that, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", content = "name", rename_all = "snake_case")]
pub enum Requested {
    /// `-c`: a command line.
    Command(String),
    /// `--method`: a name or a glob, perhaps with settings.
    Method(String),
    /// `--reference`: a trial.
    Reference(String),
    /// `--roster`: a contender that the file names.
    Contender(String),
    /// `--language`: a language, as it is shown.
    Language(String),
    /// A trial of the user's own suite file.
    Trial(String),
}

impl fmt::Display for Requested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Requested::Command(words) => write!(f, "-c '{words}'"),
            Requested::Method(glob) => write!(f, "--method '{glob}'"),
            Requested::Reference(trial) => write!(f, "--reference '{trial}'"),
            Requested::Contender(name) => write!(f, "contender '{name}' of the roster"),
            Requested::Language(name) => write!(f, "--language '{name}'"),
            Requested::Trial(name) => write!(f, "trial '{name}' of the suite"),
        }
    }
}
