//! File descriptors: waiting for one, paths that depend on them, and errors that mean that none is left.

use super::process::FileId;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The path of an open file by its descriptor, for this process alone.
pub(super) fn path(file: &File) -> PathBuf {
    Path::new("/proc/self/fd").join(file.as_raw_fd().to_string())
}

/// Whether there are bytes or the end to read before a deadline.
pub(super) fn is_readable(from: &impl AsFd, deadline: Instant) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = left.try_into().map_err(|_| io::ErrorKind::InvalidInput)?;
        match poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&left)) {
            Err(Errno::INTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

/// The path without links by which an open regular file is found; `None` where none leads to it.
pub fn name_of(file: &File) -> Option<PathBuf> {
    let name = fs::read_link(path(file)).ok()?;
    (FileId::at(&name)? == FileId::of_metadata(&file.metadata().ok()?)).then_some(name)
}

/// Whether a folder without links differs between processes, as that of /dev/stdin does.
pub fn is_folder_of_process(folder: &Path) -> bool {
    folder.starts_with("/proc") || folder.starts_with("/dev")
}

/// Whether a call failed because the process or the machine has no descriptor left.
pub fn is_exhaustion(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::MFILE, Errno::NFILE].iter().any(|exhausted| code == Some(exhausted.raw_os_error()))
}
