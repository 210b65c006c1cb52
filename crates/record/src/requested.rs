//! The names that a user requested: a command, a method, a reference, a contender of a roster, a
//! trial of a suite file.
//!
//! It is part of the plan in a record's header, so that a resumed run can still report which of
//! them did not take part. `experiment::outcome` decides that, and the exit code.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One request, in the user's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
