//! The time limit of a turn, after which its contender counts as hung, and the rule that sets it.

use readlab_roster::session::SessionError;
use readlab_system::program::ProgramError;
use std::time::Duration;

pub(super) struct TurnLimit {
    pub(super) time: Duration,
    /// What sets the limit, for the reason of a failure.
    pub(super) rule: &'static str,
}

impl TurnLimit {
    /// Adds the rule to the error of a contender that gave no answer in time.
    pub(super) fn explain(&self, error: SessionError) -> SessionError {
        match error {
            SessionError::Silent { cause: cause @ ProgramError::Timeout(_), end } => {
                SessionError::Silent { cause, end: format!("{end}; {}", self.rule) }
            }
            other => other,
        }
    }
}
