//! Lists of paths in files of readlab's own: each path is ended by a zero byte. Where they come
//! from is the user's choice; the order is made here, by places in the file, so that the paths
//! themselves do not stay in memory.

use super::order::{Entry, TreeOrder};
use super::own;
use crate::target::TargetError;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The name of standard input.
pub(super) const INPUT: &str = "-";

/// Where the files of a tree are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListSource {
    /// Below this folder.
    Folder(PathBuf),
    /// Named by this file.
    List(PathBuf),
    /// Named on standard input.
    Input,
}

impl ListSource {
    /// A list by the name that the user gives it; `-` is standard input.
    #[must_use]
    pub fn list(name: &Path) -> ListSource {
        if name.as_os_str() == INPUT { ListSource::Input } else { ListSource::List(name.to_owned()) }
    }

    /// The path by which a record names it.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            ListSource::Folder(path) | ListSource::List(path) => path,
            ListSource::Input => Path::new(INPUT),
        }
    }
}

/// The list in a folder of readlab's.
pub(super) fn list_in(folder: &Path) -> PathBuf {
    folder.join("files")
}

/// The list of the folders of a tree.
pub(super) fn folders_in(folder: &Path) -> PathBuf {
    folder.join("folders")
}

/// The names of files and folders while they are found.
pub(super) struct Names {
    list: PathBuf,
    files: BufWriter<File>,
    folders: BufWriter<File>,
    folders_list: PathBuf,
    entries: Vec<Entry>,
    end: u64,
}

impl Names {
    pub(super) fn create(folder: &Path) -> Result<Names, TargetError> {
        let (list, folders_list) = (list_in(folder), folders_in(folder));
        let create = |path: &Path| File::create_new(path).map(BufWriter::new).map_err(own(path));
        let (files, folders) = (create(&list)?, create(&folders_list)?);
        Ok(Names { files, folders, list, folders_list, entries: Vec::new(), end: 0 })
    }

    /// Adds a file with the number of its inode.
    pub(super) fn add(&mut self, path: &Path, inode: u64) -> Result<(), TargetError> {
        let bytes = path.as_os_str().as_bytes();
        let written = self.files.write_all(bytes).and_then(|()| self.files.write_all(&[0]));
        written.map_err(own(&self.list))?;
        self.entries.push(Entry { at: self.end, inode });
        self.end += bytes.len() as u64 + 1;
        Ok(())
    }

    pub(super) fn add_folder(&mut self, path: &Path) -> Result<(), TargetError> {
        let bytes = path.as_os_str().as_bytes();
        let written = self.folders.write_all(bytes).and_then(|()| self.folders.write_all(&[0]));
        written.map_err(own(&self.folders_list))
    }

    /// Writes what is left, the files in their order.
    pub(super) fn finish(mut self, order: TreeOrder, seed: u64) -> Result<(), TargetError> {
        self.folders.flush().map_err(own(&self.folders_list))?;
        self.files.flush().map_err(own(&self.list))?;
        let mut entries = self.entries;
        if !order.arrange(&mut entries, seed) {
            return Ok(());
        }
        let found = File::open(&self.list).map_err(own(&self.list))?;
        let ordered = self.list.with_extension("ordered");
        let mut writer = BufWriter::new(File::create_new(&ordered).map_err(own(&ordered))?);
        for entry in entries {
            let path = path_at(&found, entry.at).map_err(own(&self.list))?;
            writer.write_all(&path).map_err(own(&ordered))?;
        }
        writer.flush().map_err(own(&ordered))?;
        std::fs::rename(&ordered, &self.list).map_err(own(&self.list))
    }
}

/// The path that begins at a place of a list, with its zero byte.
fn path_at(list: &File, at: u64) -> std::io::Result<Vec<u8>> {
    let mut path = Vec::new();
    let mut piece = [0; 256];
    loop {
        let count = list.read_at(&mut piece, at + path.len() as u64)?;
        let end = piece[..count].iter().position(|byte| *byte == 0);
        path.extend_from_slice(&piece[..end.map_or(count, |end| end + 1)]);
        if end.is_some() || count == 0 {
            return Ok(path);
        }
    }
}

/// The paths of a list, one after the other.
#[derive(Debug)]
pub struct Paths {
    list: PathBuf,
    reader: BufReader<File>,
}

impl Paths {
    pub(super) fn of(list: &Path) -> Result<Paths, TargetError> {
        let reader = BufReader::new(File::open(list).map_err(own(list))?);
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
            Err(cause) => Some(Err(own(&self.list)(cause))),
        }
    }
}
