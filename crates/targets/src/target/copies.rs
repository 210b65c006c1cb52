//! Copies of a file, for several readers: the first reader reads the file, and each other reader
//! its own copy.
//!
//! The copies are written byte by byte into a folder of readlab's own on the same file system, and
//! are removed with this folder. System calls that share extents would not make them separate files
//! for the device. The control of the page cache treats the file and its copies as the files of a
//! tree.

use super::tree::{ListSource, TreeRequest};
use super::{Target, TargetError};
use readlab_corpus::archive::read_pieces;
use readlab_model::target::tree::TreeOrder;
use readlab_model::units::Bytes;
use readlab_system::filesystem::free_bytes;
use readlab_system::folder::scratch::ScratchFolder;
use readlab_system::open_file;
use readlab_system::terminal::printable::display_path;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PIECE_BYTES: usize = 1 << 20;

/// The size of the copies, divided by the free space that is required in addition to this size.
const FREE_SPACE_MARGIN_DIVISOR: u64 = 10;

/// A function that is called before every piece with the number of bytes so far. If it returns an
/// error, the copying ends.
pub type CopyCheck<'a> = &'a dyn Fn(u64) -> io::Result<()>;

#[derive(Debug, Clone, PartialEq)]
pub struct Copies {
    /// The file and its copies, as the files of a tree.
    pub tree_target: Box<Target>,
    /// The paths of the file and its copies, the file first.
    files: Vec<PathBuf>,
    folder: Arc<ScratchFolder>,
}

impl Copies {
    /// Writes copies of a file into a folder below `below`.
    pub fn make(file: &Path, below: &Path, copies: u32, check: CopyCheck) -> Result<Copies, TargetError> {
        let size_bytes = fs::metadata(file).map_err(TargetError::io(file))?.len();
        check_space(below, size_bytes.saturating_mul(u64::from(copies)))?;
        let folder = ScratchFolder::make(below, "copies").map_err(TargetError::io(below))?;
        let mut files = vec![file.to_owned()];
        for number in 1..=copies {
            let copy = folder.path().join(number.to_string());
            let before = u64::from(number - 1) * size_bytes;
            write_copy(file, &copy, &|bytes| check(before + bytes)).map_err(TargetError::io(&copy))?;
            files.push(copy);
        }
        Copies::new(files, Arc::new(folder))
    }

    /// The file and the copies that this many readers read.
    pub fn for_readers(&self, readers: u32) -> Result<Copies, TargetError> {
        let files = self.files.iter().take(readers as usize).cloned().collect();
        Copies::new(files, Arc::clone(&self.folder))
    }

    fn new(files: Vec<PathBuf>, folder: Arc<ScratchFolder>) -> Result<Copies, TargetError> {
        let list = folder.path().join(format!("list-{}", files.len()));
        let names: Vec<&[u8]> = files.iter().map(|file| file.as_os_str().as_bytes()).collect();
        fs::write(&list, names.join(&0)).map_err(TargetError::io(&list))?;
        let request =
            TreeRequest { order: TreeOrder::Directory, ..TreeRequest::by_name(ListSource::List(list)) };
        let tree_target = Box::new(Target::examine_tree(&request)?);
        if tree_target.tree().is_none_or(|tree| tree.len() < files.len()) {
            let file = display_path(&files[0]);
            let why = format!("on another file system than {file}: copies must be on its own (--copies)");
            return Err(TargetError::about(folder.path(), why));
        }
        Ok(Copies { tree_target, files, folder })
    }

    /// The path that the reader with this number reads, from 0; `None` if there are fewer copies.
    pub(super) fn path_of_reader(&self, reader: usize) -> Option<&Path> {
        self.files.get(reader).map(PathBuf::as_path)
    }
}

pub(super) fn check_space(below: &Path, bytes: u64) -> Result<(), TargetError> {
    let needed_bytes = bytes.saturating_add(bytes / FREE_SPACE_MARGIN_DIVISOR);
    let free_bytes = free_bytes(below).map_err(TargetError::io(below))?;
    if free_bytes < needed_bytes {
        let why = format!("{} are needed for copies and {} are free", Bytes(needed_bytes), Bytes(free_bytes));
        return Err(TargetError::about(below, why));
    }
    Ok(())
}

/// Writes a copy and syncs it to the device, because dirty pages could not be evicted.
fn write_copy(file: &Path, copy: &Path, check: CopyCheck) -> io::Result<()> {
    let (mut from, mut to) = (open_file::open_without_waiting(file)?, File::create_new(copy)?);
    let mut written = 0;
    check(written)?;
    read_pieces(&mut from, PIECE_BYTES, &mut |piece| {
        to.write_all(piece)?;
        written += piece.len() as u64;
        check(written)
    })?;
    to.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::tests::folder_on_device;

    fn entry_count(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn each_reader_has_a_copy_with_equal_bytes_and_all_copies_are_removed() {
        let folder = folder_on_device();
        let file = folder.path().join("f\nile");
        fs::write(&file, "x".repeat(3 * PIECE_BYTES + 5)).unwrap();
        let copies = Copies::make(&file, folder.path(), 2, &|_| Ok(())).unwrap();
        let words: Vec<PathBuf> =
            (0..4).filter_map(|it| copies.path_of_reader(it)).map(Path::to_owned).collect();
        assert_eq!(words.len(), 3);
        assert_eq!(words[0], file);
        for word in &words {
            assert_eq!(fs::read(word).unwrap(), fs::read(&file).unwrap(), "{}", word.display());
        }
        assert_eq!(copies.tree_target.facts.size_bytes, 3 * (3 * PIECE_BYTES as u64 + 5));
        let two = copies.for_readers(2).unwrap();
        assert_eq!(two.tree_target.facts.size_bytes, 2 * (3 * PIECE_BYTES as u64 + 5));
        drop(copies);
        assert_eq!(entry_count(folder.path()), 2, "as long as one is left, the folder is");
        drop(two);
        assert_eq!(entry_count(folder.path()), 1);
    }

    #[test]
    fn an_interrupted_copy_is_removed_and_the_error_names_the_cause() {
        let folder = folder_on_device();
        let file = folder.path().join("file");
        fs::write(&file, "x".repeat(3 * PIECE_BYTES)).unwrap();
        let stop = |bytes| if bytes < 4 << 20 { Ok(()) } else { Err(io::Error::other("stopped")) };
        let error = Copies::make(&file, folder.path(), 2, &stop).unwrap_err();
        assert!(error.to_string().ends_with("/2: stopped"), "{error}");
        assert_eq!(entry_count(folder.path()), 1);
    }

    #[test]
    fn a_folder_on_another_file_system_or_without_space_is_rejected_by_name() {
        let folder = folder_on_device();
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        let error = Copies::make(&file, Path::new("/dev/shm"), 1, &|_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("on another file system"), "{error}");
        File::options().write(true).open(&file).unwrap().set_len(1 << 42).unwrap();
        let error = Copies::make(&file, folder.path(), 100, &|_| Ok(())).unwrap_err();
        let shown = error.to_string();
        let named = readlab_system::terminal::printable::display_path(folder.path());
        assert!(shown.starts_with(&named) && shown.contains("are free"), "{shown}");
        assert_eq!(entry_count(folder.path()), 1);
    }
}
