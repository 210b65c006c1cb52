//! Several files as one target: the list that names them, the word that says that a target is such
//! a list, and the number that proves every file of it.
//!
//! Methods that read lists or folders say so in their `method` line. Which files there are, and in
//! which order, is decided by the lab.

use std::ffi::{CStr, OsStr};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The name of the word that says that the target is a list.
const LIST: &str = "list";

/// Bytes and values are taken modulo this, the largest prime below 2^16, so that their product fits
/// 32 bits.
const MODULUS: u64 = 65_521;

/// Paths of files, each ended by a zero byte, as `find -print0` writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileList {
    bytes: Vec<u8>,
    /// Where each path begins.
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

    /// The list that has these bytes.
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

    /// How many files it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The path of this number.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn path(&self, index: usize) -> &Path {
        Path::new(OsStr::from_bytes(self.c_path(index).to_bytes()))
    }

    /// The same with its zero byte.
    fn c_path(&self, index: usize) -> &CStr {
        let bytes = &self.bytes[self.starts[index]..];
        CStr::from_bytes_until_nul(bytes).expect("every path of a list ends with a zero byte")
    }

    /// All paths, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        (0..self.len()).map(|index| self.path(index))
    }
}

impl FileProof {
    /// Adds one file.
    pub fn add(&mut self, bytes: u64, value: u64) {
        self.files += 1;
        self.products = (self.products + product(bytes, value)) % (1 << 32);
    }

    /// The files of both.
    #[must_use]
    pub fn merge(self, other: FileProof) -> FileProof {
        FileProof { files: self.files + other.files, products: (self.products + other.products) % (1 << 32) }
    }
}

/// What proves one piece of a target, by what tells it from others and what was counted in it;
/// below 2^32.
pub(crate) fn product(tells: u64, value: u64) -> u64 {
    (tells % MODULUS + 1) * (value % MODULUS + 1)
}

/// The word that says that the target is a list of files.
#[must_use]
pub fn list_word() -> String {
    format!("{LIST}=1")
}

/// Whether settings say that the target is a list; the word is taken out of them.
pub(crate) fn take_list(settings: &mut Vec<(&str, u64)>) -> bool {
    take_word(settings, LIST)
}

/// Whether a word of settings is there with 1; it is taken out of them.
pub(crate) fn take_word(settings: &mut Vec<(&str, u64)>, name: &str) -> bool {
    let Some(at) = settings.iter().position(|(word, _)| *word == name) else { return false };
    settings.remove(at).1 == 1
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
    fn a_file_that_is_read_twice_in_place_of_another_is_seen() {
        let proof = |files: &[(u64, u64)]| {
            let mut proof = FileProof::default();
            files.iter().for_each(|(bytes, value)| proof.add(*bytes, *value));
            proof
        };
        assert_eq!(proof(&[(2, 1), (65_521, 65_520)]), FileProof { files: 2, products: 6 + 65_521 });
        // The bytes and the values of both add up to the same.
        assert_ne!(proof(&[(1, 1), (3, 3)]), proof(&[(2, 2), (2, 2)]));
        let many = proof(&[(65_520, 65_520); 3]);
        assert_eq!(many.products, 3 * 65_521_u64.pow(2) % (1 << 32));
        assert_eq!(proof(&[(65_520, 65_520)]).merge(proof(&[(65_520, 65_520); 2])), many);
    }

    #[test]
    fn the_word_is_taken_out_of_the_settings() {
        let mut settings = vec![("depth", 2), ("list", 1)];
        assert!(take_list(&mut settings) && !take_list(&mut settings));
        assert_eq!((settings, list_word().as_str()), (vec![("depth", 2)], "list=1"));
    }
}
