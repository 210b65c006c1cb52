//! Files in folders that all users may write to. They are read and written only if they belong to
//! this user.

use super::user;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// At most `bytes_max` bytes from the beginning of a file, as text; `None` unless the path is that of
/// a regular file of this user and not of a symbolic link.
pub fn read_own(path: &Path, bytes_max: u64) -> Option<String> {
    let file =
        File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path).ok()?;
    let facts = file.metadata().ok()?;
    let own = facts.is_file() && user::owns(&facts);
    let mut bytes = Vec::new();
    (own && file.take(bytes_max).read_to_end(&mut bytes).is_ok())
        .then(|| String::from_utf8_lossy(&bytes).into_owned())
}

pub fn open_to_append(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.append(true).create(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path).map_err(|cause| match cause.raw_os_error() {
        Some(libc::ELOOP) => io::Error::other(format!("{}: is a symbolic link", path.display())),
        _ => cause,
    })?;
    let facts = file.metadata()?;
    if facts.is_file() && user::owns(&facts) && facts.nlink() == 1 {
        return Ok(file);
    }
    Err(io::Error::other(format!("{}: is not a file of yours alone; remove it", path.display())))
}
