//! The parent of one contender: a small process that sleeps while the contender reads, and ends
//! what the contender leaves.
//!
//! It is a subreaper, so whatever the contender's processes leave becomes its child, sessions and
//! double forks included. It wakes up for one reason alone: its socket. A byte asks it to end what
//! is left beside the contender; the end of the stream, which is also the lab's death, to end all.
//! It reaps the contender only then, so that the contender's number keeps its meaning for as long
//! as the lab uses it. The lab's side of the socket lives in [`super::running`].

use super::leftovers::{end_children, reap};
use super::process::CommandLine;
use rustix::process::{Pid, Signal, getpid, set_child_subreaper};
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What the lab writes to have leftovers ended.
pub(super) const SWEEP: u8 = b's';

/// How long a leftover may take to end by itself: the last of a pipeline is often about to.
const LEAVE: Duration = Duration::from_millis(20);

/// How long what was killed may take to go.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a supervisor stays for processes that cannot be killed now, when nobody waits for it
/// any more.
const LAST_PATIENCE: Duration = Duration::from_secs(8);

/// What is to be run, with its streams.
#[derive(Debug)]
pub(super) struct Task {
    /// The program and its arguments.
    pub(super) line: CommandLine,
    /// Where it runs; the lab's own folder if it is `None`.
    pub(super) folder: Option<PathBuf>,
    /// Standard input, output and error.
    pub(super) streams: [OwnedFd; 3],
}

/// What a supervisor says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    /// It runs: the contender's number and the supervisor's own.
    Started { contender: i32, supervisor: i32 },
    /// It could not be started, by the system's number of the error.
    NotStarted { error: i32 },
    /// What was left is ended.
    Swept { ended: i32, remaining: i32 },
    /// All is ended; the contender's status.
    Ended { status: i32 },
}

impl Report {
    /// The length of one on the socket.
    const BYTES: usize = 9;

    fn to_bytes(self) -> [u8; Report::BYTES] {
        let (kind, first, second) = match self {
            Report::Started { contender, supervisor } => (0, contender, supervisor),
            Report::NotStarted { error } => (1, error, 0),
            Report::Swept { ended, remaining } => (2, ended, remaining),
            Report::Ended { status } => (3, status, 0),
        };
        let mut bytes = [kind; Report::BYTES];
        bytes[1..5].copy_from_slice(&first.to_ne_bytes());
        bytes[5..].copy_from_slice(&second.to_ne_bytes());
        bytes
    }

    /// The next one; `UnexpectedEof` where the supervisor has gone.
    pub(super) fn read(mut from: &UnixStream) -> io::Result<Report> {
        let mut bytes = [0; Report::BYTES];
        from.read_exact(&mut bytes)?;
        let [kind, a, b, c, d, e, f, g, h] = bytes;
        let (first, second) = (i32::from_ne_bytes([a, b, c, d]), i32::from_ne_bytes([e, f, g, h]));
        Ok(match kind {
            0 => Report::Started { contender: first, supervisor: second },
            1 => Report::NotStarted { error: first },
            2 => Report::Swept { ended: first, remaining: second },
            _ => Report::Ended { status: first },
        })
    }
}

impl Task {
    /// The command that runs it in a process group of its own, and that dies with this process.
    pub(super) fn command(self) -> Command {
        let Task { line, folder, streams: [stdin, stdout, stderr] } = self;
        let mut command = Command::new(&line.program);
        command.args(&line.args).envs(line.env);
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
        command.process_group(0);
        die_with_this_process(&mut command);
        command
    }
}

/// Asks the kernel to kill the child when the thread that starts it ends, in whatever way; and
/// blocks no signal of it, as the launcher does of its own.
fn die_with_this_process(command: &mut Command) {
    let parent = getpid();
    let ask = move || {
        // SAFETY: the set is a live local, filled before it is used.
        unsafe {
            let mut none = MaybeUninit::uninit();
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        }
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died between the fork and the line above.
        if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    // SAFETY: between fork and exec only async-signal-safe calls are made: three system calls, no
    // allocation.
    unsafe { command.pre_exec(ask) };
}

/// Runs a task and stays until the lab lets go of it or dies. This is the whole life of the
/// process.
pub(super) fn supervise(task: Task, lab: &UnixStream) {
    // Without it leftovers go to the launcher, which is one too, and are ended with the lab.
    let _ = set_child_subreaper(Some(getpid()));
    let contender = match task.command().spawn() {
        Ok(child) => child.id(),
        Err(error) => {
            let error = error.raw_os_error().unwrap_or(rustix::io::Errno::NOENT.raw_os_error());
            return say(lab, Report::NotStarted { error });
        }
    };
    let supervisor = getpid().as_raw_nonzero().get();
    say(lab, Report::Started { contender: contender.cast_signed(), supervisor });
    let mut asked = [0];
    while let Ok(1) = read_one(lab, &mut asked) {
        say(lab, sweep(contender));
    }
    end(contender, lab);
}

/// Ends what is left beside the contender, after it had a moment to end by itself.
fn sweep(contender: u32) -> Report {
    let began = Instant::now();
    while !reap(Some(contender)).is_empty() && began.elapsed() < LEAVE {
        std::thread::sleep(Duration::from_millis(1));
    }
    let swept = end_children(Some(contender), None, PATIENCE);
    let whole = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
    Report::Swept { ended: whole(swept.ended), remaining: whole(swept.remaining) }
}

/// Ends the contender and everything else.
fn end(contender: u32, lab: &UnixStream) {
    if let Some(group) = Pid::from_raw(contender.cast_signed()) {
        // An empty group is what we want; no other error can happen to a group of our own children.
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
    let mut swept = end_children(None, Some(contender), PATIENCE);
    if swept.status.is_none() {
        swept = end_children(None, Some(contender), LAST_PATIENCE);
    }
    say(lab, Report::Ended { status: swept.status.unwrap_or(rustix::process::Signal::KILL.as_raw()) });
    if swept.remaining > 0 {
        end_children(None, None, LAST_PATIENCE);
    }
}

fn read_one(mut from: &UnixStream, into: &mut [u8; 1]) -> io::Result<usize> {
    loop {
        match from.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

fn say(mut lab: &UnixStream, report: Report) {
    // A lab that has gone hears nothing, and what follows is done for it all the same.
    let _ = lab.write_all(&report.to_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_report_is_read_as_it_was_said() {
        let (here, there) = UnixStream::pair().unwrap();
        let reports = [
            Report::Started { contender: 1 << 22, supervisor: 7 },
            Report::NotStarted { error: 2 },
            Report::Swept { ended: 3, remaining: 1 },
            Report::Ended { status: 0x0700 },
        ];
        reports.iter().for_each(|report| say(&there, *report));
        drop(there);
        for report in reports {
            assert_eq!(Report::read(&here).unwrap(), report);
        }
        assert_eq!(Report::read(&here).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
