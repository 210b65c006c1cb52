//! The parent of one program: a small process that sleeps while the program works, and ends the
//! processes that the program leaves behind.
//!
//! The supervisor is a subreaper: processes whose parent among the program's descendants ends
//! become its children, even after a new session or a double fork. It wakes up only for its socket.
//! A byte requests the end of everything except the program. The end of the stream, which also
//! follows from the lab's death, requests the end of everything. Only then is the program reaped,
//! so that its process id stays valid for as long as the lab uses it. [`super::running`] has the
//! lab's side of the socket.

use super::leftovers::{end_children, kill_children, kill_group, reap_and_list_running};
use super::running::LeftoverCounts;
use super::{CommandLine, PidNamedFile};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, set_child_subreaper};
use std::ffi::{CStr, CString, OsStr};
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

/// The byte with which the lab requests the end of leftovers.
pub(super) const END_LEFTOVERS: u8 = b's';

/// How long a leftover may take to end by itself; the last process of a pipeline often ends soon.
const LEFTOVER_GRACE: Duration = Duration::from_millis(20);

/// How long killed processes may take to end.
const END_LIMIT: Duration = Duration::from_secs(2);

/// How long a supervisor waits for processes that cannot be killed, after the lab has stopped
/// waiting.
const LAST_END_LIMIT: Duration = Duration::from_secs(8);

/// Longest name of a file that is created before a program runs.
const NAME_BYTES_MAX: usize = 4096;

#[derive(Debug)]
pub(super) struct Task {
    pub(super) line: CommandLine,
    /// The folder in which the program runs; `None` for the lab's own folder.
    pub(super) folder: Option<PathBuf>,
    pub(super) streams: [OwnedFd; 3],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SupervisorReport {
    /// The program runs.
    Started { program: u32, supervisor: u32 },
    /// The program could not be started; `error` is the system's error number.
    NotStarted { error: i32 },
    /// The processes that the program left behind have ended.
    LeftoversEnded(LeftoverCounts),
    /// All processes have ended; `status` is that of the program.
    Ended { status: i32 },
}

impl SupervisorReport {
    const BYTES: usize = 9;

    fn to_bytes(self) -> [u8; SupervisorReport::BYTES] {
        let (kind, first, second) = match self {
            SupervisorReport::Started { program, supervisor } => (0, program, supervisor),
            SupervisorReport::NotStarted { error } => (1, error.cast_unsigned(), 0),
            SupervisorReport::LeftoversEnded(LeftoverCounts { ended, remaining }) => (2, ended, remaining),
            SupervisorReport::Ended { status } => (3, status.cast_unsigned(), 0),
        };
        let mut bytes = [kind; SupervisorReport::BYTES];
        bytes[1..5].copy_from_slice(&first.to_ne_bytes());
        bytes[5..].copy_from_slice(&second.to_ne_bytes());
        bytes
    }

    /// Reads the next report; fails with `UnexpectedEof` if the supervisor has ended.
    pub(super) fn read(mut from: &UnixStream) -> io::Result<SupervisorReport> {
        let mut bytes = [0; SupervisorReport::BYTES];
        from.read_exact(&mut bytes)?;
        let [kind, a, b, c, d, e, f, g, h] = bytes;
        let (first, second) = (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]));
        Ok(match kind {
            0 => SupervisorReport::Started { program: first, supervisor: second },
            1 => SupervisorReport::NotStarted { error: first.cast_signed() },
            2 => SupervisorReport::LeftoversEnded(LeftoverCounts { ended: first, remaining: second }),
            _ => SupervisorReport::Ended { status: first.cast_signed() },
        })
    }
}

