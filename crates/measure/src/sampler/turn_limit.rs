//! The time limit of a turn, after which its contender counts as hung, and the rule that sets it.

use readlab_protocol::TurnRequest;
use readlab_roster::session::{Session, SessionError, Turn};
use readlab_system::program::ProgramError;
use std::time::Duration;

pub(super) struct TurnLimit {
    pub(super) time: Duration,
    /// What sets the limit, for the reason of a failure.
    pub(super) rule: &'static str,
}

impl TurnLimit {
    /// Has the contender of a session take a turn within the limit.
    pub(super) fn run_turn(&self, session: &mut Session, request: TurnRequest) -> Result<Turn, SessionError> {
        session.run_turn(request, self.time).map_err(|error| self.explain(error))
    }

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
