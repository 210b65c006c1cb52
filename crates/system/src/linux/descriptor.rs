//! File descriptors: waiting for one to become readable, paths of open files, and errors that mean
//! that no descriptor is left.

use super::process::FileId;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The descriptors below this number are examined for pipes and sockets if the open ones cannot be
/// listed.
const DESCRIPTORS_MAX: RawFd = 1 << 16;

/// Size of the buffer for the list of open descriptors.
const LIST_BYTES: usize = 4096;

/// Size of the type of a socket, a `c_int`.
const KIND_BYTES: libc::socklen_t = 4;

/// The path of an open file through its descriptor, valid only in this process.
pub(super) fn path_by_descriptor(file: &File) -> PathBuf {
    Path::new("/proc/self/fd").join(file.as_raw_fd().to_string())
}

/// Waits until data or the end of the stream can be read; `false` if the deadline passes before.
pub(super) fn becomes_readable(from: &impl AsFd, deadline: Instant) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = left.try_into().map_err(|_| io::ErrorKind::InvalidInput)?;
        match poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&left)) {
            Err(Errno::INTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

/// Replaces the standard streams by /dev/null. Signal handlers may call this function, because it
/// makes only system calls.
pub(super) fn redirect_streams_to_null() {
    if let Ok(null) = rustix::fs::open(c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

/// Closes all pipes and sockets from the descriptor `first`. The calls that list the descriptors and
/// tell pipes and sockets from files access only /proc. Signal handlers may call this function, and
/// so may the copy of one of several threads: it makes only system calls, and allocates no memory.
///
/// # Safety
/// Only in a process that only ends, or that was just forked.
pub(super) unsafe fn close_pipes_and_sockets(first: RawFd) {
    let close = |descriptor| {
        // SAFETY: no code of this process uses the descriptor again, as the caller promises.
        unsafe { close_pipe_or_socket(descriptor) }
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::open(c"/proc/self/fd", flags, Mode::empty()) else {
        // There is no /proc, or no descriptor is left.
        return (first..DESCRIPTORS_MAX).for_each(close);
    };
    let mut list = [MaybeUninit::uninit(); LIST_BYTES];
    let mut entries = RawDir::new(folder, &mut list);
    while let Some(Ok(entry)) = entries.next() {
        let number = entry.file_name().to_str().ok().and_then(|name| name.parse::<RawFd>().ok());
        number.into_iter().filter(|number| *number >= first).for_each(close);
    }
}

/// # Safety
/// Only in a process that does not use the descriptor again.
unsafe fn close_pipe_or_socket(descriptor: RawFd) {
    let (mut kind, mut kind_bytes): (libc::c_int, libc::socklen_t) = (0, KIND_BYTES);
    // SAFETY: the pointers are to live locals of these sizes, and a call for a number that is no
    // open descriptor, or none of this kind, fails without effect. The caller promises that closing
    // the descriptor takes it from nobody.
    unsafe {
        let is_pipe = libc::fcntl(descriptor, libc::F_GETPIPE_SZ) >= 0;
        let (value, bytes) = ((&raw mut kind).cast(), &raw mut kind_bytes);
        let is_socket = libc::getsockopt(descriptor, libc::SOL_SOCKET, libc::SO_TYPE, value, bytes) == 0;
        if is_pipe || is_socket {
            libc::close(descriptor);
        }
    }
}

/// The path of an open regular file, without symbolic links; `None` if no path leads to the file
/// any more.
pub fn path_of(file: &File) -> Option<PathBuf> {
    let name = fs::read_link(path_by_descriptor(file)).ok()?;
    (FileId::at(&name)? == FileId::of_metadata(&file.metadata().ok()?)).then_some(name)
}

/// True if the content of a folder may differ between processes, as that of /proc/self/fd, to which
/// /dev/stdin leads. The path must have no symbolic links.
pub fn is_process_specific(folder: &Path) -> bool {
    folder.starts_with("/proc") || folder.starts_with("/dev")
}

/// True if a call failed because the process or the machine has no descriptors left.
pub fn is_exhaustion(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::MFILE, Errno::NFILE].iter().any(|exhausted| code == Some(exhausted.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{
        Pid, Resource, Rlimit, Signal, WaitOptions, getrlimit, kill_process, setrlimit, waitpid,
    };
    use std::time::Duration;

    /// Closes pipes and sockets in a child process that has copied a descriptor to this number, and
    /// then only sleeps.
    fn fork_and_close(copied: RawFd, number: RawFd) -> Pid {
        // SAFETY: the child makes system calls alone, uses nothing afterwards, and never returns.
        unsafe {
            match libc::fork() {
                0 => {
                    let maximum = getrlimit(Resource::Nofile).maximum;
                    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
                    if libc::dup2(copied, number) < 0 {
                        libc::_exit(libc::EXIT_FAILURE);
                    }
                    close_pipes_and_sockets(0);
                    libc::sleep(60);
                    libc::_exit(0)
                }
                child => Pid::from_raw(child).unwrap(),
            }
        }
    }

    #[test]
    fn pipes_and_sockets_are_closed_whatever_their_numbers_and_files_are_not() {
        let number = DESCRIPTORS_MAX + 5;
        let most = getrlimit(Resource::Nofile).maximum;
        if most.is_some_and(|most| most <= u64::from(number.cast_unsigned())) {
            eprintln!("SKIPPED: a pipe with a great number: this user may not open so many files");
            return;
        }
        let (pipe, writer) = io::pipe().unwrap();
        let (socket, other_end) = std::os::unix::net::UnixStream::pair().unwrap();
        let file = File::open("/proc/self/exe").unwrap();
        let children = [writer.as_raw_fd(), other_end.as_raw_fd()].map(|it| fork_and_close(it, number));
        drop((writer, other_end));
        let deadline = Instant::now() + Duration::from_secs(30);
        let are_closed = [becomes_readable(&pipe, deadline), becomes_readable(&socket, deadline)];
        let of_child = |child: Pid| format!("/proc/{}/fd/{}", child.as_raw_nonzero(), file.as_raw_fd());
        let files = children.map(|child| fs::read_link(of_child(child)));
        for child in children {
            let _ = kill_process(child, Signal::KILL);
            let _ = waitpid(Some(child), WaitOptions::empty());
        }
        assert!(are_closed.into_iter().all(|it| it.unwrap()), "the end of each stream was read");
        let program = fs::canonicalize("/proc/self/exe").unwrap();
        files.into_iter().for_each(|it| assert_eq!(it.unwrap(), program));
    }
}
