//! The method `gzip-blocks`: the blocks of a bgzf, each a member of a gzip that says how long it
//! is, decoded by several threads with libdeflate.
//!
//! A thread takes a segment of the file, looks for the first block that begins in it, and decodes
//! all that do. That these were blocks is shown at the end: together they are the whole file, each
//! with its checksum. Any other gzip, and one with a fault, is decoded from its begin to its end as
//! `gzip` does, which has the reasons.

use super::archive::{Gunzip, unsound};
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

/// A block has at most so many bytes, and so many come out of it (SAM 1, 4.1).
const BLOCK_MAX: usize = 1 << 16;

/// Bytes of a block before its extra field, and after its deflated bytes.
const HEAD_BYTES: usize = 12;
const TAIL_BYTES: usize = 8;

/// A gzip that is deflated, and has an extra field and nothing else (RFC 1952, 2.3).
const MAGIC: [u8; 4] = [0x1f, 0x8b, 8, 4];

/// Of the extra field the part that says how long the block is: `BC`, and that two bytes follow.
const LENGTH_FIELD: [u8; 4] = [b'B', b'C', 2, 0];

pub(super) const GZIP_BLOCKS: Method = Method {
    name: "gzip-blocks",
    about: "the blocks of a bgzf by threads that take segments of the file in turn, each block decoded by libdeflate; any other gzip as gzip does",
    feeding: Feeding::AnyOrder,
    decodes: &[Archive::Gzip],
    params: &[BUFFER, THREADS],
    build: |settings| {
        let (buffer_bytes, threads) = (settings.size(&BUFFER), settings.get(&THREADS));
        Ok(Box::new(Blocks { buffer_bytes, threads }))
    },
    ..Method::USUAL
};

struct Blocks {
    /// Of a segment, which has at least the bytes of a block.
    buffer_bytes: usize,
    threads: u64,
}

impl Reader for Blocks {
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

/// The blocks that a thread decoded.
struct Share {
    answer: Answer,
    /// Where they lie, each range without a gap.
    decoded: Vec<Range<u64>>,
}

impl Blocks {
    /// What comes out of all blocks; `None` if these are not the whole file.
    fn blocks(&self, file: &File, visit: Visit) -> Result<Option<Answer>, Fault> {
        let size = file.metadata()?.len();
        let mut head = [0; HEAD_BYTES + 6];
        if file.read_at(&mut head, 0)? < head.len() || block_bytes(&head).is_none() {
            return Ok(None);
        }
        let step = self.buffer_bytes.max(BLOCK_MAX);
        let shares = Segments::new(0..size, step as u64).share(self.threads, |segments| {
            let mut buffer = Buffer::new(step + 2 * BLOCK_MAX)?;
            let (mut decoder, mut consumer) = (Decoder::new()?, Consumer::new(visit));
            let mut decoded = Vec::new();
            while let Some(segment) = segments.take() {
                let within = usize::try_from(segment.end - segment.start).unwrap_or(usize::MAX);
                let left = usize::try_from(size - segment.start).unwrap_or(usize::MAX);
                let bytes = &mut buffer[..left.min(step + 2 * BLOCK_MAX)];
                file.read_exact_at(bytes, segment.start)?;
                let blocks = Segment { bytes, within, is_last: segment.end == size };
                let Some(range) = blocks.decode(&mut decoder, &mut consumer)? else { continue };
                decoded.push(segment.start + range.start as u64..segment.start + range.end as u64);
            }
            Ok(Share { answer: consumer.finish(), decoded })
        })?;
        let mut decoded: Vec<Range<u64>> = shares.iter().flat_map(|share| share.decoded.clone()).collect();
        decoded.sort_by_key(|range| range.start);
        let mut end = 0;
        let is_whole = decoded.iter().all(|range| std::mem::replace(&mut end, range.end) == range.start);
        let answers = shares.into_iter().map(|share| share.answer).collect();
        Ok((is_whole && end == size).then(|| Answer::of_parts(answers)))
    }
}

/// A segment of the file, with the bytes after it in which its last block may end.
struct Segment<'a> {
    bytes: &'a [u8],
    within: usize,
    /// Whether the file ends with these bytes.
    is_last: bool,
}

impl Segment<'_> {
    /// Decodes all blocks that begin in the segment; where they lie, if there are any.
    fn decode(&self, decoder: &mut Decoder, consumer: &mut Consumer) -> Result<Option<Range<usize>>, Fault> {
        let Some(first) = (0..self.within).find(|&at| self.begins_at(at)) else { return Ok(None) };
        let mut at = first;
        while at < self.within {
            let rest = self.bytes.get(at..).unwrap_or_default();
            let Some(length) = block_bytes(rest) else { break };
            let block = rest.get(..length).ok_or_else(|| unsound("a block reaches beyond the file"))?;
            consumer.feed(content(block, decoder)?);
            at += length;
        }
        Ok(Some(first..at))
    }

    /// Whether a block begins at a place: one that another follows, or the end of the file.
    fn begins_at(&self, at: usize) -> bool {
        let Some(length) = block_bytes(&self.bytes[at..]) else { return false };
        let next = at + length;
        let ends_file = self.is_last && next == self.bytes.len();
        ends_file || self.bytes.get(next..).is_some_and(|rest| block_bytes(rest).is_some())
    }
}

/// How long the block is that begins here; `None` if none does.
fn block_bytes(bytes: &[u8]) -> Option<usize> {
    let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
    if head[..4] != MAGIC {
        return None;
    }
    let mut extra = rest.get(..usize::from(u16::from_le_bytes([head[10], head[11]])))?;
    loop {
        let (field, after) = extra.split_at_checked(4)?;
        let length = usize::from(u16::from_le_bytes([field[2], field[3]]));
        if field == LENGTH_FIELD {
            return Some(usize::from(u16::from_le_bytes([*after.first()?, *after.get(1)?])) + 1);
        }
        extra = after.get(length..)?;
    }
}

/// What comes out of a block.
fn content<'d>(block: &[u8], decoder: &'d mut Decoder) -> Result<&'d [u8], Fault> {
    let short = || unsound("a block is too short");
    let extra = usize::from(u16::from_le_bytes([block[10], block[11]]));
    let deflated = block.get(HEAD_BYTES + extra..block.len().saturating_sub(TAIL_BYTES)).ok_or_else(short)?;
    let tail = block.last_chunk::<TAIL_BYTES>().ok_or_else(short)?;
    let number = |at: usize| u32::from_le_bytes([tail[at], tail[at + 1], tail[at + 2], tail[at + 3]]);
    let size = number(4) as usize;
    if size > BLOCK_MAX {
        return Err(unsound("a block says that more comes out than may"));
    }
    let content = decoder.entry(deflated, size)?;
    if content.len() != size || crc32(content) != number(0) {
        return Err(unsound("a block has another checksum or size than it says"));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_known_by_its_head_wherever_its_length_stands_in_the_extra_field() {
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
