//! An open file, with the facts on which the choice of a strategy depends.

use super::residency::{self, Residency};
use super::strategy::{Backing, Cached, Facts, ONCE_BYTES, Strategy};
use crate::method::direct::DirectFile;
use crate::method::{Fault, io_uring};
use memmap2::{Mmap, MmapOptions};
use rustix::fs::{FileType, SeekFrom};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

/// The file.
pub(super) struct FileContext<'a> {
    pub(super) file: File,
    pub(super) size_bytes: u64,
    seeks: bool,
    path: &'a Path,
    backing: OnceLock<Backing>,
    residency: OnceLock<Residency>,
    cached: OnceLock<Cached>,
}

impl<'a> FileContext<'a> {
    /// Opens a file and determines its size; all other facts are determined on first use.
    pub(super) fn of(path: &'a Path) -> Result<FileContext<'a>, Fault> {
        let file = File::open(path)?;
        // This takes a third of the time of the standard library's statx(2), which matters for
        // files of a few kilobytes.
        let end = rustix::fs::seek(&file, SeekFrom::End(0));
        let size_bytes = match end {
            Ok(end) if end <= ONCE_BYTES => end,
            Ok(_) => regular_bytes(&file)?,
            // A pipe, or a file that the kernel generates during the read.
            Err(_) => 0,
        };
        let seeks = end.is_ok();
        let (backing, residency, cached) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(FileContext { file, size_bytes, seeks, path, backing, residency, cached })
    }

    /// Reads the bytes at an offset; of a file that cannot seek, the next bytes.
    pub(super) fn read_at<'b>(&self, at: u64, buffer: &'b mut [MaybeUninit<u8>]) -> Result<&'b [u8], Errno> {
        let found = if self.seeks {
            rustix::io::pread(&self.file, buffer, at)
        } else {
            rustix::io::read(&self.file, buffer)
        };
        found.map(|(bytes, _)| &*bytes)
    }

    /// The best strategy for the current state; makes only the system calls that the choice needs.
    pub(super) fn strategy(&self, maps: bool) -> Strategy {
        let small = self.size_bytes <= ONCE_BYTES;
        let cached = if small { Cached::Some } else { self.cached() };
        let backing = if small || cached == Cached::All { Backing::Other } else { self.backing() };
        let rings = backing == Backing::Device && rings();
        Strategy::choose(&Facts { size_bytes: self.size_bytes, backing, cached, maps, rings })
    }

    /// What stores the file's bytes; [`Backing::Other`] if it is not known.
    pub(super) fn backing(&self) -> Backing {
        *self.backing.get_or_init(|| backing(&self.file).unwrap_or(Backing::Other))
    }

    /// How much of the file is in the page cache, by samples for a large file; determined once.
    pub(super) fn cached(&self) -> Cached {
        *self.cached.get_or_init(|| {
            match residency::counted(&self.file, self.size_bytes) {
                // Counted pages are cached on any file system; others may be in a cache that is not
                // counted.
                Some(Cached::All) => Cached::All,
                _ if self.backing() == Backing::Memory => Cached::All,
                Some(found) if self.backing() != Backing::Stacked => found,
                _ => self.cached_of(0..self.size_bytes),
            }
        })
    }

    /// How much of a range is in the page cache now.
    pub(super) fn cached_of(&self, range: Range<u64>) -> Cached {
        let stacked = || self.backing() == Backing::Stacked;
        let residency = self.residency.get_or_init(|| Residency::of(&self.file, self.path, stacked()));
        residency.of_range(&self.file, range)
    }

    /// The file mapped.
    pub(super) fn map(&self) -> io::Result<Mmap> {
        let size_bytes = usize::try_from(self.size_bytes).map_err(io::Error::other)?;
        // SAFETY: a caller that allows mapping guarantees that the file does not change during the
        // reading.
        unsafe { MmapOptions::new().len(size_bytes).map(&self.file) }
    }

    /// The same file past the page cache; `None` where the file system refuses.
    pub(super) fn direct(&self) -> Option<DirectFile> {
        DirectFile::open(self.path).ok()
    }
}

/// The size of a regular file. Other files have no true size and cannot be mapped: 0.
fn regular_bytes(file: &File) -> io::Result<u64> {
    let stat = rustix::fs::fstat(file)?;
    let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
    Ok(if is_file { stat.st_size.cast_unsigned() } else { 0 })
}

/// Whether the kernel allows an io_uring; determined once.
fn rings() -> bool {
    static RINGS: OnceLock<bool> = OnceLock::new();
    *RINGS.get_or_init(|| io_uring::available().is_ok())
}

/// Numbers of file systems, from linux/magic.h, that keep files in memory.
const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];

/// File systems that read into a program's buffer without a copy. Others may accept `O_DIRECT` and
/// still copy, or decompress one block after the other.
const PAST_THE_CACHE: [i64; 3] = [0xef53, 0x5846_5342, 0xf2f5_2010];

/// A file system whose files and pages belong to lower file systems.
const OVERLAYFS: i64 = 0x794c_7630;

fn backing(file: &File) -> io::Result<Backing> {
    #[allow(clippy::unnecessary_cast, reason = "the type differs among architectures")]
    let kind = rustix::fs::fstatfs(file)?.f_type as i64;
    Ok(match kind {
        _ if IN_MEMORY.contains(&kind) => Backing::Memory,
        _ if PAST_THE_CACHE.contains(&kind) => Backing::Device,
        OVERLAYFS => Backing::Stacked,
        _ => Backing::Other,
    })
}
