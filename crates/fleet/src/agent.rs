//! The agent: a program that is linked to MPI, and its process. Like contenders, it is built before
//! its first use, with this machine's `mpicc`. Every answer has a deadline, because a rank that
//! hangs keeps all others waiting.

use super::job::JobError;
use super::message::{HEADER_BYTES, MessageKind, body_size_bytes, encode_message};
use readlab_catalog::roster::{Roster, RosterEntry};
use readlab_roster::build::{Build, BuildError};
use readlab_roster::discovery::Query;
use readlab_system::program::CommandLine;
use readlab_system::program::inheriting::InheritingProgram;
use readlab_system::terminal::notice;
use std::fmt::Display;
use std::io;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Agent {
    process: InheritingProgram,
}

impl Agent {
    /// Builds the program if necessary, and starts it.
    pub(super) fn start() -> Result<Agent, JobError> {
        let line = agent_command().map_err(|cause| agent_error(format!("{cause}{}", hint_suffix())))?;
        Ok(Agent { process: InheritingProgram::start(&line).map_err(agent_error)? })
    }

    /// Sends a message, and returns the body of the answer. Keeps waiting even if the user wants to
    /// stop: the other ranks learn about the stop from an answer, and end in order.
    pub(super) fn ask(
        &mut self,
        kind: MessageKind,
        body: &[u8],
        time_limit: Duration,
    ) -> Result<Vec<u8>, JobError> {
        self.process.write(&encode_message(kind, body)).map_err(job_ended_error)?;
        let deadline = Instant::now() + time_limit;
        let failed = |cause: io::Error| match cause.kind() {
            io::ErrorKind::TimedOut => {
                let seconds = time_limit.as_secs();
                JobError(format!("not all ranks came within {seconds} s: one hangs or is stopped"))
            }
            _ => job_ended_error(cause),
        };
        let mut head = [0; HEADER_BYTES];
        self.process.read(&mut head, deadline).map_err(failed)?;
        let mut answer = vec![0; body_size_bytes(head, kind).map_err(agent_error)?];
        self.process.read(&mut answer, deadline).map_err(failed)?;
        Ok(answer)
    }

    /// Makes the agent leave the job, which every rank must do.
    pub(super) fn end(self) {
        self.send_last(MessageKind::End, "");
    }

    /// Makes the agent end the whole job, with this reason on standard error.
    pub(super) fn abort(self, reason: &str) {
        self.send_last(MessageKind::Abort, reason);
    }

    fn send_last(mut self, kind: MessageKind, reason: &str) {
        // An agent that has ended needs no message.
        let _ = self.process.write(&encode_message(kind, reason.as_bytes()));
        self.process.await_end();
    }
}

fn agent_error(why: impl Display) -> JobError {
    JobError(format!("the fleet's agent: {why}"))
}

/// The error after the agent has ended, because MPI or another rank ended the job.
pub(super) fn job_ended_error(cause: io::Error) -> JobError {
    JobError(format!("the MPI job ended: {cause}"))
}

/// A roster in TOML with one entry, by which the agent is built and started.
const AGENT_ENTRY: &str = include_str!("../carried/fleet/agent.toml");

/// The agent's entry, parsed from the built-in text.
pub fn roster_entry() -> RosterEntry {
    let mut roster: Roster = toml::from_str(AGENT_ENTRY).expect("the agent's entry is checked by a test");
    roster.entries.remove(0)
}

/// The command that starts the agent, which is built if necessary.
fn agent_command() -> Result<CommandLine, BuildError> {
    let entry = roster_entry();
    entry.build_if_needed(|| notice::show(format!("building {}", entry.name)))?;
    entry.command()
}

/// How to install what is missing to build the agent, after a semicolon.
fn hint_suffix() -> String {
    roster_entry().hint().map(|hint| format!("; {hint}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_roster_has_one_entry_with_a_hint_for_machines_without_mpi() {
        let entry = super::roster_entry();
        assert_eq!((entry.name.as_str(), entry.sources.as_deref()), ("fleet-agent", Some("fleet-agent")));
        assert!(entry.hint.is_some_and(|hint| hint.contains("apt-get install openmpi-bin libopenmpi-dev")));
    }
}
