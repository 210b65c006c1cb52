//! A file past the page cache (`O_DIRECT`), with the alignment that its file system wants.
//!
//! The file system reports the alignment (statx, `STATX_DIOALIGN`, Linux 6.1). If it does not, 4096
//! bytes are assumed, which suits every common device.

use super::reopened;
use rustix::fs::{AtFlags, OFlags, StatxFlags};
use std::fs::File;
use std::io;

/// Assumed if the file system does not report it: the largest block of common devices.
const BLOCK_BYTES_ASSUMED: u64 = 4096;

/// A file opened past the page cache.
#[derive(Debug)]
pub(crate) struct DirectFile {
    /// The file.
    pub(crate) file: File,
    /// Offsets and lengths of reads are multiples of this.
    pub(crate) block_bytes: u64,
}

impl DirectFile {
    /// Opens the same file once more with `O_DIRECT` and determines its alignment.
    pub(super) fn of(file: &File) -> io::Result<DirectFile> {
        let file = reopened(file, OFlags::DIRECT)?;
        let stat = rustix::fs::statx(&file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN)?;
        let is_told = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::DIOALIGN);
        if is_told && stat.stx_dio_offset_align == 0 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let told_bytes = stat.stx_dio_offset_align.max(stat.stx_dio_mem_align);
        let block_bytes = if is_told { u64::from(told_bytes) } else { BLOCK_BYTES_ASSUMED };
        Ok(DirectFile { file, block_bytes })
    }
}
