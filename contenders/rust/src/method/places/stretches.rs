//! The reads for a list of places. Each read covers one stretch of the file: one block, or several
//! blocks that are near each other in the list and in the file, with the gaps between them.
//!
//! Reads past the page cache begin and end at multiples of a unit of the file system, so a stretch
//! may then be longer than its blocks.

use super::super::Fault;
use super::block_fault;
use crate::setting::Param;
use readlab_protocol::{BlockBytes, Places};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Largest gap, in bytes, between two blocks that are merged into one read; with 0 each block has a
/// read of its own.
pub(super) const MERGE: Param = Param::new("merge_bytes", 0, 0, 1 << 30);

/// Largest size of a merged read. Longer reads make no device faster, and a whole read is in memory
/// at once.
const STRETCH_BYTES_MAX: u64 = 64 << 20;

/// Largest number of blocks of one preadv(2). A call takes at most 1024 buffers (IOV_MAX), and a
/// block and the gap after it need two.
const PREADV_BLOCKS_MAX: usize = 512;

/// The memory into which the blocks of one read go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockMemory {
    /// One buffer for the whole read.
    Shared,
    /// A buffer for each block.
    OfEachBlock,
}

/// The bytes of the file that one read covers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stretch {
    /// Index of the first block.
    first: usize,
    /// Index after the last block.
    end: usize,
    /// Offset of the first byte.
    pub(super) offset: u64,
    /// Number of bytes that the read requests.
    pub(super) bytes: usize,
    /// Number of bytes up to the end of the last block. The file may end before the others.
    pub(super) needed_bytes: usize,
}

/// The stretches of a list, by their indices.
pub(super) struct Stretches<'a> {
    places: &'a Places,
    /// Reads begin and end at multiples of this size.
    unit_bytes: u64,
    /// Index of the first block of each stretch; `None` if each block is a stretch.
    firsts: Option<Vec<usize>>,
}

impl<'a> Stretches<'a> {
    pub(super) fn new(places: &'a Places, unit_bytes: u64, merge_bytes: u64) -> Stretches<'a> {
        let firsts = (merge_bytes > 0).then(|| first_blocks(places, merge_bytes, BlockMemory::Shared));
        Stretches { places, unit_bytes: unit_bytes.max(1), firsts }
    }

    /// The stretches for reads that have a buffer for each block.
    pub(super) fn with_separate_buffers(places: &'a Places, merge_bytes: u64) -> Stretches<'a> {
        let firsts = (merge_bytes > 0).then(|| first_blocks(places, merge_bytes, BlockMemory::OfEachBlock));
        Stretches { places, unit_bytes: 1, firsts }
    }

    /// One stretch for each block, with the bytes of the block alone.
    pub(super) fn of_blocks(places: &'a Places) -> Stretches<'a> {
        Stretches::new(places, 1, 0)
    }

    pub(super) fn places(&self) -> &'a Places {
        self.places
    }

    pub(super) fn len(&self) -> usize {
        self.firsts.as_ref().map_or(self.places.offsets.len(), Vec::len)
    }

    pub(super) fn get(&self, number: usize) -> Result<Stretch, Fault> {
        let (first, end) = match &self.firsts {
            None => (number, number + 1),
            Some(firsts) => {
                (firsts[number], firsts.get(number + 1).copied().unwrap_or(self.places.offsets.len()))
            }
        };
        let start = self.places.offsets[first];
        let offset = start - start % self.unit_bytes;
        let stop = (first..end).map(|block| self.places.range_of(block).end).max().unwrap_or(start);
        // An end beyond all files is saturated.
        if stop == u64::MAX {
            return Err(block_fault(self.places, start, ErrorKind::InvalidInput.into()));
        }
        let whole = stop.checked_next_multiple_of(self.unit_bytes).unwrap_or(stop);
        let size = |bytes: u64| usize::try_from(bytes).map_err(io::Error::other);
        Ok(Stretch { first, end, offset, bytes: size(whole - offset)?, needed_bytes: size(stop - offset)? })
    }

    /// Size of a buffer that is large enough for every stretch.
    pub(super) fn longest_bytes(&self) -> Result<usize, Fault> {
        if let (None, 1, BlockBytes::Same(bytes)) = (&self.firsts, self.unit_bytes, &self.places.block_bytes)
        {
            return Ok(usize::try_from(*bytes).map_err(io::Error::other)?);
        }
        (0..self.len()).try_fold(0, |longest: usize, number| Ok(longest.max(self.get(number)?.bytes)))
    }

    /// The bytes of a block; `bytes` are those of its stretch.
    pub(super) fn block<'b>(&self, stretch: &Stretch, block: usize, bytes: &'b [u8]) -> &'b [u8] {
        let Range { start, end } = self.places.range_of(block);
        let within = |at: u64| (at - stretch.offset) as usize;
        &bytes[within(start)..within(end)]
    }
}

impl Stretch {
    /// The indices of the blocks.
    pub(super) fn blocks(&self) -> Range<usize> {
        self.first..self.end
    }

