//! File descriptors: waiting for one to become readable, paths of open files, and errors that mean
//! that no descriptor is left.

use super::process::FileId;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The descriptors below this number are examined for pipes and sockets.
const DESCRIPTORS_MAX: RawFd = 1 << 16;

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

/// Closes all pipes and sockets from the descriptor `first`. The calls that tell them from files access
/// no file system.
///
/// # Safety
/// Only in a process that only ends, or that was just forked.
pub(super) unsafe fn close_pipes_and_sockets(first: RawFd) {
    for descriptor in first..DESCRIPTORS_MAX {
        let (mut kind, mut kind_bytes): (libc::c_int, libc::socklen_t) = (0, KIND_BYTES);
        // SAFETY: the pointers are to live locals of these sizes, and a call for a number that is no
        // open descriptor, or none of this kind, fails without effect.
        unsafe {
            let is_pipe = libc::fcntl(descriptor, libc::F_GETPIPE_SZ) >= 0;
            let (value, bytes) = ((&raw mut kind).cast(), &raw mut kind_bytes);
            let is_socket = libc::getsockopt(descriptor, libc::SOL_SOCKET, libc::SO_TYPE, value, bytes) == 0;
            if is_pipe || is_socket {
                libc::close(descriptor);
            }
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
