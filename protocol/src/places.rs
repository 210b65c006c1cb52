//! Places of one file as a target: the list that names them, the word that says that a target is
//! such a list, and the number that proves the block at every place.
//!
//! Methods that read places say so in their `method` line. Which places there are, and in which
//! order, is decided by the lab.

use crate::files::{product, take_word};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The name of the word that says that the target is a list of places.
const PLACES: &str = "places";

/// How many bytes a number of the list has.
const NUMBER_BYTES: usize = 8;

/// Blocks of one file, by where they begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The file.
    pub file: PathBuf,
    /// Bytes of each block.
    pub block_bytes: u64,
    /// Where each block begins, in the order of the reads.
    pub offsets: Vec<u64>,
}

/// Proof that the block at every place was read once: the answers of single blocks cannot make up
/// for each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockProof {
    /// How many blocks were read.
    pub blocks: u64,
    /// The sum over all blocks of (number mod 65521 + 1) × (value mod 65521 + 1), modulo 2^32,
    /// where the number is that of the place in the list, from 0, and the value is what the work
    /// counts: newlines, the sum, or the bytes.
    pub products: u64,
}

impl Places {
    /// Reads a list.
    ///
    /// # Errors
    /// If it cannot be read, or is not complete.
    pub fn read(list: &Path) -> io::Result<Places> {
        Places::parse(&fs::read(list)?)
    }

    /// The list that has these bytes: the file's path, ended by a zero byte, the bytes of a block,
    /// and the offsets; numbers have 64 bits, the lowest first.
    ///
    /// # Errors
    /// As for [`Places::read`].
    pub fn parse(bytes: &[u8]) -> io::Result<Places> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "a list of places is not complete");
        let end = bytes.iter().position(|byte| *byte == 0).filter(|end| *end > 0).ok_or_else(wrong)?;
        let (numbers, rest) = bytes[end + 1..].as_chunks::<NUMBER_BYTES>();
        let (block_bytes, offsets) = numbers.split_first().ok_or_else(wrong)?;
        if !rest.is_empty() {
            return Err(wrong());
        }
        Ok(Places {
            file: PathBuf::from(OsStr::from_bytes(&bytes[..end])),
            block_bytes: u64::from_le_bytes(*block_bytes),
            offsets: offsets.iter().map(|offset| u64::from_le_bytes(*offset)).collect(),
        })
    }

    /// The bytes of the list.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.file.as_os_str().as_bytes().to_vec();
        bytes.push(0);
        let numbers = [self.block_bytes].into_iter().chain(self.offsets.iter().copied());
        numbers.for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes
    }
}

impl BlockProof {
    /// The proof of one block.
    #[must_use]
    pub fn from_block(number: u64, value: u64) -> BlockProof {
        BlockProof { blocks: 1, products: product(number, value) }
    }

    /// The blocks of both.
    #[must_use]
    pub fn merge(self, other: BlockProof) -> BlockProof {
        BlockProof {
            blocks: self.blocks + other.blocks,
            products: (self.products + other.products) % (1 << 32),
        }
    }
}

/// The word that says that the target is a list of places.
#[must_use]
pub fn places_word() -> String {
    format!("{PLACES}=1")
}

/// Whether settings say that the target is a list of places; the word is taken out of them.
pub(crate) fn take_places(settings: &mut Vec<(&str, u64)>) -> bool {
    take_word(settings, PLACES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let places = Places { file: "/a b\n".into(), block_bytes: 4096, offsets: vec![8192, 0, 1 << 40] };
        let bytes = places.to_bytes();
        assert_eq!(bytes[..6], *b"/a b\n\0");
        assert_eq!(bytes.len(), 6 + 4 * NUMBER_BYTES);
        assert_eq!(Places::parse(&bytes).unwrap(), places);
    }

    #[test]
    fn a_list_that_is_cut_is_refused() {
        let bytes = Places { file: "/a".into(), block_bytes: 1, offsets: vec![1] }.to_bytes();
        let cut = [&bytes[..0], &bytes[..2], &bytes[..3], &bytes[..bytes.len() - 1], &bytes[2..]];
        for list in cut {
            assert!(Places::parse(list).is_err(), "{list:?}");
        }
    }

    #[test]
    fn a_block_that_is_read_in_place_of_another_is_seen() {
        let proof = |values: &[u64]| {
            let blocks = (0..).zip(values).map(|(number, value)| BlockProof::from_block(number, *value));
            blocks.fold(BlockProof::default(), BlockProof::merge)
        };
        assert_eq!(proof(&[7, 65_521]), BlockProof { blocks: 2, products: 8 + 2 });
        assert_ne!(proof(&[1, 3]), proof(&[2, 2]));
        assert_ne!(proof(&[1, 3]), proof(&[3, 1]));
    }

    #[test]
    fn the_word_is_taken_out_of_the_settings() {
        let mut settings = vec![("depth", 2), ("places", 1)];
        assert!(take_places(&mut settings) && !take_places(&mut settings));
        assert_eq!((settings, places_word().as_str()), (vec![("depth", 2)], "places=1"));
    }
}
