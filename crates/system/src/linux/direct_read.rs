//! Reads that bypass the page cache: a file opened with `O_DIRECT`, and page-aligned memory for its
//! data.

use rustix::fs::OFlags;
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// A file that is read past the page cache, with a buffer of its own.
#[derive(Debug)]
pub struct DirectFile {
    file: File,
    buffer: AnonymousMapping,
}

impl DirectFile {
    /// Opens the file, with a buffer of this size whose pages are allocated before they are used.
    pub fn open(path: &Path, buffer_bytes: usize) -> io::Result<DirectFile> {
        let file = File::options().read(true).custom_flags(OFlags::DIRECT.bits().cast_signed()).open(path)?;
        Ok(DirectFile { file, buffer: AnonymousMapping::map(buffer_bytes)? })
    }

    pub fn read(&mut self, offset: u64) -> io::Result<()> {
        self.file.read_exact_at(self.buffer.bytes(), offset)
    }
}

#[derive(Debug)]
struct AnonymousMapping {
    start: *mut u8,
    bytes: usize,
}

impl AnonymousMapping {
    fn map(bytes: usize) -> io::Result<AnonymousMapping> {
        // SAFETY: a new mapping at an address that the kernel chooses; nothing else refers to it.
        let start = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::POPULATE,
            )
        }?;
        Ok(AnonymousMapping { start: start.cast(), bytes })
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping has this length, is readable and writable, lives as long as `self`,
        // and is lent only through it.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) }
    }
}

impl Drop for AnonymousMapping {
    fn drop(&mut self) {
        // SAFETY: made in `map` with this address and length, and nothing borrows from it any more.
        // A failure cannot be handled in a drop.
        let _ = unsafe { rustix::mm::munmap(self.start.cast(), self.bytes) };
    }
}