    /// The bytes of the file that the read requests.
    pub(super) fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.bytes as u64
    }

    /// Reads the stretch, at least up to the end of its last block.
    pub(super) fn read_from(&self, file: &impl FileExt, buffer: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < self.needed_bytes {
            match file.read_at(&mut buffer[filled..self.bytes], self.offset + filled as u64) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => filled += count,
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                Err(cause) => return Err(cause),
            }
        }
        Ok(())
    }
}

/// Index of the first block of each stretch. A block belongs to the stretch of the block before it in
/// the list if it begins within this stretch, or at most `merge_bytes` after it. Blocks with a buffer
/// each must not overlap.
fn first_blocks(places: &Places, merge_bytes: u64, memory: BlockMemory) -> Vec<usize> {
    let mut firsts = Vec::new();
    let (mut stretch, mut blocks) = (0..0, 0);
    for number in 0..places.offsets.len() {
        let block = places.range_of(number);
        let end = stretch.end.max(block.end);
        let (least, blocks_max) = match memory {
            BlockMemory::Shared => (stretch.start, usize::MAX),
            BlockMemory::OfEachBlock => (stretch.end, PREADV_BLOCKS_MAX),
        };
        let is_near = block.start >= least && block.start <= stretch.end.saturating_add(merge_bytes);
        let fits = blocks < blocks_max && end - stretch.start <= STRETCH_BYTES_MAX;
        if blocks > 0 && is_near && fits {
            stretch.end = end;
            blocks += 1;
        } else {
            firsts.push(number);
            (stretch, blocks) = (block, 1);
        }
    }
    firsts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(blocks: &[(u64, u64)]) -> Places {
        let (offsets, lengths) = blocks.iter().copied().unzip();
        Places { file: "/f".into(), block_bytes: BlockBytes::Each(lengths), offsets }
    }

    fn stretches_of(
        places: &Places,
        unit_bytes: u64,
        merge_bytes: u64,
    ) -> Vec<(Range<usize>, u64, usize, usize)> {
        let stretches = Stretches::new(places, unit_bytes, merge_bytes);
        let all: Vec<Stretch> = (0..stretches.len()).map(|number| stretches.get(number).unwrap()).collect();
        let longest = all.iter().map(|it| it.bytes).max().unwrap_or(0);
        assert_eq!(stretches.longest_bytes().unwrap(), longest);
        all.iter().map(|it| (it.blocks(), it.offset, it.bytes, it.needed_bytes)).collect()
    }

    #[test]
    fn blocks_that_are_near_each_other_in_the_order_of_the_list_are_one_read() {
        let list = places(&[(100, 10), (110, 5), (120, 5), (90, 5), (92, 30), (100, 1), (500, 1)]);
        let single: Vec<Range<usize>> =
            stretches_of(&list, 1, 0).into_iter().map(|(blocks, ..)| blocks).collect();
        assert_eq!(single, (0..7).map(|block| block..block + 1).collect::<Vec<_>>());
        // The second and the third block have a gap of 5 between them.
        let of =
            |merge| stretches_of(&list, 1, merge).into_iter().map(|(blocks, ..)| blocks).collect::<Vec<_>>();
        assert_eq!(of(4), [0..2, 2..3, 3..6, 6..7]);
        assert_eq!(of(5), [0..3, 3..6, 6..7]);
        assert_eq!(stretches_of(&list, 1, 5)[1], (3..6, 90, 32, 32));
    }

    #[test]
    fn stretches_with_a_buffer_for_each_block_have_no_overlap_and_a_limited_number_of_blocks() {
        let list = places(&[(100, 10), (110, 5), (112, 5), (120, 5), (130, 5)]);
        let stretches = Stretches::with_separate_buffers(&list, 5);
        let blocks: Vec<Range<usize>> =
            (0..stretches.len()).map(|number| stretches.get(number).unwrap().blocks()).collect();
        assert_eq!(blocks, [0..2, 2..5]);
        let many = places(&(0..1000).map(|number| (number, 1)).collect::<Vec<_>>());
        assert_eq!(Stretches::with_separate_buffers(&many, 1).len(), 2);
    }

    #[test]
    fn a_read_past_the_cache_is_rounded_out_and_must_only_reach_the_end_of_its_blocks() {
        let list = places(&[(5, 10), (4095, 2), (8192, 4096)]);
        let all = stretches_of(&list, 4096, 0);
        assert_eq!(all, [(0..1, 0, 4096, 15), (1..2, 0, 8192, 4097), (2..3, 8192, 4096, 4096)]);
    }

    #[test]
    fn a_block_that_ends_beyond_all_files_is_an_error() {
        let list = places(&[(0, 10), (u64::MAX, 10)]);
        let stretches = Stretches::new(&list, 1, 0);
        assert!(stretches.get(0).is_ok() && stretches.get(1).is_err());
    }

    #[test]
    fn a_merged_read_has_a_largest_size_which_a_single_block_may_exceed() {
        let half = STRETCH_BYTES_MAX / 2;
        let list = places(&[(0, half), (half, half), (2 * half, 1), (2 * half + 1, 4 * half)]);
        let blocks: Vec<Range<usize>> =
            stretches_of(&list, 1, 1).into_iter().map(|(blocks, ..)| blocks).collect();
        assert_eq!(blocks, [0..2, 2..3, 3..4]);
    }
}
