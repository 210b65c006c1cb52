//! Reads that bypass the page cache: a file opened with `O_DIRECT`, and page-aligned memory for its
//! data.

use memmap2::{MmapMut, MmapOptions};
use rustix::fs::OFlags;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// A file that is read past the page cache, with a buffer of its own.
#[derive(Debug)]
pub struct DirectFile {
    file: File,
    memory: Vec<u8>,
    /// Offset in the memory at which a page begins, and with it the buffer.
    start: usize,
}

impl DirectFile {
    /// Opens the file, with a buffer of this size whose pages are allocated before they are used.
    pub fn open(path: &Path, buffer_bytes: usize) -> io::Result<DirectFile> {
        let file = File::options().read(true).custom_flags(OFlags::DIRECT.bits().cast_signed()).open(path)?;
        let page_bytes = rustix::param::page_size();
        // The kernel would allocate no page for zeros before they are used.
        let mut memory = vec![1_u8; buffer_bytes + page_bytes];
        let start = memory.as_ptr().align_offset(page_bytes);
        memory.truncate(start + buffer_bytes);
        Ok(DirectFile { file, memory, start })
    }

    pub fn read(&mut self, offset: u64) -> io::Result<()> {
        self.file.read_exact_at(&mut self.memory[self.start..], offset)
    }
}
