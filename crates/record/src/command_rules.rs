//! What the user asks of a command as it is: checks of its output, commands around its readings.
//!
//! By default a command answers by a number, as PROTOCOL.md asks; the record has nothing of this.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the user asks of one command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandRules {
    #[serde(default, skip_serializing_if = "Check::is_count")]
    pub check: Check,
    /// Run once before its first reading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Run before each of its readings, timed or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// Run once after the last reading of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleanup: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// Its first whole number is the answer.
    #[default]
    Count,
    /// It prints what the command of this trial prints.
    Same {
        /// The name of that trial.
        of: String,
    },
    /// It prints in each reading what it printed once before, which this program accepted.
    Accepted {
        /// The program, as a line for a shell, which gets the output on standard input.
        by: String,
    },
    Unchecked,
}

impl Check {
    /// Whether the answer is a number, as that of every other contender.
    pub fn is_count(&self) -> bool {
        *self == Check::Count
    }
}

impl CommandRules {
    /// Whether nothing is asked.
    pub fn is_default(&self) -> bool {
        *self == CommandRules::default()
    }
}
