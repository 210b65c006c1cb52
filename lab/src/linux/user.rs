//! The user of this process, and what the user may do.

use super::file_status::FileStatus;
use rustix::fs::{Access, access};
use rustix::process::geteuid;
use std::fs::Metadata;
use std::io;
use std::path::Path;

/// Whether this process has all rights.
#[must_use]
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// Whether the user owns a file.
#[must_use]
pub fn owns(file: &Metadata) -> bool {
    FileStatus::from(file).owner == geteuid().as_raw()
}

/// Whether the user may write to a file, or create files in a folder.
///
/// # Errors
/// The reason where the user may not.
pub fn check_writable(path: &Path) -> io::Result<()> {
    Ok(access(path, Access::WRITE_OK)?)
}
