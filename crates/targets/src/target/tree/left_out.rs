//! The entries that a tree leaves out: those that are no files, and files that cannot be read with
//! the others. One such entry does not stop the race of all other files.

use crate::target::{TargetError, refusal};
use readlab_model::target::tree::SkippedEntries;
use readlab_system::file_status::{self, FileKind};
use readlab_system::terminal::printable::display_path;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, Default)]
pub(super) struct LeftOutEntries {
    pub(super) counts: SkippedEntries,
    /// The first path that is counted in [`SkippedEntries::left_out_words`].
    first: Option<PathBuf>,
}

/// Why an entry is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryFailure {
    /// Nothing has this name.
    Missing,
    /// The user may not read it, its file system is gone, or its path is too long.
    Unreadable,
}

impl EntryFailure {
    /// The failure of one entry; `None` for an error of the device or of the machine.
    pub(super) fn from_error(cause: &io::Error) -> Option<EntryFailure> {
        match cause.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Some(EntryFailure::Missing),
            _ if file_status::is_link_loop(cause) => Some(EntryFailure::Missing),
            io::ErrorKind::PermissionDenied
            | io::ErrorKind::NotConnected
            | io::ErrorKind::StaleNetworkFileHandle
            | io::ErrorKind::InvalidFilename => Some(EntryFailure::Unreadable),
            _ => None,
        }
    }
}

impl LeftOutEntries {
    /// Counts a name of a list that names no file.
    pub(super) fn add_listed(&mut self, path: &Path, kind: FileKind) {
        match kind {
            FileKind::Folder => {
                self.counts.folders += 1;
                self.set_first(path);
            }
            FileKind::Pipe => self.counts.pipes += 1,
            FileKind::Socket => self.counts.sockets += 1,
            FileKind::Regular | FileKind::CharacterDevice | FileKind::BlockDevice(_) | FileKind::Other => {
                self.counts.devices += 1
            }
        }
    }

    /// Counts a path that could not be examined because nothing has this name or because it cannot
    /// be read. Any other cause is an error.
    pub(super) fn add_failed(&mut self, path: &Path, cause: io::Error) -> Result<(), TargetError> {
        match EntryFailure::from_error(&cause) {
            Some(EntryFailure::Missing) => self.counts.missing += 1,
            Some(EntryFailure::Unreadable) => self.counts.unreadable += 1,
            None => return Err(refusal(path, cause)),
        }
        self.set_first(path);
        Ok(())
    }

    pub(super) fn add_from_other_filesystem(&mut self, path: &Path) {
        self.counts.other_filesystem += 1;
        self.set_first(path);
    }

    fn set_first(&mut self, path: &Path) {
        if self.first.is_none() {
            self.first = Some(path.to_owned());
        }
    }

    /// What was found instead of files, as the end of the sentence that no file was found.
    pub(super) fn words_instead_of_files(&self, follows_links: bool) -> String {
        let first = self.first.as_deref().map(|path| format!("; the first is {}", display_path(path)));
        self.counts.words_instead_of_files(follows_links) + &first.unwrap_or_default()
    }

    /// The caution that names the first entry; `None` if only links, pipes, sockets and devices were
    /// left out, which have a caution of their own.
    pub(super) fn caution(&self, is_listed: bool) -> Option<String> {
        let (words, first) = (self.counts.left_out_words()?, self.first.as_deref()?);
        let walks = match self.counts.changes_walks() && !is_listed {
            true => {
                " Contenders that walk the folder do not take part; a command may read more files than the list \
                 has, unless it reads {list}."
            }
            false => "",
        };
        Some(format!("Left out: {words}. The first is {}.{walks}", display_path(first)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_a_file_system_that_is_gone_is_left_out_and_an_error_of_a_device_is_none() {
        let mut left_out = LeftOutEntries::default();
        for kind in [io::ErrorKind::NotConnected, io::ErrorKind::StaleNetworkFileHandle] {
            left_out.add_failed(Path::new("/gone"), kind.into()).unwrap();
        }
        assert_eq!(left_out.counts.unreadable, 2);
        let caution = left_out.caution(true).unwrap();
        assert_eq!(caution, "Left out: 2 files or folders that cannot be read. The first is /gone.");
        let error = io::Error::other("Input/output error");
        let why = left_out.add_failed(Path::new("/torn"), error).unwrap_err().to_string();
        assert!(why.starts_with("/torn: "), "{why}");
    }
}
