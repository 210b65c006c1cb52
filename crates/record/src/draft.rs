//! The draft of a record: the file of a record before it has a name. If the file system allows it,
//! the file has no name at all; otherwise it has a hidden name.
//!
//! A name in the user's folder means a record with a header, so the name is given when the first
//! lines are written. If the lab is killed, a file without a name disappears. A file with a hidden
//! name remains; the next run in the same folder reuses it, and `readlab history` does not list it.
//! [`super::file`] writes the lines.

use readlab_system::folder::{RECORD_DRAFT, folder_of};
use readlab_system::{own_file, unnamed_file};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// How the draft is stored. The way of storing determines how the file gets its name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Draft {
    Nameless,
    /// The file has this hidden name, which starts with a dot.
    Hidden(PathBuf),
}

impl Draft {
    /// Creates a file in the folder in which it will get its name.
    pub(super) fn create(path: &Path) -> io::Result<(File, Draft)> {
        match unnamed_file::create(folder_of(path))? {
            Some(file) => Ok((file, Draft::Nameless)),
            None => Draft::create_hidden(path),
        }
    }

    fn create_hidden(path: &Path) -> io::Result<(File, Draft)> {
        let hidden = path.with_file_name(RECORD_DRAFT);
        let file = own_file::open_to_append(&hidden)?;
        Ok((file, Draft::Hidden(hidden)))
    }

    /// Removes what a killed run may have left in a hidden file. The caller must hold the file's
    /// lock.
    pub(super) fn clear(&self, file: &File) -> io::Result<()> {
        if *self == Draft::Nameless { Ok(()) } else { file.set_len(0) }
    }

    /// Gives the file its name. No file may have that name.
    pub(super) fn publish(&self, file: &File, path: &Path) -> io::Result<()> {
        match self {
            Draft::Nameless => unnamed_file::link(file, path),
            Draft::Hidden(hidden) => unnamed_file::rename_without_replacing(hidden, path),
        }
    }

    /// Removes a file that will not get a name.
    pub(super) fn discard(&self) {
        if let Draft::Hidden(hidden) = self {
            // A hidden file that cannot be removed is reused by the next run in this folder.
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
    fn a_draft_gets_its_name_when_published_and_never_replaces_another_file() {
        for is_hidden in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("record.jsonl");
            let make = || if is_hidden { Draft::create_hidden(&path) } else { Draft::create(&path) };
            let (mut file, draft) = make().unwrap();
            file.write_all(b"first").unwrap();
            assert!(!path.exists(), "{draft:?}");
            draft.publish(&file, &path).unwrap();
            assert_eq!(names(folder.path()), ["record.jsonl"], "{draft:?}");
            let (other, draft) = make().unwrap();
            let error = draft.publish(&other, &path).unwrap_err();
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
        assert!(Draft::create_hidden(&path).unwrap_err().to_string().contains("link"));
        fs::remove_file(&hidden).unwrap();
        fs::hard_link(&file, &hidden).unwrap();
        assert!(Draft::create_hidden(&path).is_err());
        assert_eq!(fs::read(&file).unwrap(), b"the user's");
    }

    #[test]
    fn the_hidden_file_of_a_killed_run_is_reused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.jsonl");
        fs::write(folder.path().join(RECORD_DRAFT), "left").unwrap();
        let (mut file, draft) = Draft::create_hidden(&path).unwrap();
        draft.clear(&file).unwrap();
        file.write_all(b"new").unwrap();
        draft.publish(&file, &path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["record.jsonl"]);
    }
}
