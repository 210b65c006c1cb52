//! Chooses by a sample of the files how many files are read.

use super::FilePaths;
#[cfg(target_os = "linux")]
use crate::linux::{is_name_cached, rings_of_files};
#[cfg(not(target_os = "linux"))]
use crate::portable::{is_name_cached, rings_of_files};
use crate::source::{Extent, Source};
use crate::strategy::CachedShare;
use std::fs::File;
use std::num::NonZero;
use std::path::Path;
use std::thread;

/// Number of files in the sample. They are evenly spaced in the list.
const SAMPLED_FILES: usize = 16;

/// Number of threads if a device must read the files and no ring reads them.
const COLD_THREADS: usize = 64;

/// A cached file up to this size is copied faster through a ring. A larger one is not, because a
/// ring reads it in several pieces.
const SMALL_CACHED_BYTES: u64 = 16 << 10;

/// A file larger than this keeps a device busy by the kernel's read-ahead alone, if enough threads
/// read files.
const SMALL_COLD_BYTES: u64 = 1 << 20;

/// With this number of cached files, a ring saves more time than its setup takes.
const RING_FILES_MIN: usize = 4096;

/// Whether threads or rings read the files, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadPlan {
    /// This number of threads, each of which reads one file at a time.
    Threads(usize),
    /// This number of threads, each of which has a ring with many files in flight.
    Rings(usize),
}

/// The facts about a file that can be found before it is read. An empty or unreadable file counts
/// as cached.
#[derive(Debug, Clone, Copy)]
struct SampledFile {
    size_bytes: u64,
    /// Whether it could be opened without waiting.
    name_cached: bool,
    /// Whether its first byte can be read without waiting.
    cached: bool,
}

impl ReadPlan {
    /// The best choice for these files.
    pub(super) fn choose(paths: &(impl FilePaths + ?Sized)) -> ReadPlan {
        let count = paths.count();
        let looked_at = (0..count).step_by(count.div_ceil(SAMPLED_FILES).max(1));
        let sample: Vec<SampledFile> = looked_at.map(|index| SampledFile::at(paths.path(index))).collect();
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = ReadPlan::Threads(ReadPlan::threads_for(&sample, processors));
        if ReadPlan::suits_rings(&sample, count) && rings_of_files() {
            ReadPlan::Rings(processors)
        } else {
            threads
        }
    }

    /// The number of threads that read.
    pub(super) fn threads(self) -> usize {
        match self {
            ReadPlan::Threads(threads) | ReadPlan::Rings(threads) => threads,
        }
    }

    fn threads_for(sample: &[SampledFile], processors: usize) -> usize {
        if are_cached(sample) { processors } else { processors.max(COLD_THREADS) }
    }

    /// Whether nearly all files are so small that a ring reads them best. An open of a file whose
    /// name is not cached is handed to a few threads of the kernel, which is slower than using our
    /// own threads.
    fn suits_rings(sample: &[SampledFile], count: usize) -> bool {
        let cached = are_cached(sample);
        let small_bytes = if cached { SMALL_CACHED_BYTES } else { SMALL_COLD_BYTES };
        let large = sample.iter().filter(|file| file.size_bytes > small_bytes).count();
        let named = sample.iter().filter(|file| file.name_cached).count();
        large * 8 <= sample.len() && named * 2 > sample.len() && (count >= RING_FILES_MIN || !cached)
    }
}

/// Whether at least half of the sampled files can be read without waiting.
fn are_cached(sample: &[SampledFile]) -> bool {
    sample.iter().filter(|file| file.cached).count() * 2 >= sample.len()
}

impl SampledFile {
    fn at(path: &Path) -> SampledFile {
        let name_cached = is_name_cached(path);
        let unread = SampledFile { size_bytes: 0, name_cached, cached: true };
        let Ok(file) = File::open(path) else { return unread };
        let Ok(source) = Source::new(&file, true, None) else { return unread };
        match &source.extent {
            Extent::Known { size_bytes, .. } => {
                let cached = source.cached_of(0..1) != CachedShare::None;
                SampledFile { size_bytes: size_bytes.get(), name_cached, cached }
            }
            Extent::Unknown { .. } => unread,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLD: SampledFile = SampledFile { size_bytes: 4096, name_cached: true, cached: false };
    const CACHED: SampledFile = SampledFile { cached: true, ..COLD };

    #[test]
    fn cached_files_get_a_thread_a_processor_and_cold_files_more() {
        for (sample, threads) in [
            (&[CACHED, CACHED][..], 2),
            (&[CACHED, COLD], 2),
            (&[CACHED, COLD, COLD], COLD_THREADS),
            (&[], 2),
        ] {
            assert_eq!(ReadPlan::threads_for(sample, 2), threads, "{sample:?}");
        }
        assert_eq!(ReadPlan::threads_for(&[COLD], 96), 96);
    }

    #[test]
    fn a_ring_reads_small_cold_files_and_many_tiny_cached_ones() {
        let sized = |file: SampledFile, size_bytes| SampledFile { size_bytes, ..file };
        let unnamed = SampledFile { name_cached: false, ..COLD };
        for (sample, count, suits) in [
            (&[COLD][..], 1, true),
            (&[sized(COLD, SMALL_COLD_BYTES)], 1, true),
            (&[sized(COLD, SMALL_COLD_BYTES + 1)], 1, false),
            (&[unnamed], 1, false),
            (&[unnamed, COLD], 2, false),
            (&[CACHED], RING_FILES_MIN - 1, false),
            (&[CACHED], RING_FILES_MIN, true),
            (&[sized(CACHED, SMALL_CACHED_BYTES + 1)], RING_FILES_MIN, false),
            (&[], 0, false),
        ] {
            assert_eq!(ReadPlan::suits_rings(sample, count), suits, "{sample:?} of {count}");
        }
        let one_large = |small| [vec![COLD; small], vec![sized(COLD, 1 << 30)]].concat();
        assert!(ReadPlan::suits_rings(&one_large(7), 8));
        assert!(!ReadPlan::suits_rings(&one_large(6), 7));
    }

    #[test]
    fn a_sampled_file_has_its_real_size_and_cache_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [7; 5000]).unwrap();
        let file = SampledFile::at(&path);
        assert!(file.size_bytes == 5000 && file.cached, "{file:?}");
        let absent = SampledFile::at(&folder.path().join("absent"));
        assert!(absent.size_bytes == 0 && absent.cached, "{absent:?}");
    }
}
