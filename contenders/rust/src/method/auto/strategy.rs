//! The choice of a strategy for reading a file, from the facts about it. Pure: no file is accessed
//! here.

use std::fmt;

/// A strategy of reading one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
pub(super) enum Cached {
    All,
    Some,
    None,
}

impl Cached {
    /// The share of `some` in `all`.
    pub(super) fn of(found: u64, asked: u64) -> Cached {
        match found {
            0 => Cached::None,
            found if found >= asked => Cached::All,
            _ => Cached::Some,
        }
    }
}

/// What keeps the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backing {
    /// Memory alone.
    Memory,
    /// A file system that can read past the page cache into a program's buffer.
    Device,
    /// Other file systems underneath, to which the pages belong.
    Stacked,
    /// Anything else: compressed, in user space, on a network, or not known.
    Other,
}

/// What the choice rests on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    pub(super) size_bytes: u64,
    pub(super) backing: Backing,
    pub(super) cached: Cached,
    /// Whether files may be mapped.
    pub(super) maps: bool,
    /// Whether the kernel lets us have an io_uring.
    pub(super) rings: bool,
}

/// Up to this size, one read-ahead of the kernel reads the whole file, and preparing other reads
/// takes longer.
const READ_AHEAD_BYTES: u64 = 8 << 20;

/// Up to this size copying into a buffer that stays in the cache of the processor costs no more
/// than mapping does, and what finding out more would cost is saved: measured at 64 KiB to 8 MiB,
/// with pages of 4 KiB and with large ones.
pub(super) const ONCE_BYTES: u64 = 1 << 20;

impl Strategy {
    pub(super) fn choose(facts: &Facts) -> Strategy {
        if facts.size_bytes <= ONCE_BYTES {
            return Strategy::Once;
        }
        match (facts.cached, facts.backing) {
            (Cached::All, _) | (_, Backing::Memory) if facts.maps => Strategy::Mapped,
            (Cached::Some | Cached::None, Backing::Device)
                if facts.rings && facts.size_bytes > READ_AHEAD_BYTES =>
            {
                Strategy::InFlight
            }
            _ => Strategy::Copied,
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Strategy::Once => "through one small buffer",
            Strategy::Copied => "copied from the page cache",
            Strategy::Mapped => "mapped",
            Strategy::InFlight => "many reads in flight past the page cache",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts = Facts {
        size_bytes: 1 << 30,
        backing: Backing::Device,
        cached: Cached::None,
        maps: true,
        rings: true,
    };

    #[test]
    fn the_way_follows_from_what_is_known() {
        let strategy = |facts: Facts| Strategy::choose(&facts);
        assert_eq!(strategy(Facts { size_bytes: 1 << 20, ..FACTS }), Strategy::Once);
        assert_eq!(strategy(Facts { cached: Cached::All, ..FACTS }), Strategy::Mapped);
        assert_eq!(strategy(Facts { cached: Cached::All, maps: false, ..FACTS }), Strategy::Copied);
        assert_eq!(
            strategy(Facts { cached: Cached::All, maps: false, rings: false, ..FACTS }),
            Strategy::Copied
        );
        assert_eq!(strategy(FACTS), Strategy::InFlight);
        assert_eq!(strategy(Facts { cached: Cached::Some, ..FACTS }), Strategy::InFlight);
        assert_eq!(strategy(Facts { rings: false, ..FACTS }), Strategy::Copied);
        assert_eq!(strategy(Facts { size_bytes: 2_000_000, ..FACTS }), Strategy::Copied);
        assert_eq!(strategy(Facts { size_bytes: 2_000_000, cached: Cached::All, ..FACTS }), Strategy::Mapped);
        assert_eq!(strategy(Facts { backing: Backing::Other, ..FACTS }), Strategy::Copied);
        assert_eq!(strategy(Facts { backing: Backing::Memory, ..FACTS }), Strategy::Mapped);
        assert_eq!(strategy(Facts { backing: Backing::Memory, maps: false, ..FACTS }), Strategy::Copied);
    }
}
