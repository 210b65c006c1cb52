//! The interface for unnamed files on systems that have none; and renaming that never replaces a
//! file.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Always `None`; the caller then creates a file with a name.
pub fn create(_folder: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

pub fn link(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}
