//! The methods `names-readdir`, `names-getdents` and `names-threads` find every name below a folder,
//! with the kind that its folder lists for it. No file is opened and no inode is looked up. The
//! module `stat` uses these walks, too.

use super::{Fault, Feeding, Method};
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use readlab_auto::crew::crew;
use readlab_protocol::{Answer, NameCounts, Reads, Work};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, statat};
use rustix::io::Errno;
use std::ffi::{CStr, OsStr};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Even the smallest buffer holds a name of any length.
const BUFFER: Param = Param::new("buffer_bytes", 1 << 20, 4096, 1 << 26);
pub(super) const THREADS: Param = Param::new("threads", 4, 1, 1024);

const NAMES_DEFAULT: Method =
    Method { reads: Reads::Folder, feeding: Feeding::Own(&[Work::Names]), ..Method::DEFAULT };

pub(super) const NAMES_READDIR: Method = Method {
    name: "names-readdir",
    about: "std::fs::read_dir of one folder after the other; a name is of the kind that its folder lists",
    build: |_| Ok(Box::new(|source: &Source, _: Visit| names(source))),
    ..NAMES_DEFAULT
};

pub(super) const NAMES_GETDENTS: Method = Method {
    name: "names-getdents",
    about: "getdents64(2) of one folder after the other into a large buffer, which holds most folders in one call",
    params: &[BUFFER],
    build: |settings| {
        let buffer_bytes = settings.size(&BUFFER);
        Ok(Box::new(move |source: &Source, _: Visit| names_by_getdents(source, buffer_bytes)))
    },
    ..NAMES_DEFAULT
};

pub(super) const NAMES_THREADS: Method = Method {
    name: "names-threads",
    about: "threads take the folders in turn, each with std::fs::read_dir, and give back those that they find",
    params: &[THREADS],
    build: |settings| {
        let threads = settings.size(&THREADS);
        Ok(Box::new(move |source: &Source, _: Visit| names_by_threads(source, threads)))
    },
    ..NAMES_DEFAULT
};

fn names(source: &Source) -> Result<Answer, Fault> {
    Ok(walk(source.path(), list_by_read_dir)?.names_answer())
}

fn names_by_getdents(source: &Source, buffer_bytes: usize) -> Result<Answer, Fault> {
    let mut buffer = Vec::with_capacity(buffer_bytes);
    Ok(walk(source.path(), |place, found| list_by_getdents(&mut buffer, place, found))?.names_answer())
}

fn names_by_threads(source: &Source, threads: usize) -> Result<Answer, Fault> {
    Ok(walk_by_threads(source.path(), threads, list_by_read_dir)?.names_answer())
}

/// What a walk has found so far.
#[derive(Debug, Default)]
pub(super) struct FoundNames {
    counts: NameCounts,
    /// Sum of the sizes of all files, for methods that request the status.
    bytes: u64,
    /// Folders that are not listed yet.
    folders: Vec<PathBuf>,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    File,
    Folder,
    Link,
    Other,
}

impl From<fs::FileType> for NameKind {
    fn from(kind: fs::FileType) -> NameKind {
        match (kind.is_file(), kind.is_dir(), kind.is_symlink()) {
            (true, ..) => NameKind::File,
            (_, true, _) => NameKind::Folder,
            (_, _, true) => NameKind::Link,
            _ => NameKind::Other,
        }
    }
}

impl From<FileType> for NameKind {
    fn from(kind: FileType) -> NameKind {
        match kind {
            FileType::RegularFile => NameKind::File,
            FileType::Directory => NameKind::Folder,
            FileType::Symlink => NameKind::Link,
            _ => NameKind::Other,
        }
    }
}

impl FoundNames {
    /// Adds a name. A folder is listed later, by its path.
    pub(super) fn add(&mut self, kind: NameKind, path: impl FnOnce() -> PathBuf) {
        if kind == NameKind::Folder {
            self.folders.push(path());
        }
        self.count_name(kind);
    }

    fn count_name(&mut self, kind: NameKind) {
        *match kind {
            NameKind::File => &mut self.counts.files,
            NameKind::Folder => &mut self.counts.folders,
            NameKind::Link => &mut self.counts.links,
            NameKind::Other => &mut self.counts.others,
        } += 1;
    }

    /// Adds the size of a name. Only the sizes of files count.
    pub(super) fn add_size(&mut self, kind: NameKind, size_bytes: u64) {
        if kind == NameKind::File {
            self.bytes += size_bytes;
        }
    }

    fn merge(self, other: FoundNames) -> FoundNames {
        let folders = [self.folders, other.folders].concat();
        FoundNames { counts: self.counts.merge(other.counts), bytes: self.bytes + other.bytes, folders }
    }

    pub(super) fn names_answer(&self) -> Answer {
        Answer { names: Some(self.counts), ..Answer::default() }
    }

    pub(super) fn names_and_sizes_answer(&self) -> Answer {
        Answer { bytes: Some(self.bytes), ..self.names_answer() }
    }
}

/// Walks a folder. `list` adds the entries of one folder.
pub(super) fn walk(
    root: &Path,
    mut list: impl FnMut(&Path, &mut FoundNames) -> Result<(), Fault>,
) -> Result<FoundNames, Fault> {
    let mut found = FoundNames { folders: vec![root.to_owned()], ..FoundNames::default() };
    while let Some(place) = found.folders.pop() {
        list(&place, &mut found)?;
    }
    Ok(found)
}

