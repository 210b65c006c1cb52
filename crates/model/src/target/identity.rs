//! The identity of a file, to see whether it has changed since it was examined.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The values that distinguish one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    pub dev: u64,
    pub ino: u64,
    pub size_bytes: u64,
    /// Time of the last change of the content: seconds and nanoseconds.
    pub mtime: (i64, i64),
    /// Time of the last change of content or inode: seconds and nanoseconds.
    pub ctime: (i64, i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Change {
    #[error("was replaced by another file")]
    Replaced,
    #[error("shrank from {from} to {to} bytes")]
    Shrank { from: u64, to: u64 },
    #[error("grew from {from} to {to} bytes")]
    Grew { from: u64, to: u64 },
    /// The file was written to, or its modification time was set.
    #[error("was written to")]
    Written,
    /// Only the inode was changed.
    #[error("was touched: rights, owner, links or name")]
    Touched,
}

impl Identity {
    /// The identity of the file that now has this path; symbolic links are followed.
    pub fn of_path(path: &Path) -> io::Result<Identity> {
        Ok(Identity::from(&std::fs::metadata(path)?))
    }

    pub fn of_file(file: &File) -> io::Result<Identity> {
        Ok(Identity::from(&file.metadata()?))
    }

    /// The most serious difference between this state of the file and its state `now`.
    pub fn change_until(&self, now: &Identity) -> Option<Change> {
        let (from, to) = (self.size_bytes, now.size_bytes);
        if (self.dev, self.ino) != (now.dev, now.ino) {
            Some(Change::Replaced)
        } else if to < from {
            Some(Change::Shrank { from, to })
        } else if to > from {
            Some(Change::Grew { from, to })
        } else if self.mtime != now.mtime {
            Some(Change::Written)
        } else {
            (self.ctime != now.ctime).then_some(Change::Touched)
        }
    }
}

impl From<&Metadata> for Identity {
    fn from(meta: &Metadata) -> Identity {
        Identity {
            dev: meta.dev(),
            ino: meta.ino(),
            size_bytes: meta.size(),
            mtime: (meta.mtime(), meta.mtime_nsec()),
            ctime: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn each_change_of_a_file_is_recognized() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "0123456789").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        let before = Identity::of_path(&path).unwrap();
        let change = || before.change_until(&Identity::of_path(&path).unwrap());
        assert_eq!(change(), None);
        assert_eq!(Identity::of_file(&file).unwrap(), before);

        file.set_len(4).unwrap();
        assert_eq!(change(), Some(Change::Shrank { from: 10, to: 4 }));
        file.set_len(11).unwrap();
        assert_eq!(change().unwrap().to_string(), "grew from 10 to 11 bytes");
        file.set_len(10).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(change(), Some(Change::Written));

        fs::write(folder.path().join("other"), "0123456789").unwrap();
        fs::rename(folder.path().join("other"), &path).unwrap();
        assert_eq!(change(), Some(Change::Replaced));
        fs::remove_file(&path).unwrap();
        assert!(Identity::of_path(&path).is_err());
    }

    #[test]
    fn a_change_of_the_inode_alone_is_recognized() {
        let file = tempfile::tempfile().unwrap();
        let before = Identity::of_file(&file).unwrap();
        let touched = Identity { ctime: (before.ctime.0 + 1, 0), ..before };
        assert_eq!(before.change_until(&touched), Some(Change::Touched));
    }
}
