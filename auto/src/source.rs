//! An open file, with the facts on which the choice of a strategy depends.

#[cfg(target_os = "linux")]
use crate::linux::{SystemFacts, rings};
#[cfg(not(target_os = "linux"))]
use crate::portable::{SystemFacts, rings};
use crate::strategy::{Backing, CachedShare, Facts, ONCE_BYTES, Strategy};
use std::fs::File;
use std::io;
use std::num::NonZero;
use std::ops::Range;

/// A file, the range of it that is read, and known facts about it. All facts but the size are
/// determined on first use.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a File,
    pub(crate) extent: Extent,
    /// Whether its bytes can be read at any offset.
    pub(crate) seeks: bool,
    facts: SystemFacts,
}

/// The end of the longest possible file, because the system's offsets are signed.
const END_MAX: u64 = i64::MAX.cast_unsigned();

/// The range of a file that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Extent {
    /// This range, perhaps empty, of a file of this size.
    Known { range: Range<u64>, size_bytes: NonZero<u64> },
    /// From an offset to the end, which is found by reading, or to a limit before the end. Used for
    /// a pipe, and for a file of the kernel, whose size is 0 whatever it holds.
    Unknown { start: u64, limit: u64 },
}

impl Extent {
    /// The extent of this range, or of the whole file, for a file of this size, if the size is
    /// known.
    pub(crate) fn new(size_bytes: Option<NonZero<u64>>, range: Option<Range<u64>>) -> Extent {
        let Some(size_bytes) = size_bytes else {
            let Range { start, end } = range.unwrap_or(0..END_MAX);
            return Extent::Unknown { start, limit: end.min(END_MAX) };
        };
        let range = range.unwrap_or(0..size_bytes.get());
        let start = range.start.min(size_bytes.get());
        let end = range.end.clamp(start, size_bytes.get());
        Extent::Known { range: start..end, size_bytes }
    }

    pub(crate) fn start(&self) -> u64 {
        match self {
            Extent::Known { range, .. } => range.start,
            Extent::Unknown { start, .. } => *start,
        }
    }

    /// The range, if its end is known before the reading.
    pub(crate) fn known(&self) -> Option<&Range<u64>> {
        match self {
            Extent::Known { range, .. } => Some(range),
            Extent::Unknown { .. } => None,
        }
    }

    /// How many bytes of the extent, at most `most`, follow an offset.
    pub(crate) fn room_at(&self, at: u64, most: usize) -> usize {
        let end = match self {
            Extent::Known { range, .. } => range.end,
            Extent::Unknown { limit, .. } => *limit,
        };
        usize::try_from(end.saturating_sub(at)).unwrap_or(most).min(most)
    }
}

