//! The method `direct`: read(2) past the page cache (`O_DIRECT`) into one aligned buffer.
//!
//! The alignment is found by [`readlab_auto::direct`]. A file system may still read through the
//! cache without an error (compressed btrfs does this), which only the device's counters show. If
//! the size of a file is not a multiple of the block, the last read is short, as expected. If a
//! read ends within a block before the end of the file, the rest is read without the flag.

use super::read::drain;
use super::{Fault, Method, Reader, kept_buffer};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use readlab_auto::buffer::Buffer;
use readlab_auto::direct;
use readlab_protocol::{Answer, Cache};
use rustix::fs::OFlags;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;

const BUFFER: Param = Param::new("buffer_bytes", 1 << 20, 512, 1 << 30);

pub(super) const DIRECT: Method = Method {
    name: "direct",
    about: "read(2) with O_DIRECT in a loop into one aligned buffer",
    cache: Cache::Bypass,
    parts: true,
    lists: true,
    params: &[BUFFER],
    build: |settings| Ok(Box::new(Direct { buffer_bytes: settings.size(&BUFFER) })),
    ..Method::DEFAULT
};

struct Direct {
    buffer_bytes: usize,
}

impl Reader for Direct {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        self.read_with_kept_buffer(source, visit, &mut None)
    }

    fn read_with_kept_buffer(
        &mut self,
        source: &Source,
        visit: Visit,
        kept: &mut Option<Buffer>,
    ) -> Result<Answer, Fault> {
        let mut file = DirectFile::open(source)?;
        file.check_buffer_size(self.buffer_bytes)?;
        let buffer = kept_buffer(kept, self.buffer_bytes)?;
        let mut consumer = Consumer::new(visit);
        drain(&mut file, buffer, &mut consumer)?;
        Ok(consumer.finish())
    }
}

/// A file opened past the page cache.
pub(super) struct DirectFile {
    pub(super) file: File,
    /// Offsets and lengths of reads are multiples of this.
    pub(super) block_bytes: u64,
    pub(super) range: Range<u64>,
    /// Whether the file may continue after the range.
    is_part: bool,
    at: u64,
}

impl DirectFile {
    /// Opens a file with `O_DIRECT` and determines its alignment.
    pub(super) fn open(source: &Source) -> Result<DirectFile, Fault> {
        let opened = direct::DirectFile::open(source.path()).map_err(|cause| match cause.raw_os_error() {
            None => Fault::Unavailable(cause.to_string()),
            Some(_) => cause.into(),
        })?;
        let direct::DirectFile { mut file, block_bytes } = opened;
        source.seek_to_start(&mut file)?;
        let range = source.range_in(&file)?;
        let at = range.start;
        Ok(DirectFile { file, block_bytes, range, is_part: source.as_part().is_some(), at })
    }

    pub(super) fn check_buffer_size(&self, buffer_bytes: usize) -> Result<(), Fault> {
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
            if self.at >= self.range.end {
                return Ok(0);
            }
            let flags = rustix::fs::fcntl_getfl(&self.file)?;
            rustix::fs::fcntl_setfl(&self.file, flags - OFlags::DIRECT)?;
        }
        let wanted = self.next_read_bytes(buffer.len());
        let count = self.file.read(&mut buffer[..wanted])?;
        let left = usize::try_from(self.left_bytes()).unwrap_or(usize::MAX);
        let count = if self.is_part { count.min(left) } else { count };
        self.at += count as u64;
        Ok(count)
    }
}

impl DirectFile {
    fn left_bytes(&self) -> u64 {
        self.range.end.saturating_sub(self.at)
    }

    /// The size of the next read: at most the remaining blocks, and one more, which a file that
    /// grew would fill. The kernel faults in every page of a direct read's buffer before it starts,
    /// and for a small file this costs more than the reading.
    fn next_read_bytes(&self, buffer_bytes: usize) -> usize {
        let left_bytes = self.left_bytes().next_multiple_of(self.block_bytes);
        let behind_bytes = if self.is_part { 0 } else { self.block_bytes };
        let worth = usize::try_from(left_bytes.saturating_add(behind_bytes)).unwrap_or(usize::MAX);
        worth.min(buffer_bytes)
    }
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
        match DirectFile::open(&Source::whole(file.path())) {
            Err(Fault::Unavailable(reason)) => assert!(reason.starts_with("O_DIRECT: "), "{reason}"),
            other => panic!("{:?}", other.map(|file| file.block_bytes)),
        }
    }

    #[test]
    fn a_read_that_ends_off_a_block_continues_without_the_flag() {
        // The file must be on a disk, and not among the sources, whose change makes cargo build
        // again.
        let program = std::env::current_exe().unwrap();
        let mut file = tempfile::NamedTempFile::new_in(program.parent().unwrap()).unwrap();
        io::Write::write_all(&mut file, &[b'\n'; 10_000]).unwrap();
        let mut file = match DirectFile::open(&Source::whole(file.path())) {
            Ok(file) => file,
            Err(fault) => return eprintln!("SKIPPED: {fault}"),
        };
        let mut buffer = Buffer::new(4096).unwrap();
        assert_eq!(file.read(&mut buffer).unwrap(), 4096);
        // Simulates a read that stopped within a block.
        io::Seek::seek(&mut file.file, io::SeekFrom::Start(4099)).unwrap();
        file.at = 4099;
        let read = drain(&mut file, &mut buffer, &mut Consumer::new(Visit::Nothing)).unwrap();
        assert_eq!(read, 10_000 - 4099);
    }

    #[test]
    fn a_buffer_off_the_alignment_is_refused_by_name() {
        let file = DirectFile {
            file: tempfile::tempfile().unwrap(),
            block_bytes: 512,
            range: 0..0,
            is_part: false,
            at: 0,
        };
        assert!(file.check_buffer_size(1024).is_ok());
        assert!(file.check_buffer_size(1000).unwrap_err().to_string().contains("multiple of 512"));
    }
}
