//! Places of one file as a target: the list that names them, the setting that marks a target as a
//! list of places, and the number that proves that the block at every place was read.
//!
//! Methods that read places say so in their `method` line. The lab decides which places are read,
//! and in which order. The ranges that a method reads from a server come as such a list, too.

use crate::files::product;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The environment variable with the path of a list whose blocks are read from a URL or an object.
/// The path of the file in this list has no meaning: the target is that of the session.
pub const RANGES_VARIABLE: &str = "READLAB_RANGES";

/// The name of the setting that marks the target as a list of places.
pub(crate) const PLACES_SETTING: &str = "places";

/// Bytes of a number in the list.
const NUMBER_BYTES: usize = 8;

/// Stands in the list instead of the size of a block if each block has its own size after its offset.
const LENGTHS_FOLLOW: u64 = 0;

/// Blocks of one file, by the offsets at which they begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Path of the file.
    pub file: PathBuf,
    /// Size of each block.
    pub block_bytes: BlockBytes,
    /// Offset of each block, in the order of the reads.
    pub offsets: Vec<u64>,
}

/// The sizes of the blocks of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockBytes {
    /// One size for all blocks.
    Same(u64),
    /// A size for each block, in the order of the offsets.
    Each(Vec<u64>),
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

    /// Reads the list that [`RANGES_VARIABLE`] names.
    ///
    /// # Errors
    /// If the variable is not set, or the list cannot be read, or is not complete.
    pub fn of_environment() -> io::Result<Places> {
        let list = env::var_os(RANGES_VARIABLE).filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| io::Error::other(format!("{RANGES_VARIABLE} is not set")))?;
        let named = |cause: io::Error| {
            io::Error::new(cause.kind(), format!("{}: {cause}", Path::new(&list).display()))
        };
        Places::read(Path::new(&list)).map_err(named)
    }

    /// Parses the bytes of a list: the file's path, ended by a zero byte, then the size of a block,
    /// then the offsets. If the size is 0, each offset is followed by the size of its block. Numbers
    /// are little-endian and have 64 bits.
    ///
    /// # Errors
    /// As for [`Places::read`].
    pub fn parse(bytes: &[u8]) -> io::Result<Places> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "a list of places is not complete");
        let end = bytes.iter().position(|byte| *byte == 0).filter(|end| *end > 0).ok_or_else(wrong)?;
        let (numbers, rest) = bytes[end + 1..].as_chunks::<NUMBER_BYTES>();
        let (block_bytes, blocks) = numbers.split_first().ok_or_else(wrong)?;
        if !rest.is_empty() {
            return Err(wrong());
        }
        let file = PathBuf::from(OsStr::from_bytes(&bytes[..end]));
        let number = |bytes: &[u8; NUMBER_BYTES]| u64::from_le_bytes(*bytes);
        match number(block_bytes) {
            LENGTHS_FOLLOW => {
                let (pairs, odd) = blocks.as_chunks::<2>();
                if !odd.is_empty() {
                    return Err(wrong());
                }
                let (offsets, lengths) =
                    pairs.iter().map(|[offset, length]| (number(offset), number(length))).unzip();
                Ok(Places { file, block_bytes: BlockBytes::Each(lengths), offsets })
            }
            same => {
                let offsets = blocks.iter().map(number).collect();
                Ok(Places { file, block_bytes: BlockBytes::Same(same), offsets })
            }
        }
    }

    /// The bytes of the list, as [`Places::parse`] takes them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.file.as_os_str().as_bytes().to_vec();
        bytes.push(0);
        let mut add = |number: u64| bytes.extend(number.to_le_bytes());
        match &self.block_bytes {
            BlockBytes::Same(same) => {
                add(*same);
                self.offsets.iter().for_each(|offset| add(*offset));
            }
            BlockBytes::Each(lengths) => {
                add(LENGTHS_FOLLOW);
                for (offset, length) in self.offsets.iter().zip(lengths) {
                    add(*offset);
                    add(*length);
                }
            }
        }
        bytes
    }

    /// Size of the block with this index.
    #[must_use]
    pub fn bytes_of(&self, number: usize) -> u64 {
        match &self.block_bytes {
            BlockBytes::Same(same) => *same,
            BlockBytes::Each(lengths) => lengths[number],
        }
    }

    /// The range of the file that the block with this index covers.
    #[must_use]
    pub fn range_of(&self, number: usize) -> Range<u64> {
        let offset = self.offsets[number];
        offset..offset.saturating_add(self.bytes_of(number))
    }

    /// The bytes of the file that the blocks cover, in the order of the file. No two of these ranges
    /// overlap.
    #[must_use]
    pub fn covered_ranges(&self) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> =
            (0..self.offsets.len()).map(|number| self.range_of(number)).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut covered_to = 0;
        ranges.retain_mut(|range| {
            range.start = range.start.max(covered_to);
            covered_to = covered_to.max(range.end);
            range.start < range.end
        });
        ranges
    }

    /// Number of different bytes of the file that the blocks cover.
    #[must_use]
    pub fn useful_bytes(&self) -> u64 {
        self.covered_ranges().iter().map(|range| range.end - range.start).sum()
    }

    /// Index of a longest block; `None` for a list without blocks.
    #[must_use]
    pub fn longest_block(&self) -> Option<usize> {
        match &self.block_bytes {
            BlockBytes::Same(_) if self.offsets.is_empty() => None,
            BlockBytes::Same(_) => Some(0),
            BlockBytes::Each(lengths) => (0..lengths.len()).max_by_key(|number| lengths[*number]),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_that_marks_a_list_is_a_word_of_the_protocol() {
        assert_eq!(places_word(), "places=1");
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let same = BlockBytes::Same(4096);
        let places = Places { file: "/a b\n".into(), block_bytes: same, offsets: vec![8192, 0, 1 << 40] };
        let bytes = places.to_bytes();
        assert_eq!(bytes[..6], *b"/a b\n\0");
        assert_eq!(bytes.len(), 6 + 4 * NUMBER_BYTES);
        assert_eq!(Places::parse(&bytes).unwrap(), places);
        assert_eq!((places.range_of(1), places.longest_block()), (0..4096, Some(0)));
        let each = BlockBytes::Each(vec![1, 1 << 30, 7]);
        let places = Places { block_bytes: each, ..places };
        let bytes = places.to_bytes();
        assert_eq!(bytes.len(), 6 + (1 + 2 * 3) * NUMBER_BYTES);
        assert_eq!(Places::parse(&bytes).unwrap(), places);
        assert_eq!((places.range_of(2), places.longest_block()), (1 << 40..(1 << 40) + 7, Some(1)));
    }

    #[test]
    fn useful_bytes_count_a_byte_of_several_blocks_once() {
        let of = |blocks: &[(u64, u64)]| {
            let (offsets, lengths) = blocks.iter().copied().unzip();
            Places { file: "/a".into(), block_bytes: BlockBytes::Each(lengths), offsets }.useful_bytes()
        };
        assert_eq!(of(&[(10, 10), (0, 10), (20, 1)]), 21);
        assert_eq!(of(&[(0, 100), (10, 10), (10, 10), (95, 10)]), 105);
        assert_eq!(of(&[(5, 5), (5, 5), (5, 1)]), 5);
        let same = Places { file: "/a".into(), block_bytes: BlockBytes::Same(8), offsets: vec![4, 0, 100] };
        assert_eq!(same.useful_bytes(), 12 + 8);
    }

    #[test]
    fn covered_ranges_are_in_order_and_do_not_overlap() {
        let covered = |offsets: &[u64], lengths: &[u64]| {
            let block_bytes = BlockBytes::Each(lengths.to_vec());
            Places { file: "/a".into(), block_bytes, offsets: offsets.to_vec() }.covered_ranges()
        };
        assert_eq!(covered(&[5, 0, 2, 20, 5], &[5, 3, 1, 1, 5]), [0..3, 5..10, 20..21]);
        assert_eq!(covered(&[2, 0], &[5, 4]), [0..4, 4..7]);
        assert!(covered(&[], &[]).is_empty());
    }

    #[test]
    fn a_list_that_is_cut_is_refused() {
        let bytes = |block_bytes| Places { file: "/a".into(), block_bytes, offsets: vec![1] }.to_bytes();
        let (bytes, each) = (bytes(BlockBytes::Same(1)), bytes(BlockBytes::Each(vec![1])));
        let cut = [&bytes[..0], &bytes[..2], &bytes[..3], &bytes[..bytes.len() - 1], &bytes[2..]];
        for list in cut.into_iter().chain([&each[..each.len() - NUMBER_BYTES]]) {
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
}
