//! The process from which programs are started. It is forked before the lab does anything else, so
//! that it is small, and it lives as long as the lab.
//!
//! The lab undoes its changes of the machine itself. The launcher holds the commands that undo
//! them, and runs these commands if the lab ends without having done so.
//!
//! The launcher forks one `supervisor` for each program that the lab runs, and passes it the
//! streams that the lab made, so that no other process is between the lab and a program. When the
//! sockets are closed, at the latest when the lab dies, every supervisor ends its processes. The
//! launcher is a subreaper too, and ends the processes that supervisors could not end. It has its
//! own process group and ignores all signals except SIGKILL, because it must outlive the lab.
//!
//! Without a launcher, as in unit tests, programs are children of the lab and die with it, but
//! processes that they start may remain (`super::running`).

use super::leftovers::end_children;
use super::supervisor::{Task, supervise};
use super::{CommandLine, PidNamedFile};
use crate::descriptor::redirect_streams_to_null;
use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, setpgid, waitpid};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The process name of the launcher and its supervisors. It differs from the lab's name, so that a
/// command that kills processes by the lab's name does not kill them.
const PROCESS_NAME: &std::ffi::CStr = c"launcher";

/// How long supervisors may take to end their processes before the launcher ends them.
const SUPERVISOR_LIMIT: Duration = Duration::from_secs(3);

const WAIT_STEP: Duration = Duration::from_millis(5);

/// How long the launcher tries to end the remaining processes.
const END_LIMIT: Duration = Duration::from_secs(5);

/// How long each command that undoes a change of the lab may take.
const UNDO_LIMIT: Duration = Duration::from_secs(30);

/// Number of descriptors sent with a task: its three streams, and the supervisor's end of its
/// socket or what the launcher keeps open.
const TASK_DESCRIPTORS: usize = 4;

/// The launcher of this process; `None` if it was not or could not be started.
static LAUNCHER: Mutex<Option<Launcher>> = Mutex::new(None);

/// The lab's side of the launcher.
#[derive(Debug)]
struct Launcher {
    socket: UnixStream,
    pid: Pid,
}

/// Forks the launcher. The lab also works without one, but then processes may survive if the lab is
/// killed.
pub fn begin() {
    // A fork copies only the calling thread, so locks held by other threads would stay locked in
    // the copy.
    if std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count) != 1 {
        return;
    }
    let Ok((ours, theirs)) = UnixStream::pair() else { return };
    // SAFETY: the copy of the only thread finds every lock free, and never returns into the caller.
    match unsafe { libc::fork() } {
        -1 => {}
        0 => {
            drop(ours);
            run_and_exit(|| serve(theirs));
        }
        child => {
            let Some(pid) = Pid::from_raw(child) else { return };
            *LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Launcher { socket: ours, pid });
        }
    }
}

/// Closes the launcher's socket and waits until it and everything below it have ended.
pub fn end() {
    let launcher = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Launcher { socket, pid }) = launcher {
        drop(socket);
        // If there is nothing to wait for, the launcher has ended already.
        let _ = retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty()));
    }
}

/// Starts a task and returns the socket to its supervisor; `None` if there is no launcher.
pub(super) fn launch(task: &Task) -> Option<io::Result<UnixStream>> {
    let launcher = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    let launcher = launcher.as_ref()?;
    if !task.can_be_sent() {
        return Some(Err(io::ErrorKind::InvalidInput.into()));
    }
    let sent = |(ours, theirs)| send(&launcher.socket, TaskPurpose::Now, task, &theirs).map(|()| ours);
    Some(UnixStream::pair().and_then(sent))
}

/// Makes the launcher run these commands in order if the lab ends before it calls this function
/// again. They undo what the lab is about to change. After a call without commands, none is run.
pub fn set_undo_commands(commands: &[CommandLine]) -> io::Result<()> {
    let (unused, _) = UnixStream::pair()?;
    set_undo_commands_holding(commands, &unused)
}

/// Like [`set_undo_commands`]; the launcher also keeps a copy of the descriptor `held`, such as a
/// socket that is a lock, until the commands have run or until the next call.
pub fn set_undo_commands_holding(commands: &[CommandLine], held: &impl AsFd) -> io::Result<()> {
    let launcher = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(launcher) = launcher.as_ref() else {
        return Err(io::Error::other("no process could be started that would undo it if this one is killed"));
    };
    // Every task is sent with three streams, though these commands need none.
    let null = || File::options().read(true).write(true).open("/dev/null").map(OwnedFd::from);
    let task = |line: CommandLine| {
        let task = Task { line, folder: None, streams: [null()?, null()?, null()?] };
        if task.can_be_sent() { Ok(task) } else { Err(io::Error::from(io::ErrorKind::InvalidInput)) }
    };
    let (mut ours, theirs) = UnixStream::pair()?;
    send(&launcher.socket, TaskPurpose::Forget, &task(CommandLine::default())?, &theirs)?;
    drop(theirs);
    // The launcher closes its end of the socket after it has closed what it held before. Waiting
    // for this makes sure that the next process finds the lock free.
    ours.read_to_end(&mut Vec::new())?;
    commands
        .iter()
        .try_for_each(|line| send(&launcher.socket, TaskPurpose::AtEnd, &task(line.clone())?, held))
}

