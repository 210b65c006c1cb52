//! Opens a file past the page cache (`O_DIRECT`) and finds the alignment that its file system
//! requires.
//!
//! The file system reports the alignment (statx, `STATX_DIOALIGN`, Linux 6.1). If it does not,
//! memory file systems are refused, because they accept the flag and ignore it. On others 4096 bytes
//! are assumed, which suits every common device.

use crate::linux::{is_in_memory, reopened};
use rustix::fs::{AtFlags, OFlags, StatxFlags};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Assumed if the file system does not report it: the largest block of common devices.
const BLOCK_BYTES_ASSUMED: u64 = 4096;

/// A file opened past the page cache.
#[derive(Debug)]
pub struct DirectFile {
    /// The file.
    pub file: File,
    /// Offsets and lengths of reads, and addresses of buffers, are multiples of this.
    pub block_bytes: u64,
}

impl DirectFile {
    /// Opens a file with `O_DIRECT` and determines its alignment.
    ///
    /// # Errors
    /// If a call fails. If the file system does not take the flag, the error has a reason and no
    /// error code of the system.
    pub fn open(path: &Path) -> io::Result<DirectFile> {
        let direct = OFlags::DIRECT.bits().cast_signed();
        let opened = OpenOptions::new().read(true).custom_flags(direct).open(path);
        // For a folder the kernel reports that the flag is wrong.
        DirectFile::of_opened(opened.map_err(|cause| if path.is_dir() { Errno::ISDIR.into() } else { cause }))
    }

    /// Opens an open file once more with `O_DIRECT` and determines its alignment.
    ///
    /// # Errors
    /// As for [`DirectFile::open`].
    pub fn reopen(file: &File) -> io::Result<DirectFile> {
        DirectFile::of_opened(reopened(file, OFlags::DIRECT))
    }

    fn of_opened(opened: io::Result<File>) -> io::Result<DirectFile> {
        let file = opened.map_err(|cause| match cause.kind() {
            io::ErrorKind::InvalidInput => unsupported("the file system does not take it"),
            _ => cause,
        })?;
        let block_bytes = match reported_alignment(&file)? {
            None if is_in_memory(&file)? => {
                return Err(unsupported("the file lies in a memory file system, which ignores it"));
            }
            None => BLOCK_BYTES_ASSUMED,
            Some(0) => return Err(unsupported("the file system does not take it for this file")),
            Some(block_bytes) => block_bytes,
        };
        Ok(DirectFile { file, block_bytes })
    }
}

/// The alignment that the file system reports. It is 0 if the file system does not take `O_DIRECT`
/// for this file, and `None` if nothing is reported.
pub(crate) fn reported_alignment(file: &File) -> io::Result<Option<u64>> {
    let stat = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN)?;
    let is_reported = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::DIOALIGN);
    let of_buffer = if stat.stx_dio_offset_align == 0 { 0 } else { stat.stx_dio_mem_align };
    Ok(is_reported.then_some(u64::from(stat.stx_dio_offset_align.max(of_buffer))))
}

fn unsupported(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("O_DIRECT: {why}"))
}
