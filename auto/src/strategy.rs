//! Chooses a strategy for reading a file, from the facts that the source determines.

use crate::ReadError;
use crate::source::Source;
use std::fs::File;

/// A strategy of reading one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// Read the file once through one small buffer, without any other system call.
    Once,
    /// Read with read(2) or pread(2) through the page cache, buffer by buffer.
    Copied,
    /// Map the file, which is cached.
    Mapped,
    /// Keep many reads in flight past the page cache. Cached parts are read from the cache.
    InFlight,
}

/// How much of a file, or of a part of it, is in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CachedShare {
    All,
    Some,
    None,
}

impl CachedShare {
    /// Classifies the number of tested pages that were found cached.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells"))]
    pub(crate) fn from_counts(found: u64, asked: u64) -> CachedShare {
        match found {
            0 => CachedShare::None,
            found if found >= asked => CachedShare::All,
            _ => CachedShare::Some,
        }
    }
}

/// What stores the bytes.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backing {
    /// Memory alone.
    Memory,
    /// A file system that can read past the page cache into a program's buffer.
    Device,
    /// Stacked file systems: the pages belong to a lower file system. `reads_past` says whether the
    /// file system that has the file can read past the page cache.
    Stacked { reads_past: bool },
    /// Anything else: a file system with compression, in user space or on a network, or an unknown
    /// one.
    Other,
}

impl Backing {
    /// Whether the file system can read past the page cache into a program's buffer.
    pub(crate) fn reads_past(self) -> bool {
        matches!(self, Backing::Device | Backing::Stacked { reads_past: true })
    }
}

/// The facts on which the choice depends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) size_bytes: u64,
    pub(crate) backing: Backing,
    pub(crate) cached: CachedShare,
    /// Whether files may be mapped.
    pub(crate) maps: bool,
    /// Whether the kernel allows an io_uring.
    pub(crate) rings: bool,
}

/// Up to this size, one read-ahead of the kernel reads the whole file, and preparing other reads
/// takes longer.
const READ_AHEAD_BYTES: u64 = 8 << 20;

/// Up to this size, copying into a buffer that stays in the processor's cache costs no more than
/// mapping, and the calls that would find more facts are saved. Measured at 64 KiB to 8 MiB, with
/// pages of 4 KiB and with large ones.
pub(crate) const ONCE_BYTES: u64 = 1 << 20;

impl Strategy {
    /// The strategy with which an open file would be read now. `maps` says whether the file may be
    /// mapped. For programs that read by themselves and need to know whether to map.
    ///
    /// ```
    /// use readlab_auto::Strategy;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    /// let file = std::fs::File::open(path)?;
    /// assert_eq!(Strategy::for_file(&file, true)?, Strategy::Once, "it is small");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If it cannot be examined.
    pub fn for_file(file: &File, maps: bool) -> Result<Strategy, ReadError> {
        Ok(Source::new(file, false, None)?.strategy(maps))
    }

    pub(crate) fn choose(facts: &Facts) -> Strategy {
        if facts.size_bytes <= ONCE_BYTES {
            return Strategy::Once;
        }
        match (facts.cached, facts.backing) {
            (CachedShare::All, _) | (_, Backing::Memory) if facts.maps => Strategy::Mapped,
            (CachedShare::Some | CachedShare::None, backing)
                if backing.reads_past() && facts.rings && facts.size_bytes > READ_AHEAD_BYTES =>
            {
                Strategy::InFlight
            }
            _ => Strategy::Copied,
        }
    }
}
