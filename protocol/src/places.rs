//! Places of one file as a target: the list that names them, the setting that marks a target as a
//! list of places, and the number that proves that the block at every place was read.
//!
//! Methods that read places say so in their `method` line. The lab decides which places are read,
//! and in which order.

use crate::files::{product, take_word};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The name of the setting that marks the target as a list of places.
const PLACES_SETTING: &str = "places";

/// Bytes of a number in the list.
const NUMBER_BYTES: usize = 8;

/// Blocks of one file, by the offsets at which they begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Path of the file.
    pub file: PathBuf,
    /// Size of each block.
    pub block_bytes: u64,
    /// Offset of each block, in the order of the reads.
    pub offsets: Vec<u64>,
}

/// Proof that the block at every place was read once: the answers of single blocks cannot make up
/// for each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockProof {
    /// Number of blocks that were read.
    pub blocks: u64,
    /// The sum over all blocks of (number mod 65521 + 1) × (value mod 65521 + 1), modulo 2^32. The
    /// number is the index of the place in the list, from 0. The value is what the work counts:
    /// newlines, the sum, or the bytes.
    pub products: u64,
}

impl Places {
    /// Reads a list from a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not complete.
    pub fn read(list: &Path) -> io::Result<Places> {
        Places::parse(&fs::read(list)?)
    }

    /// Parses the bytes of a list: the file's path, ended by a zero byte, then the size of a block,
    /// then the offsets. Numbers are little-endian and have 64 bits.
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

    /// The bytes of the list, as [`Places::parse`] takes them.
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

    /// The proof of the blocks of both.
    #[must_use]
    pub fn merge(self, other: BlockProof) -> BlockProof {
        BlockProof {
            blocks: self.blocks + other.blocks,
            products: (self.products + other.products) % (1 << 32),
        }
    }
}

/// The setting that marks the target as a list of places.
#[must_use]
pub fn places_word() -> String {
    format!("{PLACES_SETTING}=1")
}

/// Whether the settings mark the target as a list of places. The setting is removed from them.
pub(crate) fn take_places(settings: &mut Vec<(&str, u64)>) -> bool {
    take_word(settings, PLACES_SETTING)
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
    fn reading_a_block_instead_of_another_changes_the_proof() {
        let proof = |values: &[u64]| {
            let blocks = (0..).zip(values).map(|(number, value)| BlockProof::from_block(number, *value));
            blocks.fold(BlockProof::default(), BlockProof::merge)
        };
        assert_eq!(proof(&[7, 65_521]), BlockProof { blocks: 2, products: 8 + 2 });
        assert_ne!(proof(&[1, 3]), proof(&[2, 2]));
        assert_ne!(proof(&[1, 3]), proof(&[3, 1]));
    }

    #[test]
    fn the_places_setting_is_removed_from_the_settings() {
        let mut settings = vec![("depth", 2), ("places", 1)];
        assert!(take_places(&mut settings) && !take_places(&mut settings));
        assert_eq!((settings, places_word().as_str()), (vec![("depth", 2)], "places=1"));
    }
}
