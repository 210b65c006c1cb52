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
    buffer: MmapMut,
}

impl DirectFile {
    /// Opens the file, with a buffer of this size whose pages are allocated before they are used.
    pub fn open(path: &Path, buffer_bytes: usize) -> io::Result<DirectFile> {
        let file = File::options().read(true).custom_flags(OFlags::DIRECT.bits().cast_signed()).open(path)?;
        Ok(DirectFile { file, buffer: MmapOptions::new().len(buffer_bytes).populate().map_anon()? })
    }

    pub fn read(&mut self, offset: u64) -> io::Result<()> {
        self.file.read_exact_at(&mut self.buffer, offset)
    }
}