impl<'a> Source<'a> {
    /// A file that is read whole, or in this range as far as the file goes. The position of a file
    /// that is `is_own` may change.
    pub(crate) fn new(file: &'a File, is_own: bool, range: Option<Range<u64>>) -> io::Result<Source<'a>> {
        let (size_bytes, seeks) = size(file, is_own)?;
        if range.is_some() && !seeks {
            let why = "a range of what cannot be read at any offset";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let extent = Extent::new(NonZero::new(size_bytes), range);
        Ok(Source { file, extent, seeks, facts: SystemFacts::default() })
    }

    /// The best strategy for the current state; makes only the system calls that the choice needs.
    pub(crate) fn strategy(&self, maps: bool) -> Strategy {
        let Some(range) = self.extent.known().filter(|range| range.end - range.start > ONCE_BYTES) else {
            return Strategy::Once;
        };
        let cached = self.cached();
        let backing = if cached == CachedShare::All { Backing::Other } else { self.backing() };
        let rings = backing.reads_past() && rings();
        let maps = maps && cfg!(unix);
        Strategy::choose(&Facts { size_bytes: range.end - range.start, backing, cached, maps, rings })
    }

    pub(crate) fn backing(&self) -> Backing {
        self.facts.backing(self.file)
    }

    /// How much of the range that is read is in the page cache. A file of unknown size counts as
    /// cached, because no device stores it.
    pub(crate) fn cached(&self) -> CachedShare {
        match &self.extent {
            Extent::Known { range, .. } => self.facts.cached(self.file, range.clone()),
            Extent::Unknown { .. } => CachedShare::All,
        }
    }

    /// How much of a range is in the page cache now.
    pub(crate) fn cached_of(&self, range: Range<u64>) -> CachedShare {
        self.facts.cached_of(self.file, range)
    }
}

/// The size of a file, and whether its bytes can be read at any offset. For pipes and the like the
/// size is 0.
#[cfg(unix)]
fn size(file: &File, is_own: bool) -> io::Result<(u64, bool)> {
    use rustix::fs::{FileType, SeekFrom, seek};
    // Faster than fstat(2), which matters for files of a few kilobytes. Something that can seek and
    // is no file, such as a folder, fails when it is read.
    if is_own && let Ok(end @ 1..=ONCE_BYTES) = seek(file, SeekFrom::End(0)) {
        return Ok((end, true));
    }
    let stat = rustix::fs::fstat(file)?;
    #[allow(clippy::useless_conversion, clippy::unnecessary_cast, reason = "the types differ among systems")]
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => (u64::try_from(stat.st_size).unwrap_or(0), true),
        FileType::Directory => return Err(io::ErrorKind::IsADirectory.into()),
        FileType::BlockDevice => (block_device_bytes(file)?, true),
        _ => (0, false),
    })
}

/// The size of a block device, which fstat(2) reports as 0. It is the position of the end, which is
/// determined in a separate file description if one can be opened.
#[cfg(unix)]
fn block_device_bytes(mut file: &File) -> io::Result<u64> {
    use std::io::{Seek, SeekFrom};
    let before = file.stream_position()?;
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(before))?;
    Ok(end)
}

#[cfg(not(unix))]
fn size(file: &File, _is_own: bool) -> io::Result<(u64, bool)> {
    let meta = file.metadata()?;
    Ok(if meta.is_file() { (meta.len(), true) } else { (0, false) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn offset() -> impl proptest::strategy::Strategy<Value = u64> {
        prop_oneof![0_u64..20, (u64::MAX - 20)..=u64::MAX, any::<u64>()]
    }

    proptest! {
        #[test]
        fn an_extent_is_the_range_within_the_file(size in offset(), start in offset(), end in offset()) {
            let extent = Extent::new(NonZero::new(size), Some(start..end));
            for at in [start, end, size, start.saturating_add(1), end.saturating_sub(1), size.saturating_sub(1)] {
                let before_end = if size == 0 { end.min(END_MAX) } else { end.min(size) };
                let room = usize::try_from(before_end.saturating_sub(at)).unwrap().min(7);
                // If nothing is left, the extent begins at or behind its end.
                if at >= extent.start() {
                    prop_assert_eq!(extent.room_at(at, 7), room, "{:?} at {}", extent, at);
                }
            }
            match NonZero::new(size) {
                None => prop_assert_eq!(extent.known(), None),
                Some(_) => {
                    let range = extent.known().unwrap();
                    prop_assert!(range.start <= range.end && range.end <= size);
                    prop_assert_eq!(range.is_empty(), start >= end || start >= size);
                    if !range.is_empty() {
                        prop_assert_eq!(range, &(start..end.min(size)));
                    }
                }
            }
        }
    }

    #[test]
    fn a_whole_file_ends_with_its_size_or_where_reading_ends() {
        let known = Extent::new(NonZero::new(5), None);
        assert_eq!((known.known(), known.room_at(3, 9)), (Some(&(0..5)), 2));
        let unknown = Extent::new(None, None);
        assert_eq!((unknown.known(), unknown.start(), unknown.room_at(1 << 62, 9)), (None, 0, 9));
        assert_eq!(unknown.room_at(u64::MAX, 9), 0);
    }
}