impl Task {
    /// The command that runs the program in its own process group. The program dies with this
    /// process. When memory runs out, the kernel kills the program before this process.
    pub(super) fn command(self) -> Command {
        let Task { line, folder, streams: [stdin, stdout, stderr] } = self;
        let mut command = line.command();
        if let Some(file) = &line.created_file {
            create_in_child(&mut command, file);
        }
        if let Some(processes) = &line.cgroup_procs_path {
            enter_in_child(&mut command, processes);
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

/// Prepares the child, before it executes the program: the kernel kills it when the thread that
/// starts it ends, and chooses it first when memory runs out. Also unblocks all signals.
fn prepare(command: &mut Command) {
    let parent = getpid();
    let in_child = move || {
        // SAFETY: the set is a live local, filled before it is used.
        unsafe {
            let mut none = MaybeUninit::uninit();
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        }
        prefer_for_oom_kill();
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died between the fork and the previous call.
        if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    // SAFETY: between fork and exec only async-signal-safe system calls are made: no allocation.
    unsafe { command.pre_exec(in_child) };
}

/// Makes the child create a file with its process id in the name before it executes the program. No
/// file of this name may exist, because the program's runtime would write to it, even through a link.
fn create_in_child(command: &mut Command, file: &PidNamedFile) {
    let PidNamedFile { before_pid: before, after_pid: after } = file.clone();
    let in_child = move || {
        let mut name = [0; NAME_BYTES_MAX];
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
    // on the child's stack. Only a name that is too long allocates, and then the program is not
    // started.
    unsafe { command.pre_exec(in_child) };
}

/// Makes the child enter a control group before it executes the program, so that the group is
/// charged for all memory of the program.
fn enter_in_child(command: &mut Command, processes: &OsStr) {
    // A path with a zero byte is sent by no lab, and cannot be opened.
    let path = CString::new(processes.as_bytes()).unwrap_or_default();
    let in_child = move || {
        let file = rustix::fs::open(path.as_c_str(), OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        // The kernel takes 0 for the writing process.
        rustix::io::write(&file, b"0")?;
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe system calls are made: no allocation.
    unsafe { command.pre_exec(in_child) };
}

/// Makes the OOM killer choose this process and its descendants first, in the machine or in a
/// control group that the lab shares with its contenders. Raising the value needs no rights.
fn prefer_for_oom_kill() {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    if let Ok(file) = rustix::fs::open(c"/proc/self/oom_score_adj", flags, Mode::empty()) {
        // A program can run without this; the kernel then chooses by size alone.
        let _ = rustix::io::write(&file, b"1000");
    }
}

/// Runs a task until the lab closes the socket or dies. The process does nothing else.
pub(super) fn supervise(task: Task, lab: &UnixStream) {
    // If this fails, the launcher inherits leftovers, and ends them when the lab ends.
    let _ = set_child_subreaper(Some(getpid()));
    let program = match start_unless_lab_leaves(lab, || task.command().spawn()) {
        Ok(child) => child.id(),
        Err(error) => {
            let error = error.raw_os_error().unwrap_or(rustix::io::Errno::NOENT.raw_os_error());
            return send(lab, SupervisorReport::NotStarted { error });
        }
    };
    send(lab, SupervisorReport::Started { program, supervisor: std::process::id() });
    let mut requests = lab;
    while requests.read_exact(&mut [0]).is_ok() {
        send(lab, end_leftovers(program));
    }
    end(program, lab);
}

/// Starts the program. This thread waits for as long as the program's file system takes. A lab that
/// stops waiting closes the socket; the child that was to become the program is then killed.
fn start_unless_lab_leaves(lab: &UnixStream, start: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
    let (is_started, started) = io::pipe()?;
    let watch = || {
        let mut ends = [PollFd::new(lab, PollFlags::RDHUP), PollFd::new(&is_started, PollFlags::IN)];
        while poll(&mut ends, None).is_err_and(|error| error == Errno::INTR) {}
        if ends[1].revents().is_empty() {
            kill_children();
        }
    };
    thread::scope(|scope| {
        // If no further thread can be created, the socket is not watched.
        let _ = thread::Builder::new().spawn_scoped(scope, watch);
        let child = start();
        drop(started);
        child
    })
}

/// Ends what the program left behind, after a moment in which it may end by itself.
fn end_leftovers(program: u32) -> SupervisorReport {
    let began = Instant::now();
    while !reap_and_list_running(Some(program)).is_empty() && began.elapsed() < LEFTOVER_GRACE {
        std::thread::sleep(Duration::from_millis(1));
    }
    SupervisorReport::LeftoversEnded(end_children(Some(program), None, END_LIMIT).leftovers)
}

fn end(program: u32, lab: &UnixStream) {
    kill_group(program);
    let mut outcome = end_children(None, Some(program), END_LIMIT);
    if outcome.status.is_none() {
        outcome = end_children(None, Some(program), LAST_END_LIMIT);
    }
    send(lab, SupervisorReport::Ended { status: outcome.status.unwrap_or(Signal::KILL.as_raw()) });
    if outcome.leftovers.remaining > 0 {
        end_children(None, None, LAST_END_LIMIT);
    }
}

fn send(mut lab: &UnixStream, report: SupervisorReport) {
    // A lab that has ended does not receive the report; that is not an error.
    let _ = lab.write_all(&report.to_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::{ProgramError, run_to_end};
    use super::*;
    use std::ffi::OsString;
    use std::fs::File;
    use std::io::Seek;
    use std::path::Path;
    use std::process::ExitStatus;

    fn run(line: &CommandLine, output: &File) -> Result<ExitStatus, ProgramError> {
        run_to_end(line, Path::new("/"), output, Duration::from_secs(60))
    }

    /// When a control group runs out of memory, the kernel must kill the contender and not the lab.
    #[test]
    fn the_oom_killer_prefers_programs_and_not_the_lab() {
        let own = || std::fs::read_to_string("/proc/self/oom_score_adj").unwrap();
        let before = own();
        let mut output = tempfile::tempfile().unwrap();
        let line = CommandLine {
            program: "cat".into(),
            args: vec!["/proc/self/oom_score_adj".into()],
            ..CommandLine::default()
        };
        run(&line, &output).unwrap();
        output.rewind().unwrap();
        let mut shown = String::new();
        output.read_to_string(&mut shown).unwrap();
        assert_eq!((shown.trim(), own()), ("1000", before));
    }

    #[test]
    fn the_file_with_the_process_id_exists_before_the_program_runs_and_no_other_file_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let before = folder.path().join("map-").into_os_string();
        // The script writes to any file of this name, as runtimes do.
        let script = r#"echo 1 >>"$1$$.map""#;
        let line = |before: &OsString| CommandLine {
            program: "sh".into(),
            args: vec!["-c".into(), script.into(), "sh".into(), before.clone()],
            created_file: Some(PidNamedFile { before_pid: before.clone(), after_pid: ".map".into() }),
            ..CommandLine::default()
        };
        let run = |line: &CommandLine| run(line, &tempfile::tempfile().unwrap());
        run(&line(&before)).unwrap();
        let made: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
        assert_eq!(made.len(), 1);
        assert_eq!(std::fs::read(made[0].path()).unwrap(), b"1\n");
        // Every process has this file, so it cannot be created.
        let planted = CommandLine {
            created_file: Some(PidNamedFile { before_pid: "/proc/".into(), after_pid: "/status".into() }),
            ..line(&before)
        };
        assert!(run(&planted).is_err(), "something has that name");
    }

    #[test]
    fn a_program_enters_its_group_before_it_runs_or_is_not_started() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let run = |enters: OsString| {
            let line = CommandLine {
                program: "true".into(),
                cgroup_procs_path: Some(enters),
                ..CommandLine::default()
            };
            run(&line, &tempfile::tempfile().unwrap())
        };
        run(file.path().into()).unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), b"0");
        assert!(run("/proc/no such group".into()).is_err());
    }

    #[test]
    fn every_report_is_received_unchanged() {
        let (here, there) = UnixStream::pair().unwrap();
        let reports = [
            SupervisorReport::Started { program: 1 << 22, supervisor: 7 },
            SupervisorReport::NotStarted { error: 2 },
            SupervisorReport::LeftoversEnded(LeftoverCounts { ended: 3, remaining: 1 }),
            SupervisorReport::Ended { status: 0x0700 },
        ];
        reports.iter().for_each(|report| send(&there, *report));
        drop(there);
        for report in reports {
            assert_eq!(SupervisorReport::read(&here).unwrap(), report);
        }
        assert_eq!(SupervisorReport::read(&here).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
