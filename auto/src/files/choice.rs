//! How many files are read: chosen by a few of them, which are looked at before.

use super::FilePaths;
#[cfg(target_os = "linux")]
use crate::linux::{is_name_cached, rings_of_files};
#[cfg(not(target_os = "linux"))]
use crate::portable::{is_name_cached, rings_of_files};
use crate::source::{Extent, Source};
use crate::strategy::Cached;
use std::fs::File;
use std::num::NonZero;
use std::path::Path;
use std::thread;

/// Files that are looked at, evenly spread.
const LOOKED_AT: usize = 16;

/// Threads where files come from a device, and no ring reads them.
const WAITING_THREADS: usize = 64;

/// Larger cached files are copied no faster through a ring, which reads them in several pieces.
const SMALL_CACHED_BYTES: u64 = 16 << 10;

/// Larger files keep a device busy by what the kernel reads ahead, if enough threads read them.
const SMALL_COLD_BYTES: u64 = 1 << 20;

/// So many cached files pay for making a ring.
const MANY: usize = 4096;

/// How files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By so many threads, each of which reads one file at a time.
    Threads(usize),
    /// By so many threads, each of which has a ring with many files in flight.
    Rings(usize),
}

/// What a file tells before it is read. One that is empty, or cannot be read, counts as cached.
#[derive(Debug, Clone, Copy)]
struct FileGlance {
    size_bytes: u64,
    /// Whether it could be opened without waiting.
    name_cached: bool,
    /// Whether its first byte can be read without waiting.
    cached: bool,
}

impl Way {
    /// The best one for these files.
    pub(super) fn choose(paths: &(impl FilePaths + ?Sized)) -> Way {
        let count = paths.count();
        let looked_at = (0..count).step_by(count.div_ceil(LOOKED_AT).max(1));
        let looks: Vec<FileGlance> = looked_at.map(|index| FileGlance::at(paths.path(index))).collect();
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = Way::Threads(Way::threads_for(&looks, processors));
        if Way::suits_rings(&looks, count) && rings_of_files() { Way::Rings(processors) } else { threads }
    }

    /// The threads that take part.
    pub(super) fn threads(self) -> usize {
        match self {
            Way::Threads(threads) | Way::Rings(threads) => threads,
        }
    }

    fn threads_for(looks: &[FileGlance], processors: usize) -> usize {
        if are_cached(looks) { processors } else { processors.max(WAITING_THREADS) }
    }

    /// Whether nearly all files are so small that a ring reads them best. Opening a file whose name
    /// is not cached is handed to a few threads of the kernel, which is slower than threads of our
    /// own.
    fn suits_rings(looks: &[FileGlance], count: usize) -> bool {
        let cached = are_cached(looks);
        let small_bytes = if cached { SMALL_CACHED_BYTES } else { SMALL_COLD_BYTES };
        let large = looks.iter().filter(|look| look.size_bytes > small_bytes).count();
        let named = looks.iter().filter(|look| look.name_cached).count();
        large * 8 <= looks.len() && named * 2 > looks.len() && (count >= MANY || !cached)
    }
}

/// Whether at least half of them can be read without waiting.
fn are_cached(looks: &[FileGlance]) -> bool {
    looks.iter().filter(|look| look.cached).count() * 2 >= looks.len()
}

impl FileGlance {
    fn at(path: &Path) -> FileGlance {
        let name_cached = is_name_cached(path);
        let unread = FileGlance { size_bytes: 0, name_cached, cached: true };
        let Ok(file) = File::open(path) else { return unread };
        let Ok(source) = Source::new(&file, true, None) else { return unread };
        match &source.extent {
            Extent::Known { size_bytes, .. } => {
                let cached = source.cached_of(0..1) != Cached::None;
                FileGlance { size_bytes: size_bytes.get(), name_cached, cached }
            }
            Extent::Unknown { .. } => unread,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLD: FileGlance = FileGlance { size_bytes: 4096, name_cached: true, cached: false };
    const CACHED: FileGlance = FileGlance { cached: true, ..COLD };

    #[test]
    fn as_many_threads_as_processors_read_what_is_cached_and_more_wait_for_a_device() {
        for (looks, threads) in [
            (&[CACHED, CACHED][..], 2),
            (&[CACHED, COLD], 2),
            (&[CACHED, COLD, COLD], WAITING_THREADS),
            (&[], 2),
        ] {
            assert_eq!(Way::threads_for(looks, 2), threads, "{looks:?}");
        }
        assert_eq!(Way::threads_for(&[COLD], 96), 96);
    }

    #[test]
    fn a_ring_reads_what_is_cold_and_not_large_and_what_is_cached_if_it_is_small_and_much() {
        let sized = |look: FileGlance, size_bytes| FileGlance { size_bytes, ..look };
        let unnamed = FileGlance { name_cached: false, ..COLD };
        for (looks, count, suits) in [
            (&[COLD][..], 1, true),
            (&[sized(COLD, SMALL_COLD_BYTES)], 1, true),
            (&[sized(COLD, SMALL_COLD_BYTES + 1)], 1, false),
            (&[unnamed], 1, false),
            (&[unnamed, COLD], 2, false),
            (&[CACHED], MANY - 1, false),
            (&[CACHED], MANY, true),
            (&[sized(CACHED, SMALL_CACHED_BYTES + 1)], MANY, false),
            (&[], 0, false),
        ] {
            assert_eq!(Way::suits_rings(looks, count), suits, "{looks:?} of {count}");
        }
        let one_large = |small| [vec![COLD; small], vec![sized(COLD, 1 << 30)]].concat();
        assert!(Way::suits_rings(&one_large(7), 8));
        assert!(!Way::suits_rings(&one_large(6), 7));
    }

    #[test]
    fn a_file_is_looked_at_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [7; 5000]).unwrap();
        let look = FileGlance::at(&path);
        assert!(look.size_bytes == 5000 && look.cached, "{look:?}");
        let absent = FileGlance::at(&folder.path().join("absent"));
        assert!(absent.size_bytes == 0 && absent.cached, "{absent:?}");
    }
}
