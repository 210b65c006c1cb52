//! The draft of a record: its file before it has a name. Where the file system allows it, the file
//! has no name at all; elsewhere it has a hidden one.
//!
//! A name in the user's folder means a record with a header, so the name is given when the first
//! lines are written. A killed lab leaves nothing of a file without a name, and of a hidden one a
//! leftover that the next run in the same folder takes over and `readlab history` does not list.
//! What is written lives in [`super::file`].

use readlab_system::folder::{RECORD_DRAFT, folder_of};
use readlab_system::{own_file, unnamed_file};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// How a file that has no name yet can be named.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Draft {
    Nameless,
    /// It has this one, which starts with a dot.
    Hidden(PathBuf),
}

impl Draft {
    /// Makes a file in the folder in which it will be named.
    pub(super) fn make(path: &Path) -> io::Result<(File, Draft)> {
        match unnamed_file::create(folder_of(path))? {
            Some(file) => Ok((file, Draft::Nameless)),
            None => Draft::hidden(path),
        }
    }

    fn hidden(path: &Path) -> io::Result<(File, Draft)> {
        let hidden = path.with_file_name(RECORD_DRAFT);
        let file = own_file::append(&hidden)?;
        Ok((file, Draft::Hidden(hidden)))
    }

    /// Empties what a killed run may have left; called by the one who holds the lock.
    pub(super) fn clear(&self, file: &File) -> io::Result<()> {
        if *self == Draft::Nameless { Ok(()) } else { file.set_len(0) }
    }

    /// Gives the file its name, which nothing may have.
    pub(super) fn name(&self, file: &File, path: &Path) -> io::Result<()> {
        match self {
            Draft::Nameless => unnamed_file::link(file, path),
            Draft::Hidden(hidden) => unnamed_file::rename_without_replacing(hidden, path),
        }
    }

    /// Leaves nothing of a file that will not be named.
    pub(super) fn discard(&self) {
        if let Draft::Hidden(hidden) = self {
            // One that cannot be removed is taken over by the next run here.
            let _ = fs::remove_file(hidden);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
        entries.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_file_has_its_name_when_it_is_given_and_never_that_of_another() {
        for is_hidden in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("record.jsonl");
            let make = || if is_hidden { Draft::hidden(&path) } else { Draft::make(&path) };
            let (mut file, draft) = make().unwrap();
            file.write_all(b"first").unwrap();
            assert!(!path.exists(), "{draft:?}");
            draft.name(&file, &path).unwrap();
            assert_eq!(names(folder.path()), ["record.jsonl"], "{draft:?}");
            let (other, draft) = make().unwrap();
            let error = draft.name(&other, &path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{draft:?}");
            draft.discard();
            assert_eq!(names(folder.path()), ["record.jsonl"], "{draft:?}");
            assert_eq!(fs::read(&path).unwrap(), b"first");
        }
    }

    #[test]
    fn a_link_under_the_hidden_name_is_not_followed_and_a_second_name_not_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("record.jsonl"), folder.path().join("the-users"));
        let hidden = folder.path().join(RECORD_DRAFT);
        fs::write(&file, "the user's").unwrap();
        std::os::unix::fs::symlink(&file, &hidden).unwrap();
        assert!(Draft::hidden(&path).unwrap_err().to_string().contains("link"));
        fs::remove_file(&hidden).unwrap();
        fs::hard_link(&file, &hidden).unwrap();
        assert!(Draft::hidden(&path).is_err());
        assert_eq!(fs::read(&file).unwrap(), b"the user's");
    }

    #[test]
    fn what_a_killed_run_left_under_the_hidden_name_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.jsonl");
        fs::write(folder.path().join(RECORD_DRAFT), "left").unwrap();
        let (mut file, draft) = Draft::hidden(&path).unwrap();
        draft.clear(&file).unwrap();
        file.write_all(b"new").unwrap();
        draft.name(&file, &path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["record.jsonl"]);
    }
}