/// What the launcher does with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskPurpose {
    /// Start the task.
    Now,
    /// Run the task when the lab has ended.
    AtEnd,
    /// Drop the tasks for the end. The task itself is empty.
    Forget,
}

impl TaskPurpose {
    fn word(self) -> &'static [u8] {
        match self {
            TaskPurpose::Now => b"now",
            TaskPurpose::AtEnd => b"at end",
            TaskPurpose::Forget => b"forget",
        }
    }

    fn parse(word: &[u8]) -> Option<TaskPurpose> {
        [TaskPurpose::Now, TaskPurpose::AtEnd, TaskPurpose::Forget].into_iter().find(|it| it.word() == word)
    }
}

/// Sends a task: first its length together with the descriptors, then its encoded words. The `last`
/// descriptor is the supervisor's end of its socket, or what the launcher keeps open.
fn send(mut socket: &UnixStream, purpose: TaskPurpose, task: &Task, last: &impl AsFd) -> io::Result<()> {
    let words = encode(purpose, task);
    let length = u64::try_from(words.len()).map_err(io::Error::other)?.to_ne_bytes();
    let [stdin, stdout, stderr] = &task.streams;
    let descriptors = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd(), last.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(TASK_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    // Eight bytes are sent completely or not at all.
    retry_on_intr(|| sendmsg(socket, &[IoSlice::new(&length)], &mut control, SendFlags::NOSIGNAL))?;
    socket.write_all(&words)
}

impl Task {
    /// True if no word contains a zero byte, which terminates words here and in the arguments of
    /// every program.
    fn can_be_sent(&self) -> bool {
        let CommandLine { program, args, env_removed, env, created_file: creates, cgroup_procs_path: enters } =
            &self.line;
        let variables = env_removed.iter().chain(env.iter().flat_map(|(name, value)| [name, value]));
        let name = creates.iter().flat_map(|file| [&file.before_pid, &file.after_pid]);
        let words = args.iter().chain(variables).chain(name).chain(enters);
        !words.chain([program]).any(|word| word.as_bytes().contains(&0))
    }
}

/// Encodes a task as words that each end in a zero byte: purpose, folder, program, both parts of
/// the name of the file that it creates, the group that it enters, number of arguments, arguments,
/// number of removed variables, their names, and names and values of added variables.
fn encode(purpose: TaskPurpose, task: &Task) -> Vec<u8> {
    let CommandLine { program, args, env_removed, env, created_file: creates, cgroup_procs_path: enters } =
        &task.line;
    let folder = task.folder.as_ref().map_or(&b""[..], |folder| folder.as_os_str().as_bytes());
    let counts = [args.len().to_string(), env_removed.len().to_string()];
    let name = creates.as_ref().map(|file| [file.before_pid.as_bytes(), file.after_pid.as_bytes()]);
    let [before, after] = name.unwrap_or_default();
    let group = enters.as_ref().map_or(&b""[..], |group| group.as_bytes());
    let mut words = vec![purpose.word(), folder, program.as_bytes(), before, after, group];
    words.push(counts[0].as_bytes());
    words.extend(args.iter().map(|word| word.as_bytes()));
    words.push(counts[1].as_bytes());
    words.extend(env_removed.iter().map(|name| name.as_bytes()));
    words.extend(env.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]));
    words.into_iter().flat_map(|word| word.iter().copied().chain([0])).collect()
}

/// Decodes what [`encode`] returned; `None` for any other bytes.
fn decode(bytes: &[u8], streams: [OwnedFd; 3]) -> Option<(TaskPurpose, Task)> {
    let words = bytes.strip_suffix(&[0])?.split(|&byte| byte == 0);
    let mut words = words.map(|word| OsString::from_vec(word.to_vec()));
    let purpose = TaskPurpose::parse(words.next()?.as_bytes())?;
    let (folder, program) = (words.next()?, words.next()?);
    let creates = PidNamedFile { before_pid: words.next()?, after_pid: words.next()? };
    let creates = Some(creates).filter(|file| !file.before_pid.is_empty());
    let enters = Some(words.next()?).filter(|group| !group.is_empty());
    let mut counted = || {
        let count = words.next()?.to_str()?.parse().ok()?;
        Some(words.by_ref().take(count).collect::<Vec<OsString>>())
    };
    let (args, env_removed) = (counted()?, counted()?);
    let mut env = Vec::new();
    while let Some(name) = words.next() {
        env.push((name, words.next()?));
    }
    let folder = Some(folder).filter(|folder| !folder.is_empty()).map(Into::into);
    let line =
        CommandLine { program, args, env_removed, env, created_file: creates, cgroup_procs_path: enters };
    Some((purpose, Task { line, folder, streams }))
}

