//! Buffers for file content: whole pages, mapped for one buffer and unmapped with it.
//!
//! The allocator of the C library moves its threshold between heap and own mapping with every large
//! block that is freed, so only the first reading of a process would pay for fresh pages. Separate
//! pages cost the same in every reading, suit `O_DIRECT`, and keep no byte of a file.

use memmap2::{Advice, MmapMut};
use std::io;
use std::ops::{Deref, DerefMut};

/// The size of a huge page on the common architectures; memory aligned to it can use huge pages.
pub(crate) const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A buffer that begins on a page and is filled with zeros. The default one is empty and has no
/// page.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    pages: Option<MmapMut>,
    start: usize,
    len: usize,
}

impl Buffer {
    /// Maps pages for `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> io::Result<Buffer> {
        Ok(Buffer { pages: Some(MmapMut::map_anon(bytes)?), start: 0, len: bytes })
    }

    /// Maps huge pages if they are available: one huge page is faulted in, and pinned for a device,
    /// in one step instead of 512.
    pub(crate) fn huge(bytes: usize) -> io::Result<Buffer> {
        if bytes < HUGE_PAGE_BYTES {
            return Buffer::new(bytes);
        }
        let pages = MmapMut::map_anon(bytes + HUGE_PAGE_BYTES)?;
        // A kernel without huge pages refuses the advice; small pages work too, but cost more.
        let _ = pages.advise(Advice::HugePage);
        let start = pages.as_ptr().align_offset(HUGE_PAGE_BYTES);
        Ok(Buffer { pages: Some(pages), start, len: bytes })
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.pages.as_ref().map_or(&[], |pages| &pages[self.start..self.start + self.len])
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.pages.as_mut().map_or(&mut [], |pages| &mut pages[self.start..self.start + self.len])
    }
}
