//! The kind of a run: by which command it was begun.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Which command began a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

impl RunKind {
    /// The word used on the command line, in records and exports.
    pub fn word(self) -> &'static str {
        match self {
            RunKind::Race => "race",
            RunKind::Suite => "suite",
            RunKind::Tune => "tune",
            RunKind::Limits => "limits",
            RunKind::Sweep => "sweep",
        }
    }

    /// Whether an interrupted run of this kind can be resumed from its record.
    pub fn is_resumable(self) -> bool {
        matches!(self, RunKind::Race | RunKind::Suite)
    }
}

impl fmt::Display for RunKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

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
