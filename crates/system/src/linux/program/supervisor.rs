//! The parent of one program: a small process that sleeps while the program works, and ends the
//! processes that the program leaves behind.
//!
//! It is a subreaper: processes that the program's descendants leave become its children, sessions
//! and double forks included. It wakes up only for its socket. A byte requests the end of
//! everything but the program; the end of the stream, which is also the lab's death, the end of
//! all. It reaps the program only then, so that the program's number keeps its meaning for as long
//! as the lab uses it. [`super::running`] has the lab's side of the socket.

use super::leftovers::{end_children, kill_children, kill_group, reap};
use super::running::Leftovers;
use super::{CommandLine, NumberedFile};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, set_child_subreaper};
use std::ffi::CStr;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What the lab writes to have leftovers ended.
pub(super) const END_LEFTOVERS: u8 = b's';

/// How long a leftover may take to end by itself: the last of a pipeline is often about to.
const LEFTOVER_GRACE: Duration = Duration::from_millis(20);

/// How long killed processes may take to end.
const END_LIMIT: Duration = Duration::from_secs(2);

/// How long a supervisor waits for processes that cannot be killed when the lab waits no longer.
const LAST_END_LIMIT: Duration = Duration::from_secs(8);

/// Bytes of the longest name of a file that a program makes first.
const NAME_BYTES: usize = 4096;

#[derive(Debug)]
pub(super) struct Task {
    pub(super) line: CommandLine,
    /// Where it runs; the lab's own folder if it is `None`.
    pub(super) folder: Option<PathBuf>,
    pub(super) streams: [OwnedFd; 3],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    /// It runs: the program's number and the supervisor's own.
    Started { program: u32, supervisor: u32 },
    /// It could not be started, by the system's number of the error.
    NotStarted { error: i32 },
    /// What the program left behind is ended.
    LeftoversEnded(Leftovers),
    /// All is ended; the program's status.
    Ended { status: i32 },
}

impl Report {
    const BYTES: usize = 9;

    fn to_bytes(self) -> [u8; Report::BYTES] {
        let (kind, first, second) = match self {
            Report::Started { program, supervisor } => (0, program, supervisor),
            Report::NotStarted { error } => (1, error.cast_unsigned(), 0),
            Report::LeftoversEnded(Leftovers { ended, remaining }) => (2, ended, remaining),
            Report::Ended { status } => (3, status.cast_unsigned(), 0),
        };
        let mut bytes = [kind; Report::BYTES];
        bytes[1..5].copy_from_slice(&first.to_ne_bytes());
        bytes[5..].copy_from_slice(&second.to_ne_bytes());
        bytes
    }

    /// The next one; `UnexpectedEof` where the supervisor has ended.
    pub(super) fn read(mut from: &UnixStream) -> io::Result<Report> {
        let mut bytes = [0; Report::BYTES];
        from.read_exact(&mut bytes)?;
        let [kind, a, b, c, d, e, f, g, h] = bytes;
        let (first, second) = (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]));
        Ok(match kind {
            0 => Report::Started { program: first, supervisor: second },
            1 => Report::NotStarted { error: first.cast_signed() },
            2 => Report::LeftoversEnded(Leftovers { ended: first, remaining: second }),
            _ => Report::Ended { status: first.cast_signed() },
        })
    }
}

impl Task {
    /// The command that runs it in a process group of its own. It dies with this process, and
    /// before it where memory runs out.
    pub(super) fn command(self) -> Command {
        let Task { line, folder, streams: [stdin, stdout, stderr] } = self;
        let mut command = line.command();
        if let Some(file) = &line.creates {
            create_in_child(&mut command, file);
        }
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
        command.process_group(0);
        prepare(&mut command);
        command
    }
}

