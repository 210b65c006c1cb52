//! The method `direct`: read(2) past the page cache (`O_DIRECT`) into one aligned buffer.
//!
//! The file system reports the alignment (statx, `STATX_DIOALIGN`, Linux 6.1). If it does not,
//! memory file systems are refused, because they accept the flag and ignore it; on others 4096
//! bytes are assumed, which suits every common device. A file system may still read through the
//! cache without an error (compressed btrfs does); only the device's counters show that. If the
//! size of a file is not a multiple of the block, the last read is short, as expected. If a read
//! ends within a block before the end of the file, the rest is read without the flag.

use super::read::drain;
use super::size::size_of;
use super::{Fault, Feeding, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::Param;
use crate::work::Answer;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Cache, Reads};
use rustix::fs::{AtFlags, OFlags, StatxFlags};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const BUFFER: Param = Param::new("buffer_bytes", 1 << 20, 512, 1 << 30);

pub(super) const DIRECT: Method = Method {
    name: "direct",
    about: "read(2) with O_DIRECT in a loop into one aligned buffer",
    cache: Cache::Bypass,
    reads: Reads::File,
    feeding: Feeding::InOrder,
    decodes: &[],
    params: &[BUFFER],
    build: |settings| Ok(Box::new(Direct { buffer_bytes: settings.size(&BUFFER) })),
    available: || Ok(()),
};

struct Direct {
    buffer_bytes: usize,
}

impl Reader for Direct {
    fn read(&mut self, path: &Path, visit: Visit) -> Result<Answer, Fault> {
        let mut file = DirectFile::open(path)?;
        file.takes(self.buffer_bytes)?;
        let mut buffer = Buffer::new(self.buffer_bytes)?;
        let mut consumer = Consumer::new(visit);
        drain(&mut file, &mut buffer[..self.buffer_bytes], &mut consumer)?;
        Ok(consumer.finish())
    }
}

/// Assumed if the file system does not report it: the largest block of common devices.
const BLOCK_BYTES_ASSUMED: u64 = 4096;

/// A file opened past the page cache.
pub(super) struct DirectFile {
    /// The file.
    pub(super) file: File,
    /// Offsets and lengths of reads are multiples of this.
    pub(super) block_bytes: u64,
    /// Its size when it was opened.
    pub(super) size_bytes: u64,
    at: u64,
}

impl DirectFile {
    /// Opens a file with `O_DIRECT` and determines its alignment.
    pub(super) fn open(path: &Path) -> Result<DirectFile, Fault> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(OFlags::DIRECT.bits().cast_signed());
        let file = options.open(path).map_err(|cause| match cause.kind() {
            io::ErrorKind::InvalidInput => refused("the file system does not take it"),
            _ => cause.into(),
        })?;
        let wanted = StatxFlags::DIOALIGN;
        let stat = rustix::fs::statx(&file, c"", AtFlags::EMPTY_PATH, wanted).map_err(io::Error::from)?;
        let told = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::DIOALIGN);
        let block_bytes = if !told {
            BLOCK_BYTES_ASSUMED
        } else {
            u64::from(stat.stx_dio_offset_align.max(stat.stx_dio_mem_align))
        };
        if !told && is_in_memory(&file)? {
            return Err(refused("the file lies in a memory file system, which ignores it"));
        }
        if told && stat.stx_dio_offset_align == 0 {
            return Err(refused("the file system does not take it for this file"));
        }
        let size_bytes = size_of(&file)?;
        Ok(DirectFile { file, block_bytes, size_bytes, at: 0 })
    }

    /// Whether buffers of this size fit the alignment.
    pub(super) fn takes(&self, buffer_bytes: usize) -> Result<(), Fault> {
        let block_bytes = self.block_bytes;
        if (buffer_bytes as u64).is_multiple_of(block_bytes) {
            return Ok(());
        }
        let text =
            format!("O_DIRECT: buffer_bytes must be a multiple of {block_bytes} here, got {buffer_bytes}");
        Err(io::Error::new(io::ErrorKind::InvalidInput, text).into())
    }
}

impl Read for DirectFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.at.is_multiple_of(self.block_bytes) {
            if self.at >= self.size_bytes {
                return Ok(0);
            }
            let flags = rustix::fs::fcntl_getfl(&self.file)?;
            rustix::fs::fcntl_setfl(&self.file, flags - OFlags::DIRECT)?;
        }
        let wanted = self.worth_asking(buffer.len());
        let count = self.file.read(&mut buffer[..wanted])?;
        self.at += count as u64;
        Ok(count)
    }
}

impl DirectFile {
    /// No more than the blocks that are left, and one, which a file that grew would fill: the
    /// kernel makes every page of a direct read's buffer present before it starts, and for a small
    /// file that costs more than the reading.
    fn worth_asking(&self, buffer_bytes: usize) -> usize {
        let left_bytes = self.size_bytes.saturating_sub(self.at).next_multiple_of(self.block_bytes);
        let worth = usize::try_from(left_bytes.saturating_add(self.block_bytes)).unwrap_or(usize::MAX);
        worth.min(buffer_bytes)
    }
}

fn refused(why: &str) -> Fault {
    Fault::Unavailable(format!("O_DIRECT: {why}"))
}

/// Whether the file is on tmpfs or ramfs, which have no device.
fn is_in_memory(file: &File) -> io::Result<bool> {
    const RAMFS_MAGIC: i64 = 0x8584_58f6;
    #[allow(clippy::unnecessary_cast, reason = "the types of both differ among architectures")]
    let (kind, tmpfs) = (rustix::fs::fstatfs(file)?.f_type as i64, libc::TMPFS_MAGIC as i64);
    Ok(kind == tmpfs || kind == RAMFS_MAGIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_file_system_is_refused_with_the_reason() {
        let Ok(file) = tempfile::NamedTempFile::new_in("/dev/shm") else {
            eprintln!("SKIPPED: no memory file system at /dev/shm");
            return;
        };
        match DirectFile::open(file.path()) {
            Err(Fault::Unavailable(reason)) => assert!(reason.starts_with("O_DIRECT: "), "{reason}"),
            other => panic!("{:?}", other.map(|file| file.block_bytes)),
        }
    }

    #[test]
    fn a_read_that_ends_off_a_block_continues_without_the_flag() {
        let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        io::Write::write_all(&mut file, &[b'\n'; 10_000]).unwrap();
        let mut file = match DirectFile::open(file.path()) {
            Ok(file) => file,
            Err(fault) => return eprintln!("SKIPPED: {fault}"),
        };
        let mut buffer = Buffer::new(4096).unwrap();
        assert_eq!(file.read(&mut buffer).unwrap(), 4096);
        // As if the kernel had stopped within a block.
        io::Seek::seek(&mut file.file, io::SeekFrom::Start(4099)).unwrap();
        file.at = 4099;
        let read = drain(&mut file, &mut buffer, &mut Consumer::new(Visit::Nothing)).unwrap();
        assert_eq!(read, 10_000 - 4099);
    }

    #[test]
    fn a_buffer_off_the_alignment_is_refused_by_name() {
        let file = DirectFile { file: tempfile::tempfile().unwrap(), block_bytes: 512, size_bytes: 0, at: 0 };
        assert!(file.takes(1024).is_ok());
        assert!(file.takes(1000).unwrap_err().to_string().contains("multiple of 512"));
    }
}
