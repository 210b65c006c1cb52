//! The resume plan: what is to be measured and by which rules, decided before the first
//! measurement. A run that was cut short is continued from it, without asking the user again.
//!
//! It is part of the header, where readers that do not know it pass it over. Why a run may not go
//! on is decided by `experiment::resume`.

use super::requested::Requested;
use super::rules::Rules;
use super::trial::{Outcome, Trial};
use readlab_model::target::ServerOptions;
use readlab_model::target::identity::Identity;
use readlab_model::trial::{CacheState, Transport};
use readlab_protocol::Archive;
use serde::{Deserialize, Serialize};

/// A whole plan, with what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResumePlan {
    /// The kernel's random name for the time since the machine was started; `None` where it has
    /// none.
    pub boot: Option<String>,
    /// The folder in which the lab was started: commands may be seen from there.
    pub folder: String,
    /// How each target is read, by its number.
    pub targets: Vec<TargetRef>,
    /// The states of the cache, in order.
    pub states: Vec<CacheState>,
    /// When enough has been measured.
    pub rules: Rules,
    /// The trials that can be measured, with the parameters that were given.
    pub trials: Vec<Trial>,
    /// The trials that cannot, with the reason.
    pub absent: Vec<(Trial, Outcome)>,
    /// Rosters beside the built-in one, by their absolute paths.
    pub rosters: Vec<String>,
    /// The folder of flame graphs, if there shall be any.
    pub flame_graphs: Option<String>,
    /// Whether the calls of a reading are traced.
    pub trace: bool,
    /// Whether the caches of the whole machine are dropped before each cold reading.
    pub drop_caches: bool,
    /// Whether a block device may be the target.
    pub allow_device: bool,
    /// How servers are reached and trusted.
    #[serde(default, skip_serializing_if = "ServerOptions::is_default")]
    pub server: ServerOptions,
    /// What the user requested by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requested: Vec<Requested>,
}

/// How a target is read, and by what it is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetRef {
    /// The archive that it is of the first target, if it is one.
    pub form: Option<Archive>,
    /// Over what its bytes come.
    pub over: Transport,
    /// What it was before it was first read; `None` on a foreign server.
    pub identity: Option<Identity>,
}
