//! A program that was started, as a child of its supervisor or, without a launcher, of the lab.
//!
//! The program is not reaped before [`RunningProgram::end`], so its process id stays valid until
//! then. [`super::piped`] exchanges lines with it, and [`super::supervisor`] is the code of a
//! supervisor.

use super::leftovers::{children_of, is_running, kill_group};
use super::supervisor::{END_LEFTOVERS, SupervisorReport, Task};
use super::{ProgramError, launcher};
use crate::interrupt;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// Interval of the checks whether the user requests a stop, and, on kernels without process
/// descriptors, whether a program has ended.
const WAIT_STEP: Duration = Duration::from_millis(20);

/// How long a program may take to start. The kernel reads the beginning of its file, and a network
/// or a user-space file system may not respond.
const START_LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct RunningProgram {
    id: u32,
    parent: Parent,
}

#[derive(Debug)]
enum Parent {
    /// The lab itself.
    Lab(Child),
    /// The supervisor, by its process id and its socket.
    Supervisor(u32, UnixStream),
    /// No parent any more: the program has ended and was reaped.
    Reaped(ExitStatus),
}

/// Counts of the processes that a program left behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftoverCounts {
    /// Processes that were still running and were ended.
    pub ended: u32,
    /// Processes that could not be ended.
    pub remaining: u32,
}

impl RunningProgram {
    pub(super) fn start(task: Task) -> io::Result<RunningProgram> {
        let Some(socket) = launcher::launch(&task) else {
            let child = task.command().spawn()?;
            return Ok(RunningProgram { id: child.id(), parent: Parent::Lab(child) });
        };
        let socket = socket?;
        drop(task);
        socket.set_read_timeout(Some(START_LIMIT))?;
        let report = SupervisorReport::read(&socket).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => io::Error::new(io::ErrorKind::TimedOut, no_answer_message()),
            _ => error,
        })?;
        socket.set_read_timeout(None)?;
        match report {
            SupervisorReport::Started { program, supervisor } => {
                Ok(RunningProgram { id: program, parent: Parent::Supervisor(supervisor, socket) })
            }
            SupervisorReport::NotStarted { error } => Err(io::Error::from_raw_os_error(error)),
            SupervisorReport::LeftoversEnded(_) | SupervisorReport::Ended { .. } => {
                Err(io::ErrorKind::InvalidData.into())
            }
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// The process from which the program inherits what it does not change itself, such as its
    /// scheduling.
    pub(super) fn parent(&self) -> u32 {
        self.supervisor().unwrap_or_else(std::process::id)
    }

    /// The process that inherits processes whose parent in the program's family ended; `None`
    /// without a supervisor.
    pub(super) fn supervisor(&self) -> Option<u32> {
        match &self.parent {
            Parent::Supervisor(id, _) => Some(*id),
            Parent::Lab(_) | Parent::Reaped(_) => None,
        }
    }

    /// True if the program's descendants left processes to the supervisor. Without a supervisor
    /// this is not known.
    pub(super) fn has_leftovers(&self) -> bool {
        let Some(supervisor) = self.supervisor() else { return false };
        children_of(supervisor).iter().any(|&child| child != self.id)
    }

    /// Ends the processes that were left to the supervisor. If there are none, this costs one read
    /// of a list.
    pub(super) fn end_leftovers(&self) -> io::Result<LeftoverCounts> {
        let Parent::Supervisor(_, socket) = &self.parent else { return Ok(LeftoverCounts::default()) };
        if !self.has_leftovers() {
            return Ok(LeftoverCounts::default());
        }
        let mut to = socket;
        to.write_all(&[END_LEFTOVERS])?;
        match SupervisorReport::read(socket)? {
            SupervisorReport::LeftoversEnded(leftovers) => Ok(leftovers),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Waits until the program has ended or the user requests a stop, without reaping the program.
    pub(super) fn wait(&self, time_limit: Duration) -> Result<(), ProgramError> {
        let deadline = Instant::now() + time_limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if self.ends_within(left.min(WAIT_STEP)) {
                return Ok(());
            }
            if interrupt::is_stop_requested() {
                return Err(ProgramError::Interrupted);
            }
            if left.is_zero() {
                return Err(ProgramError::Timeout(time_limit));
            }
        }
    }

    /// Waits for at most this time; true if the program has ended. The program is not reaped.
    pub(super) fn ends_within(&self, within: Duration) -> bool {
        if matches!(self.parent, Parent::Reaped(_)) {
            return true;
        }
        let pid = Pid::from_raw(self.id.cast_signed());
        let Some(pidfd) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
            // The kernel is older than pidfd_open(2).
            let deadline = Instant::now() + within;
            while is_running(self.id) && Instant::now() < deadline {
                std::thread::sleep(WAIT_STEP.min(within));
            }
            return !is_running(self.id);
        };
        let timeout = within.try_into().expect("seconds fit a timespec");
        poll(&mut [PollFd::new(&pidfd.as_fd(), PollFlags::IN)], Some(&timeout)).is_ok_and(|ready| ready > 0)
    }

    /// Kills the program and the processes that it started (without a supervisor, its process
    /// group), and returns its exit status. A second call returns the same status.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        let status = match &mut self.parent {
            Parent::Reaped(status) => return Ok(*status),
            Parent::Lab(child) => {
                kill_group(self.id);
                child.wait()?
            }
            Parent::Supervisor(_, socket) => {
                socket.shutdown(std::net::Shutdown::Write)?;
                loop {
                    match SupervisorReport::read(socket)? {
                        SupervisorReport::Ended { status } => break ExitStatus::from_raw(status),
                        // This is the answer to an earlier request, whose sender did not wait for
                        // it.
                        _ => continue,
                    }
                }
            }
        };
        self.parent = Parent::Reaped(status);
        Ok(status)
    }
}

fn no_answer_message() -> String {
    format!(
        "it did not start within {} s: the file system that has it does not answer",
        START_LIMIT.as_secs()
    )
}
