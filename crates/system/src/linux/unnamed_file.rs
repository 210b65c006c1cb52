//! Files that get their name later and until then have none, if possible; and renaming that never
//! replaces a file.

use super::descriptor;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, openat, renameat_with};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The permissions of a new file, before the user's umask.
const NEW_FILE_MODE: u32 = 0o666;

/// Creates an unnamed file in `folder`, for appending; `None` if the file system or the kernel has
/// no unnamed files.
pub fn create(folder: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
    match openat(CWD, folder, flags, Mode::from_raw_mode(NEW_FILE_MODE)) {
        Ok(file) => Ok(Some(file.into())),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub fn link(file: &File, path: &Path) -> io::Result<()> {
    Ok(linkat(CWD, descriptor::path_by_descriptor(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

pub fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => {
            fs::hard_link(from, to)?;
            fs::remove_file(from)
        }
        renamed => Ok(renamed?),
    }
}
