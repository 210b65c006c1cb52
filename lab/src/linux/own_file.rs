//! Files in folders that all users may write to: read only if they are this user's.

use super::user;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The first bytes of a file as text, at most so many; `None` unless it is a plain file of this
/// user and no link.
#[must_use]
pub fn read_own(path: &Path, bytes_max: u64) -> Option<String> {
    let file =
        File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path).ok()?;
    let facts = file.metadata().ok()?;
    let own = facts.is_file() && user::owns(&facts);
    let mut bytes = Vec::new();
    (own && file.take(bytes_max).read_to_end(&mut bytes).is_ok())
        .then(|| String::from_utf8_lossy(&bytes).into_owned())
}
