//! An open file, with the facts on which the choice of a strategy depends.

#[cfg(target_os = "linux")]
use crate::linux::{SystemFacts, rings};
#[cfg(not(target_os = "linux"))]
use crate::portable::{SystemFacts, rings};
use crate::strategy::{Backing, Cached, Facts, ONCE_BYTES, Strategy};
use std::fs::File;
use std::io;
use std::ops::Range;

/// The end of a file whose size is not known: behind every offset.
const END_UNKNOWN: u64 = u64::MAX;

/// A file, what of it is read, and what is known of it. All facts but the size are found out on
/// first use.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a File,
    /// What is read of it. Its end is [`END_UNKNOWN`] for a file without a true size, such as a
    /// pipe, whose end is found by reading.
    pub(crate) range: Range<u64>,
    /// Whether its bytes can be read at any offset.
    pub(crate) seeks: bool,
    facts: SystemFacts,
    size_bytes: u64,
}

impl<'a> Source<'a> {
    /// A file, of which this range is read if there is one, as far as the file goes. The position
    /// of a file that is `is_own` may change.
    pub(crate) fn of(file: &'a File, is_own: bool, range: Option<Range<u64>>) -> io::Result<Source<'a>> {
        let (size_bytes, seeks) = extent(file, is_own)?;
        // A file of the kernel has a size of 0 whatever it holds.
        let end = if size_bytes > 0 { size_bytes } else { END_UNKNOWN };
        let range = match range {
            None => 0..end,
            Some(_) if !seeks => return Err(not_seekable()),
            Some(range) => range.start.min(end)..range.end.clamp(range.start.min(end), end),
        };
        Ok(Source { file, range, seeks, facts: SystemFacts::default(), size_bytes })
    }

    /// Whether where it ends is known before it is read.
    pub(crate) fn has_size(&self) -> bool {
        self.size_bytes > 0
    }

    pub(crate) fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// The best strategy for the current state; makes only the system calls that the choice needs.
    pub(crate) fn strategy(&self, maps: bool) -> Strategy {
        if !self.has_size() {
            return Strategy::Once;
        }
        let small = self.len() <= ONCE_BYTES;
        let cached = if small { Cached::Some } else { self.cached() };
        let backing = if small || cached == Cached::All { Backing::Other } else { self.backing() };
        let rings = backing.reads_past() && rings();
        let maps = maps && cfg!(unix);
        Strategy::choose(&Facts { size_bytes: self.len(), backing, cached, maps, rings })
    }

    pub(crate) fn backing(&self) -> Backing {
        self.facts.backing(self.file)
    }

    /// How much of the file is in the page cache.
    pub(crate) fn cached(&self) -> Cached {
        self.facts.cached(self.file, self.size_bytes)
    }

    /// How much of a range is in the page cache now.
    pub(crate) fn cached_of(&self, range: Range<u64>) -> Cached {
        self.facts.cached_of(self.file, range)
    }
}

fn not_seekable() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "a range of what cannot be read at any offset")
}

/// The size of a file, and whether its bytes can be read at any offset. Pipes and the like have no
/// size: 0.
#[cfg(unix)]
fn extent(file: &File, is_own: bool) -> io::Result<(u64, bool)> {
    use rustix::fs::{FileType, SeekFrom, seek};
    // Faster than fstat(2), which matters for files of a few kilobytes. What is no file and can
    // seek all the same, such as a folder, fails when it is read.
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

/// The size of a block device, whose size in fstat(2) is 0: the position of its end, seen by a file
/// description of its own where there is one.
#[cfg(unix)]
fn block_device_bytes(mut file: &File) -> io::Result<u64> {
    use std::io::{Seek, SeekFrom};
    let before = file.stream_position()?;
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(before))?;
    Ok(end)
}

#[cfg(not(unix))]
fn extent(file: &File, _is_own: bool) -> io::Result<(u64, bool)> {
    let meta = file.metadata()?;
    Ok(if meta.is_file() { (meta.len(), true) } else { (0, false) })
}
