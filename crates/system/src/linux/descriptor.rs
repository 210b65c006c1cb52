//! File descriptors: waiting for one to become readable, paths of open files, and errors that mean
//! that no descriptor is left.

use super::process::FileId;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

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
