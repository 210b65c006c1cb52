//! The scan for lines, which delivers every line as a slice, whatever the pieces of the file are.
//!
//! A line within one piece is a slice of that piece. A line across pieces is assembled in a buffer
//! that keeps its capacity. Lines end at 0x0A, which belongs to no line.

use std::hint::black_box;
use std::ptr;

/// The number of lines so far, and the beginning of the line that is not complete.
#[derive(Debug, Default)]
pub struct LineFinder {
    count: u64,
    unfinished: Vec<u8>,
}

impl LineFinder {
    /// Takes the end of a line: the whole line, or the bytes after the unfinished part.
    #[inline]
    fn end_line(&mut self, tail: &[u8]) {
        if self.unfinished.is_empty() {
            black_box(tail);
        } else {
            self.unfinished.extend_from_slice(tail);
            black_box(&self.unfinished[..]);
            self.unfinished.clear();
        }
        self.count += 1;
    }

    /// The number of lines, an unterminated last one included.
    pub fn finish(self) -> u64 {
        self.count + u64::from(!self.unfinished.is_empty())
    }
}

/// Finds the ends of lines with the `memchr` crate.
pub(super) fn memchr(finder: &mut LineFinder, bytes: &[u8]) {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes) {
        finder.end_line(&bytes[start..end]);
        start = end + 1;
    }
    finder.unfinished.extend_from_slice(&bytes[start..]);
}

/// Finds the ends of lines one byte at a time.
pub(super) fn scalar(finder: &mut LineFinder, bytes: &[u8]) {
    let mut start = 0;
    for (at, byte) in bytes.iter().enumerate() {
        // SAFETY: a reference is valid and aligned for a read; volatile keeps the loads single.
        if unsafe { ptr::read_volatile(byte) } == b'\n' {
            finder.end_line(&bytes[start..at]);
            start = at + 1;
        }
    }
    finder.unfinished.extend_from_slice(&bytes[start..]);
}
