//! The agent as a process: it is started, asked, and ended. Every answer has a deadline, as a rank
//! that hangs keeps all others waiting.

use super::message::{HEAD_BYTES, Kind, body_bytes, message};
use super::program;
use readlab_roster::build::BuildError;
use readlab_system::program::inheriting::Inheriting;
use std::io;
use std::time::{Duration, Instant};

/// Why an agent is of no more use.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// It cannot be built.
    #[error("the fleet's agent: {cause}{hint}")]
    NotBuilt {
        cause: BuildError,
        /// How the user gets what is missing, after a semicolon.
        hint: String,
    },
    /// It cannot be started.
    #[error("the fleet's agent: {0}")]
    NotStarted(io::Error),
    /// It has ended: MPI ended the job, or another rank did.
    #[error("the MPI job ended: {0}")]
    Ended(io::Error),
    /// Another rank did not come in time.
    #[error("not all ranks came within {} s: one hangs or is stopped", .0.as_secs())]
    Late(Duration),
    /// What it answered cannot be right.
    #[error("the fleet's agent: {0}")]
    Wrong(String),
}

/// A started agent.
#[derive(Debug)]
pub(super) struct Agent {
    process: Inheriting,
}

impl Agent {
    /// Builds the program if need be, and starts it.
    pub(super) fn start() -> Result<Agent, AgentError> {
        let line =
            program::command().map_err(|cause| AgentError::NotBuilt { cause, hint: program::hint() })?;
        Ok(Agent { process: Inheriting::start(&line).map_err(AgentError::NotStarted)? })
    }

    /// Sends a message, and returns the body of the answer. It waits even when the user wants to
    /// stop: the other ranks learn that from an answer, and end in order.
    pub(super) fn ask(
        &mut self,
        kind: Kind,
        body: &[u8],
        time_limit: Duration,
    ) -> Result<Vec<u8>, AgentError> {
        self.process.write(&message(kind, body)).map_err(AgentError::Ended)?;
        let deadline = Instant::now() + time_limit;
        let failed = |cause: io::Error| match cause.kind() {
            io::ErrorKind::TimedOut => AgentError::Late(time_limit),
            _ => AgentError::Ended(cause),
        };
        let mut head = [0; HEAD_BYTES];
        self.process.read(&mut head, deadline).map_err(failed)?;
        let mut answer = vec![0; body_bytes(head, kind).map_err(AgentError::Wrong)?];
        self.process.read(&mut answer, deadline).map_err(failed)?;
        Ok(answer)
    }

    /// Has it leave the job, which every rank must do.
    pub(super) fn end(self) {
        self.send_last(Kind::End, "");
    }

    /// Has it end the whole job, with this reason on standard error.
    pub(super) fn abort(self, reason: &str) {
        self.send_last(Kind::Abort, reason);
    }

    fn send_last(mut self, kind: Kind, reason: &str) {
        // One that has gone needs no word.
        let _ = self.process.write(&message(kind, reason.as_bytes()));
        self.process.await_end();
    }
}
