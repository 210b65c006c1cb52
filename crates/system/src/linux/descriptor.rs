//! File descriptors: paths that depend on them, and errors that mean that none is left.

use super::process::FileId;
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The path of an open file by its descriptor, for this process alone.
pub(super) fn path(file: &File) -> PathBuf {
    Path::new("/proc/self/fd").join(file.as_raw_fd().to_string())
}

/// The path without links by which an open regular file is found; `None` where none leads to it.
pub fn name_of(file: &File) -> Option<PathBuf> {
    let name = fs::read_link(path(file)).ok()?;
    (FileId::at(&name)? == FileId::of_metadata(&file.metadata().ok()?)).then_some(name)
}

/// Whether a folder without links shows each process something else, as that of /dev/stdin and
/// /proc/self/fd/3 does.
pub fn is_folder_of_process(folder: &Path) -> bool {
    folder.starts_with("/proc") || folder.starts_with("/dev")
}

/// Whether a call failed because the process or the machine has no descriptor left.
pub fn is_exhaustion(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::MFILE, Errno::NFILE].iter().any(|exhausted| code == Some(exhausted.raw_os_error()))
}
