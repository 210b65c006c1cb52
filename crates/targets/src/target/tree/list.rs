//! Lists of paths in files of readlab's own, in which a zero byte ends each path. The paths come
//! from a folder or from a list of the user. Files are ordered by their offsets in the list, so
//! that the paths themselves need not be in memory.

use crate::target::TargetError;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use readlab_model::target::tree::TreeOrder;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The name of a list that means standard input.
pub(super) const STANDARD_INPUT: &str = "-";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListSource {
    Folder(PathBuf),
    List(PathBuf),
    StandardInput,
}

impl ListSource {
    /// The source for the name of a list; `-` is standard input.
    pub fn named_list(name: &Path) -> ListSource {
        if name.as_os_str() == STANDARD_INPUT {
            ListSource::StandardInput
        } else {
            ListSource::List(name.to_owned())
        }
    }

    /// The path by which a record names the source.
    pub fn path(&self) -> &Path {
        match self {
            ListSource::Folder(path) | ListSource::List(path) => path,
            ListSource::StandardInput => Path::new(STANDARD_INPUT),
        }
    }
}

/// The path of the list of files in a folder of readlab's own.
pub(super) fn file_list_path(folder: &Path) -> PathBuf {
    folder.join("files")
}

/// The path of the list of folders in a folder of readlab's own.
pub(super) fn folder_list_path(folder: &Path) -> PathBuf {
    folder.join("folders")
}

pub(super) struct ListWriter {
    path: PathBuf,
    writer: BufWriter<File>,
    /// Offset at which the next path begins.
    end_offset: u64,
}

struct Entry {
    /// Offset in the list at which the path begins.
    offset: u64,
    inode: u64,
}

/// Writes the lists of files and folders while they are being found.
pub(super) struct TreeListsWriter {
    files: ListWriter,
    folders: ListWriter,
    entries: Vec<Entry>,
}

impl ListWriter {
    pub(super) fn create(path: PathBuf) -> Result<ListWriter, TargetError> {
        let writer = File::create_new(&path).map(BufWriter::new).map_err(TargetError::io(&path))?;
        Ok(ListWriter { path, writer, end_offset: 0 })
    }

    /// Adds a path, and returns its offset in the list.
    pub(super) fn add(&mut self, path: &Path) -> Result<u64, TargetError> {
        let (bytes, at) = (path.as_os_str().as_bytes(), self.end_offset);
        let written = self.writer.write_all(bytes).and_then(|()| self.writer.write_all(&[0]));
        written.map_err(TargetError::io(&self.path))?;
        self.end_offset += bytes.len() as u64 + 1;
        Ok(at)
    }

    /// Writes the remaining bytes.
    pub(super) fn finish(mut self) -> Result<PathBuf, TargetError> {
        self.writer.flush().map_err(TargetError::io(&self.path))?;
        Ok(self.path)
    }
}

impl TreeListsWriter {
    pub(super) fn create(folder: &Path) -> Result<TreeListsWriter, TargetError> {
        let files = ListWriter::create(file_list_path(folder))?;
        let folders = ListWriter::create(folder_list_path(folder))?;
        Ok(TreeListsWriter { files, folders, entries: Vec::new() })
    }

    pub(super) fn add(&mut self, path: &Path, inode: u64) -> Result<(), TargetError> {
        let offset = self.files.add(path)?;
        self.entries.push(Entry { offset, inode });
        Ok(())
    }

    pub(super) fn add_folder(&mut self, path: &Path) -> Result<(), TargetError> {
        self.folders.add(path).map(drop)
    }

    /// Writes the remaining bytes of both lists, and then orders the list of files.
    pub(super) fn finish(self, order: TreeOrder, seed: u64) -> Result<(), TargetError> {
        self.folders.finish()?;
        let list = self.files.finish()?;
        let mut entries = self.entries;
        match order {
            // The walk already visited the files of each folder in this order.
            TreeOrder::Directory | TreeOrder::Name => return Ok(()),
            TreeOrder::Inode => entries.sort_by_key(|entry| entry.inode),
            TreeOrder::Shuffled => entries.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed)),
        }
        let found = File::open(&list).map_err(TargetError::io(&list))?;
        let mut ordered = ListWriter::create(list.with_extension("ordered"))?;
        for entry in entries {
            ordered.add(&path_at(&found, entry.offset).map_err(TargetError::io(&list))?)?;
        }
        std::fs::rename(ordered.finish()?, &list).map_err(TargetError::io(&list))
    }
}

fn path_at(list: &File, at: u64) -> std::io::Result<PathBuf> {
    let mut path = Vec::new();
    let mut piece = [0; 256];
    loop {
        let count = list.read_at(&mut piece, at + path.len() as u64)?;
        let end = piece[..count].iter().position(|byte| *byte == 0);
        path.extend_from_slice(&piece[..end.unwrap_or(count)]);
        if end.is_some() || count == 0 {
            return Ok(PathBuf::from(OsString::from_vec(path)));
        }
    }
}

#[derive(Debug)]
pub struct ListedPaths {
    list: PathBuf,
    reader: BufReader<File>,
}

impl ListedPaths {
    pub(super) fn open(list: &Path) -> Result<ListedPaths, TargetError> {
        let reader = BufReader::new(File::open(list).map_err(TargetError::io(list))?);
        Ok(ListedPaths { list: list.to_owned(), reader })
    }
}

impl Iterator for ListedPaths {
    type Item = Result<PathBuf, TargetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut path = Vec::new();
        match self.reader.read_until(0, &mut path) {
            Ok(0) => None,
            Ok(_) => {
                path.pop_if(|last| *last == 0);
                Some(Ok(PathBuf::from(OsString::from_vec(path))))
            }
            Err(cause) => Some(Err(TargetError::io(&self.list)(cause))),
        }
    }
}
