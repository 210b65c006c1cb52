//! The agent: its program, which is linked to MPI, is built by the `mpicc` of this machine before its
//! first use, as contenders are built; and its process, which is started, asked, and ended. Every answer
//! has a deadline, as a rank that hangs keeps all others waiting.

use super::message::{HEAD_BYTES, Kind, body_bytes, message};
use readlab_catalog::roster::{Roster, RosterEntry};
use readlab_roster::build::{Build, BuildError};
use readlab_roster::discovery::Query;
use readlab_system::program::CommandLine;
use readlab_system::program::inheriting::Inheriting;
use readlab_system::terminal::notice;
use std::io;
use std::time::{Duration, Instant};

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("the fleet's agent: {cause}{hint}")]
    NotBuilt {
        cause: BuildError,
        /// How the user gets what is missing, after a semicolon.
        hint: String,
    },
    #[error("the fleet's agent: {0}")]
    NotStarted(io::Error),
    /// It has ended: MPI ended the job, or another rank did.
    #[error("the MPI job ended: {0}")]
    Ended(io::Error),
    #[error("not all ranks came within {} s: one hangs or is stopped", .0.as_secs())]
    Late(Duration),
    #[error("the fleet's agent: {0}")]
    Wrong(String),
}

#[derive(Debug)]
pub(super) struct Agent {
    process: Inheriting,
}

impl Agent {
    /// Builds the program if need be, and starts it.
    pub(super) fn start() -> Result<Agent, AgentError> {
        let line = command().map_err(|cause| AgentError::NotBuilt { cause, hint: hint() })?;
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

/// How it is built and started.
const ENTRY: &str = include_str!("../carried/fleet/agent.toml");

/// Its entry, in the form of a roster's.
pub fn entry() -> RosterEntry {
    let mut roster: Roster = toml::from_str(ENTRY).expect("the agent's entry is checked by a test");
    roster.entries.remove(0)
}

/// The command that starts it; it is built if need be.
fn command() -> Result<CommandLine, BuildError> {
    let entry = entry();
    entry.build_once(|| notice::show(format!("building {}", entry.name)))?;
    entry.command()
}

/// How the user gets what is missing to build it, after a semicolon.
fn hint() -> String {
    entry().hint().map(|hint| format!("; {hint}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_entry_is_one_and_has_a_hint_for_those_without_mpi() {
        let entry = super::entry();
        assert_eq!((entry.name.as_str(), entry.sources.as_deref()), ("fleet-agent", Some("fleet-agent")));
        assert!(entry.hint.is_some_and(|hint| hint.contains("apt-get install openmpi-bin libopenmpi-dev")));
    }
}
