//! Memory for what is read: whole pages of their own, taken from the kernel and given back to it.
//!
//! The allocator of the C library moves its threshold between heap and own mapping with every large block that is
//! freed, so the first reading of a process would pay for fresh pages and the later ones not. Pages of their own cost
//! the same in every reading, suit `O_DIRECT`, and leave nothing of a file behind.

use memmap2::MmapMut;
use std::io;
use std::ops::{Deref, DerefMut};

/// A buffer that begins on a page and is filled with zeros.
#[derive(Debug)]
pub(crate) struct Buffer(MmapMut);

impl Buffer {
    /// Takes pages for at least so many bytes.
    pub(crate) fn new(bytes: usize) -> io::Result<Buffer> {
        MmapMut::map_anon(bytes).map(Buffer)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
