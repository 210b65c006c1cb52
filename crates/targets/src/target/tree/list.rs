//! Lists of paths in files of readlab's own, in which a zero byte ends each path. The user decides
//! where the paths come from. Ordering works with offsets into the file, so that the paths
//! themselves do not stay in memory.

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

/// The name that means standard input.
pub(super) const INPUT: &str = "-";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListSource {
    Folder(PathBuf),
    List(PathBuf),
    Input,
}

impl ListSource {
    /// A list with the name that the user gave; `-` is standard input.
    pub fn list(name: &Path) -> ListSource {
        if name.as_os_str() == INPUT { ListSource::Input } else { ListSource::List(name.to_owned()) }
    }

    /// The path by which a record names the source.
    pub fn path(&self) -> &Path {
        match self {
            ListSource::Folder(path) | ListSource::List(path) => path,
            ListSource::Input => Path::new(INPUT),
        }
    }
}

/// The list of files in a folder of readlab's own.
pub(super) fn list_in(folder: &Path) -> PathBuf {
    folder.join("files")
}

/// The list of the folders of a tree.
pub(super) fn folders_in(folder: &Path) -> PathBuf {
    folder.join("folders")
}

pub(super) struct ListWriter {
    path: PathBuf,
    writer: BufWriter<File>,
    end: u64,
}

struct Entry {
    /// Offset in the list at which the path begins.
    at: u64,
    inode: u64,
}

/// The names of files and folders while they are being found.
pub(super) struct Names {
    files: ListWriter,
    folders: ListWriter,
    entries: Vec<Entry>,
}

impl ListWriter {
    pub(super) fn create(path: PathBuf) -> Result<ListWriter, TargetError> {
        let writer = File::create_new(&path).map(BufWriter::new).map_err(TargetError::io(&path))?;
        Ok(ListWriter { path, writer, end: 0 })
    }

    pub(super) fn add(&mut self, path: &Path) -> Result<u64, TargetError> {
        let (bytes, at) = (path.as_os_str().as_bytes(), self.end);
        let written = self.writer.write_all(bytes).and_then(|()| self.writer.write_all(&[0]));
        written.map_err(TargetError::io(&self.path))?;
        self.end += bytes.len() as u64 + 1;
        Ok(at)
    }

    /// Writes the remaining bytes.
    pub(super) fn finish(mut self) -> Result<PathBuf, TargetError> {
        self.writer.flush().map_err(TargetError::io(&self.path))?;
        Ok(self.path)
    }
}

impl Names {
    pub(super) fn create(folder: &Path) -> Result<Names, TargetError> {
        let files = ListWriter::create(list_in(folder))?;
        let folders = ListWriter::create(folders_in(folder))?;
        Ok(Names { files, folders, entries: Vec::new() })
    }

    pub(super) fn add(&mut self, path: &Path, inode: u64) -> Result<(), TargetError> {
        let at = self.files.add(path)?;
        self.entries.push(Entry { at, inode });
        Ok(())
    }

    pub(super) fn add_folder(&mut self, path: &Path) -> Result<(), TargetError> {
        self.folders.add(path).map(drop)
    }

    /// Writes the remaining bytes, and then the files in the requested order.
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
            ordered.add(&path_at(&found, entry.at).map_err(TargetError::io(&list))?)?;
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
pub struct Paths {
    list: PathBuf,
    reader: BufReader<File>,
}

impl Paths {
    pub(super) fn parse(list: &Path) -> Result<Paths, TargetError> {
        let reader = BufReader::new(File::open(list).map_err(TargetError::io(list))?);
        Ok(Paths { list: list.to_owned(), reader })
    }
}

impl Iterator for Paths {
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
