//! Several files as one target: the list that names them, the setting that marks a target as a
//! list, and the number that proves that every file was read.
//!
//! Methods that read lists or folders say so in their `method` line. The lab decides which files
//! are read, and in which order.

use std::ffi::{CStr, OsStr};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The name of the setting that marks the target as a list.
pub(crate) const LIST_SETTING: &str = "list";

/// Modulus for bytes and values: the largest prime below 2^16, so that their product fits in 32
/// bits.
const MODULUS: u64 = 65_521;

/// Paths of files, each ended by a zero byte, as `find -print0` writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileList {
    bytes: Vec<u8>,
    /// Offset in `bytes` at which each path begins.
    starts: Vec<usize>,
}

/// Proof that every file was read once: the answers of single files cannot make up for each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileProof {
    /// How many files were read.
    pub files: u64,
    /// The sum over all files of (bytes mod 65521 + 1) × (value mod 65521 + 1), modulo 2^32, where
    /// the value is what the work counts: newlines, lines, the sum, or the bytes.
    pub products: u64,
}

impl FileList {
    /// Reads a list.
    ///
    /// # Errors
    /// If it cannot be read, has an empty path, or does not end with a zero byte.
    pub fn read(list: &Path) -> io::Result<FileList> {
        FileList::parse(fs::read(list)?)
    }

    /// Parses the bytes of a list.
    ///
    /// # Errors
    /// As for [`FileList::read`].
    pub fn parse(bytes: Vec<u8>) -> io::Result<FileList> {
        let mut starts = Vec::new();
        let mut start = 0;
        for path in bytes.split_inclusive(|byte| *byte == 0) {
            if path.len() < 2 || !path.ends_with(&[0]) {
                let why = "a list of files has an empty path, or one without a zero byte at its end";
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            starts.push(start);
            start += path.len();
        }
        Ok(FileList { bytes, starts })
    }

    /// Number of files in the list.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether the list has no files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The path at this index.
    ///
    /// # Panics
    /// If the index is not below the number of files.
    #[must_use]
    pub fn path(&self, index: usize) -> &Path {
        Path::new(OsStr::from_bytes(self.c_path(index).to_bytes()))
    }

    /// The path at this index with its zero byte.
    fn c_path(&self, index: usize) -> &CStr {
        let bytes = &self.bytes[self.starts[index]..];
        CStr::from_bytes_until_nul(bytes).expect("every path of a list ends with a zero byte")
    }

    /// All paths, in the order of the list.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        (0..self.len()).map(|index| self.path(index))
    }
}

impl FileProof {
    /// Adds the proof of one file.
    pub fn add(&mut self, bytes: u64, value: u64) {
        self.files += 1;
        self.products = (self.products + product(bytes, value)) % (1 << 32);
    }

    /// The proof of the files of both.
    #[must_use]
    pub fn merge(self, other: FileProof) -> FileProof {
        FileProof { files: self.files + other.files, products: (self.products + other.products) % (1 << 32) }
    }
}

/// The proof of one piece of a target, from a number that identifies the piece and the value that
/// was counted in it. Below 2^32.
pub(crate) fn product(key: u64, value: u64) -> u64 {
    (key % MODULUS + 1) * (value % MODULUS + 1)
}

/// The setting that marks the target as a list of files.
#[must_use]
pub fn list_word() -> String {
    format!("{LIST_SETTING}=1")
}

/// The value of the setting of this name, which is removed from the settings.
pub(crate) fn take_setting(settings: &mut Vec<(&str, u64)>, name: &str) -> Option<u64> {
    let at = settings.iter().position(|(word, _)| *word == name)?;
    Some(settings.remove(at).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_its_paths_with_and_without_the_zero_byte() {
        let list = FileList::parse(b"/a\0/b c\n\0".to_vec()).unwrap();
        assert_eq!(list.iter().collect::<Vec<_>>(), [Path::new("/a"), Path::new("/b c\n")]);
        assert_eq!((list.len(), list.c_path(1)), (2, c"/b c\n"));
        assert!(FileList::parse(Vec::new()).unwrap().is_empty());
    }

    #[test]
    fn a_list_that_is_cut_or_has_an_empty_path_is_refused() {
        for bytes in [&b"/a"[..], b"/a\0/b", b"\0", b"/a\0\0"] {
            assert!(FileList::parse(bytes.to_vec()).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn reading_a_file_twice_instead_of_another_changes_the_proof() {
        let proof = |files: &[(u64, u64)]| {
            let mut proof = FileProof::default();
            files.iter().for_each(|(bytes, value)| proof.add(*bytes, *value));
            proof
        };
        assert_eq!(proof(&[(2, 1), (65_521, 65_520)]), FileProof { files: 2, products: 6 + 65_521 });
        // The bytes and the values of the two lists have equal sums.
        assert_ne!(proof(&[(1, 1), (3, 3)]), proof(&[(2, 2), (2, 2)]));
        let many = proof(&[(65_520, 65_520); 3]);
        assert_eq!(many.products, 3 * 65_521_u64.pow(2) % (1 << 32));
        assert_eq!(proof(&[(65_520, 65_520)]).merge(proof(&[(65_520, 65_520); 2])), many);
    }

    #[test]
    fn a_setting_that_is_taken_is_removed_from_the_settings() {
        let mut settings = vec![("depth", 2), ("list", 1)];
        assert_eq!(take_setting(&mut settings, LIST_SETTING), Some(1));
        assert_eq!(take_setting(&mut settings, LIST_SETTING), None);
        assert_eq!((settings, list_word().as_str()), (vec![("depth", 2)], "list=1"));
    }
}
