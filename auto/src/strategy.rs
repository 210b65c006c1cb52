//! The choice of a strategy for reading a file, from the facts about it, which the source finds
//! out.

use crate::ReadError;
use crate::source::Source;
use std::fs::File;

/// A strategy of reading one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// Through one small buffer, without any other system call.
    Once,
    /// read(2) or pread(2) through the page cache, buffer by buffer.
    Copied,
    /// The cached file mapped.
    Mapped,
    /// Many reads in flight past the page cache; cached parts are read from the cache.
    InFlight,
}

/// How much of a file, or of a part of it, is in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cached {
    All,
    Some,
    None,
}

impl Cached {
    /// By how many of those that were asked were found.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells"))]
    pub(crate) fn from_counts(found: u64, asked: u64) -> Cached {
        match found {
            0 => Cached::None,
            found if found >= asked => Cached::All,
            _ => Cached::Some,
        }
    }
}

/// What keeps the bytes.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backing {
    /// Memory alone.
    Memory,
    /// A file system that can read past the page cache into a program's buffer.
    Device,
    /// Other file systems underneath, to which the pages belong; whether the one that has the file
    /// can read past the page cache.
    Stacked { reads_past: bool },
    /// Anything else: compressed, in user space, on a network, or not known.
    Other,
}

impl Backing {
    /// Whether it can read past the page cache into a program's buffer.
    pub(crate) fn reads_past(self) -> bool {
        matches!(self, Backing::Device | Backing::Stacked { reads_past: true })
    }
}

/// What the choice rests on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) size_bytes: u64,
    pub(crate) backing: Backing,
    pub(crate) cached: Cached,
    /// Whether files may be mapped.
    pub(crate) maps: bool,
    /// Whether the kernel lets us have an io_uring.
    pub(crate) rings: bool,
}

/// Up to this size, one read-ahead of the kernel reads the whole file, and preparing other reads
/// takes longer.
const READ_AHEAD_BYTES: u64 = 8 << 20;

/// Up to this size copying into a buffer that stays in the cache of the processor costs no more
/// than mapping does, and what finding out more would cost is saved: measured at 64 KiB to 8 MiB,
/// with pages of 4 KiB and with large ones.
pub(crate) const ONCE_BYTES: u64 = 1 << 20;

impl Strategy {
    /// How an open file would be read now, where `maps` says whether it may be mapped: for programs
    /// that read by themselves and want to know whether to map.
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
            (Cached::All, _) | (_, Backing::Memory) if facts.maps => Strategy::Mapped,
            (Cached::Some | Cached::None, backing)
                if backing.reads_past() && facts.rings && facts.size_bytes > READ_AHEAD_BYTES =>
            {
                Strategy::InFlight
            }
            _ => Strategy::Copied,
        }
    }
}
