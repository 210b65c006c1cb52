//! `Read` and `BufRead` over a file: bytes are pulled from a buffer, or from the mapped file.
//!
//! The kernel reads ahead of the reader. From a cold file, a visitor gets the pieces faster.

use crate::buffer::Buffer;
use crate::map::Map;
use crate::source::Source;
use crate::strategy::Strategy;
use crate::{ReadError, copied};
use std::io::{self, BufRead, Read};

/// Bytes of one read(2). This is a quarter of a second-level cache, and needs few calls.
const BUFFER_BYTES: usize = 128 << 10;

/// A file as a stream of bytes.
pub struct Reader<'a> {
    source: Source<'a>,
    map: Option<Map>,
    buffer: Buffer,
    /// Offset of the first byte of the buffer, or of the mapping.
    at: u64,
    /// The part of the buffer that was not consumed yet.
    begin: usize,
    end: usize,
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("at", &self.at).field("mapped", &self.map.is_some()).finish()
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(source: Source<'a>, maps: bool) -> Result<Reader<'a>, ReadError> {
        let is_mapped = source.strategy(maps) == Strategy::Mapped;
        let map = if is_mapped { Map::new(&source) } else { None };
        let buffer = if map.is_some() { Buffer::default() } else { Buffer::new(BUFFER_BYTES)? };
        let (at, end) = (source.extent.start(), map.as_ref().map_or(0, |map| map.bytes().len()));
        Ok(Reader { source, map, buffer, at, begin: 0, end })
    }

    /// The offset in the file of the next byte.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.at + self.begin as u64
    }

    fn rest(&self) -> &[u8] {
        let bytes = self.map.as_ref().map_or(&self.buffer[..], Map::bytes);
        &bytes[self.begin..self.end]
    }
}

impl BufRead for Reader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let room = self.source.extent.room_at(self.offset(), self.buffer.len());
        if self.begin == self.end && self.map.is_none() && room > 0 {
            self.at = self.offset();
            (self.begin, self.end) = (0, 0);
            self.end = copied::read_at(&self.source, self.at, &mut self.buffer[..room])?;
        }
        Ok(self.rest())
    }

    fn consume(&mut self, amount: usize) {
        self.begin = self.end.min(self.begin + amount);
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}
