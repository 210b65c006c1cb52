//! The user's rules for a command that does not speak the protocol: how its output is checked, and
//! which commands run around its readings.
//!
//! By default a command answers with a number, as PROTOCOL.md requires; then the record has no
//! rules for it.

use readlab_model::trial::Work;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The user's rules for one command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandRules {
    #[serde(default, skip_serializing_if = "Check::is_count")]
    pub check: Check,
    /// Exit codes that are no failure; if empty, only 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "success")]
    pub success_codes: Vec<u8>,
    /// Command that runs once before the first reading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Command that runs before each reading, timed or untimed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "prepare")]
    pub prepare_command: Option<String>,
    /// Command that runs once after the last reading of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleanup: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The first integer in the output is the answer.
    #[default]
    Count,
    /// The output must equal the output of the command of another trial.
    Same {
        /// The name of the other trial.
        #[serde(rename = "of")]
        trial_name: String,
    },
    /// Every reading must print what the command printed once before, which a program of the user
    /// accepted.
    Accepted {
        /// The accepting program as a shell command line; it gets the output on standard input.
        #[serde(rename = "by")]
        accepting_program: String,
    },
    Unchecked,
}

impl Check {
    /// True if the answer is a number, as for every other contender.
    pub fn is_count(&self) -> bool {
        *self == Check::Count
    }
}

impl CommandRules {
    /// The work that the contender is asked for in a race for `work`. If the output is compared,
    /// checked or ignored, the command only has to print it. The same applies to commands that may
    /// read a part, because the part is not known before the command has ended.
    pub fn requested_work(&self, work: Work) -> Work {
        if work.may_read_part() || !self.check.is_count() { Work::Output } else { work }
    }

    /// True if the user set no rule.
    pub fn is_default(&self) -> bool {
        *self == CommandRules::default()
    }
}