/// Receives one task from the lab with its last descriptor; `None` when the lab has closed the
/// socket or died.
fn receive(mut lab: &UnixStream) -> Option<(TaskPurpose, Task, OwnedFd)> {
    let mut length = [0; 8];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(TASK_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
    let receive = || recvmsg(lab, &mut [IoSliceMut::new(&mut length)], &mut control, flags);
    let received = retry_on_intr(receive).ok()?;
    if received.bytes != length.len() {
        return None;
    }
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            descriptors.extend(fds);
        }
    }
    let [stdin, stdout, stderr, last] = <[OwnedFd; TASK_DESCRIPTORS]>::try_from(descriptors).ok()?;
    let mut words = vec![0; usize::try_from(u64::from_ne_bytes(length)).ok()?];
    lab.read_exact(&mut words).ok()?;
    let (purpose, task) = decode(&words, [stdin, stdout, stderr])?;
    Some((purpose, task, last))
}

/// The main loop of the launcher, until the lab ends.
fn serve(lab: UnixStream) {
    detach();
    let mut at_end = Vec::new();
    while let Some((purpose, task, last)) = receive(&lab) {
        match purpose {
            TaskPurpose::Now => {}
            TaskPurpose::AtEnd => {
                at_end.push((task, last));
                continue;
            }
            TaskPurpose::Forget => {
                at_end.clear();
                continue;
            }
        }
        // SAFETY: the launcher has one thread, so the copy finds every lock free, and it never
        // returns into this loop.
        match unsafe { libc::fork() } {
            // The lab notices the failure because the supervisor's socket is closed.
            -1 => {}
            0 => {
                // If a supervisor kept a copy of this socket, the lab would not notice the end of
                // the launcher. If it kept a copy of a lock's descriptor, the lock would stay
                // taken.
                drop(lab);
                drop(at_end);
                handle_child_signals(libc::SIG_DFL);
                run_and_exit(|| supervise(task, &UnixStream::from(last)));
            }
            _ => {}
        }
    }
    wait_for_children(SUPERVISOR_LIMIT);
    // All processes of the lab are ended first, so that none changes again what the commands undo.
    end_children(None, None, END_LIMIT);
    run_undo_commands(at_end);
}

/// Runs the commands that undo changes of the lab, one after the other. The descriptors that came
/// with them stay open until the last command has ended.
fn run_undo_commands(commands: Vec<(Task, OwnedFd)>) {
    let (tasks, _held): (Vec<Task>, Vec<OwnedFd>) = commands.into_iter().unzip();
    // If a child cannot execute its program, `spawn` waits for the child, which the kernel must not
    // have reaped.
    handle_child_signals(libc::SIG_DFL);
    for task in tasks {
        // If one command cannot be started, the others are still run.
        let _ = task.command().spawn();
        wait_for_children(UNDO_LIMIT);
        end_children(None, None, END_LIMIT);
    }
}

fn wait_for_children(time_limit: Duration) {
    let deadline = std::time::Instant::now() + time_limit;
    while !super::leftovers::reap_and_list_running(None).is_empty() && std::time::Instant::now() < deadline {
        std::thread::sleep(WAIT_STEP);
    }
}

/// Detaches this process from the lab's terminal, signals and output, so that it outlives the lab.
fn detach() {
    // Contenders can run without any of these calls; a failure only makes leftover processes more
    // likely.
    let _ = set_child_subreaper(Some(getpid()));
    let _ = rustix::thread::set_name(PROCESS_NAME);
    // The terminal sends Ctrl-C to the lab's group.
    let _ = setpgid(None, None);
    // A program that reads the lab's output must wait for the lab only, not for this process.
    redirect_streams_to_null();
    handle_child_signals(libc::SIG_IGN);
    // SAFETY: the set is a live local, filled before it is used. Programs that are started get an
    // empty one.
    unsafe {
        let mut all = MaybeUninit::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), std::ptr::null_mut());
    }
}

/// Sets the disposition of SIGCHLD. With SIG_IGN the kernel reaps children that end; the launcher
/// does not need their status.
fn handle_child_signals(how: libc::sighandler_t) {
    // SAFETY: neither of the two dispositions runs any code in this process.
    unsafe { libc::signal(libc::SIGCHLD, how) };
}