/// Has the child do, before it becomes the program, what makes the kernel end it first: when the
/// thread that starts it ends, and when memory runs out. It unblocks all signals, too.
fn prepare(command: &mut Command) {
    let parent = getpid();
    let in_child = move || {
        // SAFETY: the set is a live local, filled before it is used.
        unsafe {
            let mut none = MaybeUninit::uninit();
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        }
        be_killed_first_without_memory();
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died between the fork and the line above.
        if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    // SAFETY: between fork and exec only async-signal-safe system calls are made: no allocation.
    unsafe { command.pre_exec(in_child) };
}

/// Has the child make a file with its own number in the name before it becomes the program, whose
/// runtime writes to a file of this name whatever it is.
fn create_in_child(command: &mut Command, file: &NumberedFile) {
    let NumberedFile { before, after } = file.clone();
    let in_child = move || {
        let mut name = [0; NAME_BYTES];
        let mut rest = &mut name[..];
        rest.write_all(before.as_bytes())?;
        write!(rest, "{}", getpid().as_raw_nonzero())?;
        rest.write_all(after.as_bytes())?;
        rest.write_all(&[0])?;
        let name = CStr::from_bytes_until_nul(&name).map_err(io::Error::other)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::open(name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made, and bytes are written to an array
    // of the child's: no allocation unless the name is too long, and then no program.
    unsafe { command.pre_exec(in_child) };
}

/// Makes this process and all that it starts the kernel's first choice when memory runs out, in the
/// machine or in a control group that the lab shares with its contenders. Raising needs no rights.
fn be_killed_first_without_memory() {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    if let Ok(file) = rustix::fs::open(c"/proc/self/oom_score_adj", flags, Mode::empty()) {
        // A program can run without it: then the kernel chooses by size alone.
        let _ = rustix::io::write(&file, b"1000");
    }
}

/// Runs a task until the lab closes the socket or dies. The process does nothing else.
pub(super) fn supervise(task: Task, lab: &UnixStream) {
    // Without it leftovers go to the launcher, a subreaper too, and are ended with the lab.
    let _ = set_child_subreaper(Some(getpid()));
    let program = match killed_if_the_lab_leaves(lab, || task.command().spawn()) {
        Ok(child) => child.id(),
        Err(error) => {
            let error = error.raw_os_error().unwrap_or(rustix::io::Errno::NOENT.raw_os_error());
            return send(lab, Report::NotStarted { error });
        }
    };
    send(lab, Report::Started { program, supervisor: std::process::id() });
    let mut requests = lab;
    while requests.read_exact(&mut [0]).is_ok() {
        send(lab, end_leftovers(program));
    }
    end(program, lab);
}

/// Starts the program, for which this thread waits however long its file system takes. Where the
/// lab does not wait so long, it closes the socket: then the child that begins it is killed.
fn killed_if_the_lab_leaves(
    lab: &UnixStream,
    start: impl FnOnce() -> io::Result<Child>,
) -> io::Result<Child> {
    let (is_started, started) = io::pipe()?;
    let watch = || {
        let mut ends = [PollFd::new(lab, PollFlags::RDHUP), PollFd::new(&is_started, PollFlags::IN)];
        while poll(&mut ends, None).is_err_and(|error| error == Errno::INTR) {}
        if ends[1].revents().is_empty() {
            kill_children();
        }
    };
    thread::scope(|scope| {
        // Where processes are limited, nobody watches.
        let _ = thread::Builder::new().spawn_scoped(scope, watch);
        let child = start();
        drop(started);
        child
    })
}

/// Ends what the program left behind, after a moment in which that may end by itself.
fn end_leftovers(program: u32) -> Report {
    let began = Instant::now();
    while !reap(Some(program)).is_empty() && began.elapsed() < LEFTOVER_GRACE {
        std::thread::sleep(Duration::from_millis(1));
    }
    let outcome = end_children(Some(program), None, END_LIMIT);
    Report::LeftoversEnded(Leftovers { ended: outcome.ended, remaining: outcome.remaining })
}

fn end(program: u32, lab: &UnixStream) {
    kill_group(program);
    let mut outcome = end_children(None, Some(program), END_LIMIT);
    if outcome.status.is_none() {
        outcome = end_children(None, Some(program), LAST_END_LIMIT);
    }
    send(lab, Report::Ended { status: outcome.status.unwrap_or(Signal::KILL.as_raw()) });
    if outcome.remaining > 0 {
        end_children(None, None, LAST_END_LIMIT);
    }
}

fn send(mut lab: &UnixStream, report: Report) {
    // A lab that has ended receives nothing; what follows is done all the same.
    let _ = lab.write_all(&report.to_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::io::Seek;

    /// The lab itself keeps what it has: where both would fill a group, the contender goes.
    #[test]
    fn a_program_is_the_first_to_be_killed_without_memory_and_the_lab_is_not() {
        let own = || std::fs::read_to_string("/proc/self/oom_score_adj").unwrap();
        let before = own();
        let mut output = tempfile::tempfile().unwrap();
        let line = CommandLine {
            program: "cat".into(),
            args: vec!["/proc/self/oom_score_adj".into()],
            ..CommandLine::default()
        };
        let limit = Duration::from_secs(60);
        super::super::run_to_end(&line, std::path::Path::new("/"), &output, limit).unwrap();
        output.rewind().unwrap();
        let mut shown = String::new();
        output.read_to_string(&mut shown).unwrap();
        assert_eq!((shown.trim(), own()), ("1000", before));
    }

    #[test]
    fn a_file_with_the_programs_number_is_there_before_it_and_nothing_else_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let before = folder.path().join("map-").into_os_string();
        // A program writes to it whatever it is, as runtimes do.
        let script = r#"echo 1 >>"$1$$.map""#;
        let line = |before: &OsString| CommandLine {
            program: "sh".into(),
            args: vec!["-c".into(), script.into(), "sh".into(), before.clone()],
            creates: Some(NumberedFile { before: before.clone(), after: ".map".into() }),
            ..CommandLine::default()
        };
        let run = |line: &CommandLine| {
            let output = tempfile::tempfile().unwrap();
            super::super::run_to_end(line, std::path::Path::new("/"), &output, Duration::from_secs(60))
        };
        run(&line(&before)).unwrap();
        let made: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
        assert_eq!(made.len(), 1);
        assert_eq!(std::fs::read(made[0].path()).unwrap(), b"1\n");
        // A file that every process has.
        let planted = CommandLine {
            creates: Some(NumberedFile { before: "/proc/".into(), after: "/status".into() }),
            ..line(&before)
        };
        assert!(run(&planted).is_err(), "something has that name");
    }

    #[test]
    fn every_report_is_read_as_it_was_sent() {
        let (here, there) = UnixStream::pair().unwrap();
        let reports = [
            Report::Started { program: 1 << 22, supervisor: 7 },
            Report::NotStarted { error: 2 },
            Report::LeftoversEnded(Leftovers { ended: 3, remaining: 1 }),
            Report::Ended { status: 0x0700 },
        ];
        reports.iter().for_each(|report| send(&there, *report));
        drop(there);
        for report in reports {
            assert_eq!(Report::read(&here).unwrap(), report);
        }
        assert_eq!(Report::read(&here).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
