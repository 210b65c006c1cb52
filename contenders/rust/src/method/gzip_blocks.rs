//! The method `gzip-blocks`, which decodes the blocks of a bgzf by several threads with libdeflate.
//! A block is a gzip member that states its own length.
//!
//! A thread takes a segment of the file, searches for the first block that begins in it, and
//! decodes all blocks that begin in it. The end proves that these were blocks: together they are
//! the whole file, each with its checksum. Any other gzip, and a gzip with a fault, is decoded from
//! begin to end like `gzip` does, which reports the reason.

use super::archive::{Gunzip, content_fault};
use super::inflate::{Decoder, crc32};
use super::{Fault, Feeding, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::segments::Segments;
use crate::setting::Param;
use crate::source::Source;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Archive};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

const BUFFER: Param = Param::new("buffer_bytes", 1 << 20, 1, 1 << 30);
const THREADS: Param = Param::new("threads", 2, 1, 1024);

/// Size limit of a block and of its content (SAM 1, 4.1).
const BLOCK_MAX: usize = 1 << 16;

/// Bytes of a block before its extra field.
const HEAD_BYTES: usize = 12;
const TAIL_BYTES: usize = 8;

/// The beginning of a deflated gzip that has an extra field and no other optional field (RFC 1952,
/// 2.3).
const MAGIC: [u8; 4] = [0x1f, 0x8b, 8, 4];

/// The head of the subfield with the length of the block: `BC`, and the size of the length, two
/// bytes.
const LENGTH_SUBFIELD: [u8; 4] = [b'B', b'C', 2, 0];

pub(super) const GZIP_BLOCKS: Method = Method {
    name: "gzip-blocks",
    about: "the blocks of a bgzf by threads that take segments of the file in turn, each block decoded by libdeflate; any other gzip as gzip does",
    feeding: Feeding::AnyOrder,
    decodes: &[Archive::Gzip],
    params: &[BUFFER, THREADS],
    build: |settings| {
        let (buffer_bytes, threads) = (settings.size(&BUFFER), settings.get(&THREADS));
        Ok(Box::new(BlockDecoder { buffer_bytes, threads }))
    },
    ..Method::DEFAULT
};

struct BlockDecoder {
    /// Size of a segment, which is at least that of a block.
    buffer_bytes: usize,
    threads: u64,
}

impl Reader for BlockDecoder {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let file = File::open(source.path())?;
        match self.blocks(&file, visit) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) | Err(Fault::Io { .. }) => {
                Gunzip { buffer_bytes: self.buffer_bytes }.read(source, visit)
            }
            Err(fault) => Err(fault),
        }
    }
}

/// The answer and the ranges of the blocks that a thread decoded.
struct DecodedBlocks {
    answer: Answer,
    /// Ranges of the decoded blocks in the file. Each is without a gap.
    decoded: Vec<Range<u64>>,
}

impl BlockDecoder {
    /// Decodes all blocks; `None` if these are not the whole file.
    fn blocks(&self, file: &File, visit: Visit) -> Result<Option<Answer>, Fault> {
        let size = file.metadata()?.len();
        let mut head = [0; HEAD_BYTES + 6];
        if file.read_at(&mut head, 0)? < head.len() || block_bytes(&head).is_none() {
            return Ok(None);
        }
        let step = self.buffer_bytes.max(BLOCK_MAX);
        let shares = Segments::new(0..size, step as u64).run_on_threads(self.threads, |segments| {
            let mut buffer = Buffer::new(step + 2 * BLOCK_MAX)?;
            let (mut decoder, mut consumer) = (Decoder::new()?, Consumer::new(visit));
            let mut decoded = Vec::new();
            while let Some(segment) = segments.take() {
                let own_bytes = usize::try_from(segment.end - segment.start).unwrap_or(usize::MAX);
                let left = usize::try_from(size - segment.start).unwrap_or(usize::MAX);
                let bytes = &mut buffer[..left.min(step + 2 * BLOCK_MAX)];
                file.read_exact_at(bytes, segment.start)?;
                let blocks = Segment { bytes, own_bytes, is_last: segment.end == size };
                let Some(range) = blocks.decode(&mut decoder, &mut consumer)? else { continue };
                decoded.push(segment.start + range.start as u64..segment.start + range.end as u64);
            }
            Ok(DecodedBlocks { answer: consumer.finish(), decoded })
        })?;
        let mut decoded: Vec<Range<u64>> = shares.iter().flat_map(|share| share.decoded.clone()).collect();
        decoded.sort_by_key(|range| range.start);
        let mut end = 0;
        let is_whole = decoded.iter().all(|range| std::mem::replace(&mut end, range.end) == range.start);
        let answers = shares.into_iter().map(|share| share.answer).collect();
        Ok((is_whole && end == size).then(|| Answer::of_parts(answers)))
    }
}