/// Runs a function and ends the process, without the lab's own cleanup.
fn run_and_exit(run: impl FnOnce()) -> ! {
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    // SAFETY: the call ends the process and runs nothing of what was copied.
    unsafe { libc::_exit(i32::from(ran.is_err())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};
    use std::path::Path;

    #[test]
    fn a_task_with_any_bytes_is_received_unchanged() {
        let (lab, launcher) = UnixStream::pair().unwrap();
        let null = || OwnedFd::from(File::open("/dev/null").unwrap());
        let odd = OsString::from_vec(vec![0xff, b'\n', b' ']);
        let lines = [
            CommandLine { program: "p".into(), ..CommandLine::default() },
            CommandLine {
                program: odd.clone(),
                args: vec!["".into(), odd.clone(), "a".repeat(1 << 20).into()],
                env_removed: vec!["X".into(), "Y".into()],
                env: vec![("N".into(), "".into()), ("M".into(), odd.clone())],
                created_file: Some(PidNamedFile { before_pid: "/tmp/perf-".into(), after_pid: odd }),
                cgroup_procs_path: Some("/sys/fs/cgroup/a b/cgroup.procs".into()),
            },
        ];
        for (line, folder) in lines.into_iter().zip([None, Some("/a b".into())]) {
            let task = Task { line: line.clone(), folder: folder.clone(), streams: [null(), null(), null()] };
            let (lab, (supervisor, _)) = (&lab, UnixStream::pair().unwrap());
            let arrived = std::thread::scope(|scope| {
                // A long task does not fit into the socket buffer at once.
                let sent = scope.spawn(move || send(lab, TaskPurpose::AtEnd, &task, &supervisor).unwrap());
                let arrived = receive(&launcher);
                sent.join().unwrap();
                arrived
            });
            let (purpose, arrived, _) = arrived.unwrap();
            assert_eq!((purpose, arrived.line, arrived.folder), (TaskPurpose::AtEnd, line, folder));
        }
        drop(lab);
        assert!(receive(&launcher).is_none(), "the lab has ended");
    }

    /// Starts a launcher whose lab has sent it tasks and died; returns the launcher's process id.
    /// Each task has a purpose, and creates the file of this name in the folder. The descriptor
    /// `held` is sent with each task.
    fn start_launcher_of_dead_lab(folder: &Path, purposes: &[(TaskPurpose, &str)], held: &impl AsFd) -> Pid {
        let (lab, launcher) = UnixStream::pair().unwrap();
        let null = || OwnedFd::from(File::options().read(true).write(true).open("/dev/null").unwrap());
        for &(purpose, name) in purposes {
            let file = folder.join(name);
            let args = vec!["-c".into(), r#"sleep 0.1; : >"$1""#.into(), "sh".into(), file.into()];
            let line = CommandLine { program: "sh".into(), args, ..CommandLine::default() };
            let task = Task { line, folder: None, streams: [null(), null(), null()] };
            send(&lab, purpose, &task, held).unwrap();
        }
        drop(lab);
        // SAFETY: the copy makes system calls and starts programs, and never returns.
        match unsafe { libc::fork() } {
            0 => run_and_exit(|| serve(launcher)),
            child => Pid::from_raw(child).unwrap(),
        }
    }

    fn wait_for_end(launcher: Pid) {
        retry_on_intr(|| waitpid(Some(launcher), WaitOptions::empty())).unwrap();
    }

    /// The files that exist when the launcher of a dead lab has ended.
    fn files_made_by(purposes: &[(TaskPurpose, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let (unused, _) = UnixStream::pair().unwrap();
        wait_for_end(start_launcher_of_dead_lab(folder.path(), purposes, &unused));
        let mut names: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_launcher_undoes_changes_that_a_dead_lab_left() {
        let (at_end, forget) = (TaskPurpose::AtEnd, TaskPurpose::Forget);
        assert_eq!(files_made_by(&[(at_end, "a"), (at_end, "b")]), ["a", "b"]);
        assert_eq!(files_made_by(&[(at_end, "a"), (forget, ""), (at_end, "c")]), ["c"]);
        assert!(files_made_by(&[(at_end, "a"), (forget, "")]).is_empty());
    }
    #[test]
    fn a_lock_is_held_until_the_changes_of_a_dead_lab_are_undone() {
        let folder = tempfile::tempdir().unwrap();
        let name = SocketAddr::from_abstract_name(folder.path().as_os_str().as_bytes()).unwrap();
        let lock = UnixListener::bind_addr(&name).unwrap();
        let launcher = start_launcher_of_dead_lab(folder.path(), &[(TaskPurpose::AtEnd, "undone")], &lock);
        drop(lock);
        while UnixListener::bind_addr(&name).is_err() {
            std::thread::sleep(WAIT_STEP);
        }
        assert!(folder.path().join("undone").exists());
        wait_for_end(launcher);
    }
}
