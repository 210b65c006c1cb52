//! Finds out on Linux what stores a file's bytes, which part of the file is in the page cache, and
//! how to read past the cache.

mod residency;

use crate::in_flight;
use crate::strategy::{Backing, CachedShare};
use residency::Residency;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

/// Facts about a file. Each is determined on first use.
#[derive(Debug, Default)]
pub(crate) struct SystemFacts {
    backing: OnceLock<Backing>,
    residency: OnceLock<Residency>,
    cached: OnceLock<CachedShare>,
}

impl SystemFacts {
    /// What stores the file's bytes; [`Backing::Other`] if it is not known.
    pub(crate) fn backing(&self, file: &File) -> Backing {
        *self.backing.get_or_init(|| backing(file).unwrap_or(Backing::Other))
    }

    /// How much of the range that is read is in the page cache. A long range is sampled. Determined
    /// once.
    pub(crate) fn cached(&self, file: &File, range: Range<u64>) -> CachedShare {
        *self.cached.get_or_init(|| {
            if range.is_empty() {
                return CachedShare::All;
            }
            match residency::counted_share(file, range.clone()) {
                // If pages were counted, they are cached on any file system. Others may be in a
                // cache that does not count them.
                Some(CachedShare::All) => CachedShare::All,
                _ if self.backing(file) == Backing::Memory => CachedShare::All,
                Some(found) if !self.is_stacked(file) => found,
                _ => self.cached_of(file, range),
            }
        })
    }

    /// How much of a range is in the page cache now.
    pub(crate) fn cached_of(&self, file: &File, range: Range<u64>) -> CachedShare {
        let examine = || Residency::examine(file, range.start, self.is_stacked(file));
        let residency = self.residency.get_or_init(examine);
        residency.of_range(file, range)
    }

    fn is_stacked(&self, file: &File) -> bool {
        matches!(self.backing(file), Backing::Stacked { .. })
    }
}

/// Opens the file again. The new file description shares nothing with the first.
pub(crate) fn reopened(file: &File, flags: rustix::fs::OFlags) -> io::Result<File> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    std::fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(link)
}

/// Whether the kernel allows an io_uring. Determined once.
pub(crate) fn rings() -> bool {
    static RINGS: OnceLock<bool> = OnceLock::new();
    *RINGS.get_or_init(|| in_flight::Ring::new(1).is_ok())
}

/// Whether the kernel allows an io_uring with a table of files (Linux 5.19). Determined once.
pub(crate) fn rings_of_files() -> bool {
    static RINGS: OnceLock<bool> = OnceLock::new();
    *RINGS.get_or_init(|| crate::files::in_flight::Ring::new(1).is_ok())
}

/// Whether a file can be opened without waiting, because the kernel caches all dentries of its
/// path. True if the kernel cannot answer this (before Linux 5.12).
pub(crate) fn is_name_cached(path: &Path) -> bool {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED);
    !matches!(opened, Err(rustix::io::Errno::AGAIN))
}

/// Magic numbers of file systems that keep files in memory, from linux/magic.h.
const MEMORY_FILE_SYSTEMS: [i64; 2] = [0x0102_1994, 0x8584_58f6];

/// Magic numbers of file systems that read into a program's buffer without a copy. Others may
/// accept `O_DIRECT` and still copy, or decompress one block after the other.
const PAST_THE_CACHE: [i64; 3] = [0xef53, 0x5846_5342, 0xf2f5_2010];

/// Magic number of the file system whose files and pages belong to lower file systems.
const OVERLAYFS: i64 = 0x794c_7630;

/// Whether a file is on a file system that has no device.
pub(crate) fn is_in_memory(file: &File) -> io::Result<bool> {
    Ok(MEMORY_FILE_SYSTEMS.contains(&file_system(file)?))
}

/// The magic number of a file's file system.
fn file_system(file: &File) -> io::Result<i64> {
    #[allow(clippy::unnecessary_cast, reason = "the type differs among architectures")]
    let kind = rustix::fs::fstatfs(file)?.f_type as i64;
    Ok(kind)
}

fn backing(file: &File) -> io::Result<Backing> {
    Ok(match file_system(file)? {
        kind if MEMORY_FILE_SYSTEMS.contains(&kind) => Backing::Memory,
        kind if PAST_THE_CACHE.contains(&kind) => Backing::Device,
        OVERLAYFS => Backing::Stacked { reads_past: reads_past(file) },
        _ => Backing::Other,
    })
}

/// Whether the file system under an overlay reads past the cache. The overlay passes on the
/// alignment that the lower file system reports, and file systems that copy report none.
fn reads_past(file: &File) -> bool {
    matches!(crate::direct::reported_alignment(file), Ok(Some(1..)))
}
