//! Iterates over the lines of a file. A line is copied only if it crosses the end of a buffer.

use crate::reader::Reader;
use std::io::{self, BufRead};

/// Lines without their line ends (`\n`). A last line without a line end counts.
#[derive(Debug)]
pub struct Lines<'a> {
    reader: Reader<'a>,
    /// A line that crosses the end of the buffer.
    crossing: Vec<u8>,
    /// Number of bytes that the last line takes in the reader, including its line end.
    taken: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(reader: Reader<'a>) -> Lines<'a> {
        Lines { reader, crossing: Vec::new(), taken: 0 }
    }

    /// The next line; `None` after the last.
    ///
    /// # Errors
    /// If a call fails.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.reader.consume(std::mem::take(&mut self.taken));
        self.crossing.clear();
        loop {
            let bytes = self.reader.fill_buf()?;
            let (found, length) = (memchr::memchr(b'\n', bytes), bytes.len());
            match found {
                Some(at) if self.crossing.is_empty() => {
                    self.taken = at + 1;
                    return Ok(Some(&self.reader.fill_buf()?[..at]));
                }
                Some(at) => {
                    self.crossing.extend_from_slice(&bytes[..at]);
                    self.reader.consume(at + 1);
                    return Ok(Some(&self.crossing));
                }
                None if length == 0 => return Ok(Some(&self.crossing[..]).filter(|line| !line.is_empty())),
                None => {
                    self.crossing.extend_from_slice(bytes);
                    self.reader.consume(length);
                }
            }
        }
    }
}