/// Walks a folder with several threads.
pub(super) fn walk_by_threads(
    root: &Path,
    threads: usize,
    list: impl Fn(&Path, &mut FoundNames) -> Result<(), Fault> + Sync,
) -> Result<FoundNames, Fault> {
    let folders = FolderQueue::from_root(root);
    let work = || -> Result<FoundNames, Fault> {
        let mut found = FoundNames::default();
        while let Some(place) = folders.take_folder() {
            list(&place, &mut found)?;
            folders.finish_folder(&mut found.folders);
        }
        Ok(found)
    };
    let parts: Vec<FoundNames> = crew(threads, work, || folders.stop())?;
    Ok(parts.into_iter().reduce(FoundNames::merge).unwrap_or_default())
}

/// The folders that threads have not listed yet.
struct FolderQueue {
    left: Mutex<FoldersLeft>,
    /// Signalled when there are more folders, and when all are listed.
    changed: Condvar,
}

#[derive(Default)]
struct FoldersLeft {
    waiting: Vec<PathBuf>,
    /// Number of folders that wait or are being listed. A folder that is being listed may contain
    /// more folders.
    unfinished: usize,
    is_stopped: bool,
}

impl FolderQueue {
    fn from_root(root: &Path) -> FolderQueue {
        let left = FoldersLeft { waiting: vec![root.to_owned()], unfinished: 1, is_stopped: false };
        FolderQueue { left: Mutex::new(left), changed: Condvar::new() }
    }

    fn lock_queue(&self) -> MutexGuard<'_, FoldersLeft> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next folder; `None` when all are listed.
    fn take_folder(&self) -> Option<PathBuf> {
        let mut left = self.lock_queue();
        loop {
            if left.is_stopped || left.unfinished == 0 {
                return None;
            }
            if let Some(folder) = left.waiting.pop() {
                return Some(folder);
            }
            left = self.changed.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reports that a folder is listed, and the folders that were found in it.
    fn finish_folder(&self, found: &mut Vec<PathBuf>) {
        let mut left = self.lock_queue();
        left.unfinished = (left.unfinished + found.len()).saturating_sub(1);
        left.waiting.append(found);
        drop(left);
        self.changed.notify_all();
    }

    fn stop(&self) {
        self.lock_queue().is_stopped = true;
        self.changed.notify_all();
    }
}

/// Adds the entries of a folder as the standard library lists them.
pub(super) fn list_by_read_dir(place: &Path, found: &mut FoundNames) -> Result<(), Fault> {
    let fault = |cause: io::Error| Fault::of_file(place, cause.into());
    for entry in fs::read_dir(place).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        let kind = entry.file_type().map_err(fault)?;
        found.add(kind.into(), || entry.path());
    }
    Ok(())
}

/// Adds the entries of a folder as getdents64(2) writes them into a buffer.
fn list_by_getdents(buffer: &mut Vec<u8>, place: &Path, found: &mut FoundNames) -> Result<(), Fault> {
    let fault = |cause: Errno| Fault::of_file(place, io::Error::from(cause).into());
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(place, flags, Mode::empty()).map_err(fault)?;
    let mut entries = RawDir::new(&folder, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(fault)?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => kind_by_status(&folder, name).map_err(fault)?,
            known => known,
        };
        found.add(kind.into(), || place.join(OsStr::from_bytes(name.to_bytes())));
    }
    Ok(())
}

/// The kind of a name according to its status, for file systems that do not list kinds.
fn kind_by_status(folder: &OwnedFd, name: &CStr) -> Result<FileType, Errno> {
    let status = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(status.st_mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with three levels of folders, and files in the lowest.
    fn nested_folders() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for place in ["a/a/a", "a/a/b", "a/b/a", "a/b/b", "b/a/a", "b/b/b"] {
            fs::create_dir_all(folder.path().join(place)).unwrap();
            fs::write(folder.path().join(place).join("file"), "x").unwrap();
        }
        folder
    }

    #[test]
    fn any_number_of_threads_finds_the_same_names() {
        let folder = nested_folders();
        let alone = walk(folder.path(), list_by_read_dir).unwrap();
        assert_eq!(alone.counts, NameCounts { files: 6, folders: 12, links: 0, others: 0 });
        for threads in [1, 2, 3, 17] {
            let found = walk_by_threads(folder.path(), threads, list_by_read_dir).unwrap();
            assert_eq!((found.counts, found.folders.len()), (alone.counts, 0), "{threads} threads");
        }
    }

    #[test]
    fn a_folder_that_one_thread_cannot_list_ends_the_other_threads() {
        let folder = nested_folders();
        let failing = |place: &Path, found: &mut FoundNames| {
            if place.ends_with("a/b") {
                return Err(Fault::of_file(place, io::Error::other("broken").into()));
            }
            list_by_read_dir(place, found)
        };
        for threads in [1, 4] {
            let error = walk_by_threads(folder.path(), threads, failing).unwrap_err().to_string();
            assert!(error.ends_with("/a/b: broken"), "{error}");
        }
    }

    #[test]
    fn a_buffer_for_a_few_names_lists_all_names_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..500 {
            fs::write(folder.path().join(format!("{number}-{}", "n".repeat(200))), "").unwrap();
        }
        let mut buffer = Vec::with_capacity(4096);
        let found = walk(folder.path(), |place, found| list_by_getdents(&mut buffer, place, found)).unwrap();
        assert_eq!(found.counts.files, 500);
    }
}