/// A segment of the file, followed by the bytes in which its last block may end.
struct Segment<'a> {
    bytes: &'a [u8],
    own_bytes: usize,
    /// Whether these bytes are the end of the file.
    is_last: bool,
}

impl Segment<'_> {
    /// Decodes all blocks that begin in the segment. Returns their range in the bytes, if there are
    /// any.
    fn decode(&self, decoder: &mut Decoder, consumer: &mut Consumer) -> Result<Option<Range<usize>>, Fault> {
        let Some(first) = (0..self.own_bytes).find(|&at| self.begins_at(at)) else { return Ok(None) };
        let mut at = first;
        while at < self.own_bytes {
            let rest = self.bytes.get(at..).unwrap_or_default();
            let Some(length) = block_bytes(rest) else { break };
            let block = rest.get(..length).ok_or_else(|| content_fault("a block reaches beyond the file"))?;
            consumer.feed(content(block, decoder)?);
            at += length;
        }
        Ok(Some(first..at))
    }

    /// Whether a block begins at an offset, and another block or the end of the file follows it.
    fn begins_at(&self, at: usize) -> bool {
        let Some(length) = block_bytes(&self.bytes[at..]) else { return false };
        let next = at + length;
        let ends_file = self.is_last && next == self.bytes.len();
        ends_file || self.bytes.get(next..).is_some_and(|rest| block_bytes(rest).is_some())
    }
}

/// The length of the block that begins here; `None` if none begins here.
fn block_bytes(bytes: &[u8]) -> Option<usize> {
    let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
    if head[..4] != MAGIC {
        return None;
    }
    let mut extra = rest.get(..usize::from(u16::from_le_bytes([head[10], head[11]])))?;
    loop {
        let (field, after) = extra.split_at_checked(4)?;
        let length = usize::from(u16::from_le_bytes([field[2], field[3]]));
        if field == LENGTH_SUBFIELD {
            return Some(usize::from(u16::from_le_bytes([*after.first()?, *after.get(1)?])) + 1);
        }
        extra = after.get(length..)?;
    }
}

fn content<'d>(block: &[u8], decoder: &'d mut Decoder) -> Result<&'d [u8], Fault> {
    let short = || content_fault("a block is too short");
    let extra = usize::from(u16::from_le_bytes([block[10], block[11]]));
    let deflated = block.get(HEAD_BYTES + extra..block.len().saturating_sub(TAIL_BYTES)).ok_or_else(short)?;
    let tail = block.last_chunk::<TAIL_BYTES>().ok_or_else(short)?;
    let number = |at: usize| u32::from_le_bytes([tail[at], tail[at + 1], tail[at + 2], tail[at + 3]]);
    let size = number(4) as usize;
    if size > BLOCK_MAX {
        return Err(content_fault("a block says that more comes out than may"));
    }
    let content = decoder.entry(deflated, size)?;
    if content.len() != size || crc32(content) != number(0) {
        return Err(content_fault("a block has another checksum or size than it says"));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_recognised_wherever_its_length_is_in_the_extra_field() {
        let head = |extra: &[u8]| {
            let mut head = [&MAGIC[..], &[0; 6], &(extra.len() as u16).to_le_bytes()].concat();
            head.extend_from_slice(extra);
            head
        };
        assert_eq!(block_bytes(&head(b"BC\x02\0\x1b\0")), Some(28));
        assert_eq!(block_bytes(&head(b"XY\x01\0zBC\x02\0\xff\xff")), Some(BLOCK_MAX));
        assert_eq!(block_bytes(&head(b"XY\x02\0\x1b\0")), None);
        assert_eq!(block_bytes(&head(b"BC\x02\0\x1b")), None, "it is cut");
        assert_eq!(block_bytes(&MAGIC), None);
    }
}
