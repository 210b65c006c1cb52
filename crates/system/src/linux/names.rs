//! Tests whether the kernel has a name (dentry) and its inode in memory.

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use std::io;
use std::path::Path;

/// True if a path can be looked up in memory alone (since Linux 5.12). The lookup does not load
/// anything into memory.
pub fn is_cached(path: &Path) -> io::Result<bool> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED) {
        Ok(_) => Ok(true),
        Err(Errno::AGAIN) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_just_looked_up_is_cached() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.path().metadata().unwrap();
        assert!(is_cached(file.path()).unwrap());
        // The kernel caches failed lookups (negative dentries).
        let gone = file.path().with_extension("gone");
        assert!(gone.metadata().is_err());
        assert_eq!(is_cached(&gone).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
