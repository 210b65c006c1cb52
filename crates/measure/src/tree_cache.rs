//! The page cache of many files: each file is made cold or warm, and proven, in the same way as a
//! single file. No file stays open, and only sums are kept.
//!
//! Names (dentries) and inodes have a state of their own. Checking a file loads its name and inode,
//! so names and inodes are warm before each reading unless the user requests them cold. For cold
//! names, the kernel drops the names and inodes after the pages, which only root may request, and
//! lookups that search only memory prove that no name is left.

use super::cache::{CacheError, EvictionScope, FillResult, PageCache, TargetCache, call_failed};
use super::names_cache;
use super::residency::{CountedDevice, ResidencyMeans, ResidencyProof, ResidencyProver};
use super::target::TargetState;
use readlab_model::target::identity::Identity;
use readlab_model::units::Nanos;
use readlab_system::machine::memory::MachineMemory;
use readlab_system::visit::{processor_count, visit};
use readlab_targets::target::tree::{ChangedFile, Tree};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Number of threads that fill. A device reads small files faster with many requests in flight.
const FILLING_THREADS: usize = 16;

/// Largest number of times that files are filled again because they lost pages during the fill.
const REFILLS_MAX: usize = 3;

const EMPTY_PROOF: ResidencyProof = ResidencyProof {
    means: ResidencyMeans::Count,
    file_pages: 0,
    checked_pages: 0,
    resident_pages: 0,
    dirty_pages: None,
};

struct FileState {
    proof: ResidencyProof,
    changed_file: Option<ChangedFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FillScope {
    /// All files; they are evicted first.
    All,
    /// Only files that are not fully resident; they are evicted first.
    NotResident,
}

#[derive(Debug)]
pub struct TreeCache {
    pub(super) tree: Arc<Tree>,
    /// Bytes of all files together in the warm state.
    cached_bytes: u64,
    /// Files below the files of the tree. If their pages are resident, a reading without any page of
    /// the measured files still gets its bytes from memory.
    files_below: Vec<PathBuf>,
    /// Determines whether names and inodes are made cold, too.
    eviction: EvictionScope,
    /// The device of the first file, if cachestat(2) works there; it is usually the device of all
    /// files.
    counted_device: Option<CountedDevice>,
}

impl TreeCache {
    /// The cache of the files of a tree; an error if the state of the first file cannot be
    /// observed.
    pub fn for_tree(
        tree: &Arc<Tree>,
        cached_bytes: u64,
        below: &[PathBuf],
        eviction: EvictionScope,
    ) -> Result<TreeCache, CacheError> {
        let (tree, files_below) = (Arc::clone(tree), below.to_vec());
        let mut cache = TreeCache { tree, cached_bytes, files_below, eviction, counted_device: None };
        if let Some(first) = cache.tree.paths()?.next() {
            let path = first?;
            cache.counted_device =
                ResidencyProver::open(&path)?.counted_device().map_err(call_failed(&path, "fstat"))?;
        }
        Ok(cache)
    }

    /// The resident pages; an error if those of some file say nothing.
    pub(super) fn proof_if_provable(&self) -> Result<ResidencyProof, CacheError> {
        self.combine_file_proofs(processor_count(), |path| self.open(path)?.proof_if_provable())
    }

    fn open(&self, path: &Path) -> Result<PageCache, CacheError> {
        Ok(PageCache::new(
            ResidencyProver::open_for_one_check(path, self.counted_device)?,
            EvictionScope::OfFile,
        ))
    }

    /// The resident pages and the first changed file or folder; visits each file once.
    pub(super) fn observe(&self) -> TargetState {
        match self.observe_files() {
            Ok(FileState { proof, changed_file }) => {
                let of_file = changed_file.map(|changed_file| changed_file.why);
                TargetState {
                    residency: Ok(proof),
                    change: of_file.or_else(|| self.tree.change_of_folders()),
                }
            }
            // A file that cannot be opened may have been removed.
            Err(error) => TargetState { residency: Err(error.to_string()), change: self.tree.change() },
        }
    }

    fn observe_files(&self) -> Result<FileState, CacheError> {
        let each = |number: usize, path: &Path| {
            let residency = ResidencyProver::open_for_one_check(path, self.counted_device)?;
            let status = residency.status().map_err(call_failed(path, "fstat"))?;
            let changed_file = self.tree.change_of_file(number, path, &Identity::from(status));
            Ok::<_, CacheError>(FileState { proof: residency.prove()?, changed_file })
        };
        let found = visit(self.tree.paths()?, processor_count(), each, FileState::combined_with)?;
        Ok(found.unwrap_or(FileState { proof: EMPTY_PROOF, changed_file: None }))
    }

    /// Calls `each` for every file, and returns the sum of the proofs.
    fn combine_file_proofs(
        &self,
        threads: usize,
        each: impl Fn(&Path) -> Result<ResidencyProof, CacheError> + Sync,
    ) -> Result<ResidencyProof, CacheError> {
        let found =
            visit(self.tree.paths()?, threads, |_, path| each(path), |all, one| all.combined_with(&one))?;
        Ok(found.unwrap_or(EMPTY_PROOF))
    }

    /// Evicts each file by `evict`, then the files below.
    fn evict_each(
        &self,
        evict: impl Fn(&PageCache) -> Result<ResidencyProof, CacheError> + Sync,
    ) -> Result<ResidencyProof, CacheError> {
        let proof = self.combine_file_proofs(processor_count(), |path| evict(&self.open(path)?))?;
        PageCache::evict_each_file_below(&self.files_below, proof.file_pages)?;
        Ok(proof)
    }

    /// Fills each file that `which` selects, then fills again the files that lost pages during the
    /// fill: some kernels evict pages at any time.
    fn fill_each(&self, which: FillScope) -> Result<FillResult, CacheError> {
        let memory = MachineMemory::read();
        if self.cached_bytes > memory.ceiling_bytes() {
            let (path, size_bytes) = (self.tree.folder_or_list_path(), self.cached_bytes);
            return Err(CacheError::TooLarge { path, size_bytes, memory });
        }
        let begun = Instant::now();
        self.fill_once(which, &memory)?;
        let wall_ns = Nanos::from(begun.elapsed()).0;
        let mut proof = self.residency()?;
        for _ in 0..REFILLS_MAX {
            if proof.is_warm() || self.cached_bytes > memory.cacheable_now_bytes() {
                break;
            }
            self.fill_once(FillScope::NotResident, &memory)?;
            proof = self.residency()?;
        }
        if proof.is_warm() {
            return Ok(FillResult { wall_ns, proof });
        }
        let (path, size_bytes) = (self.tree.folder_or_list_path(), self.cached_bytes);
        Err(CacheError::NotFilled { path, size_bytes, proof, memory })
    }

    fn fill_once(&self, which: FillScope, memory: &MachineMemory) -> Result<(), CacheError> {
        let fill = |path: &Path| {
            let cache = self.open(path)?;
            if which == FillScope::NotResident {
                let found = cache.residency()?;
                if found.is_warm() {
                    return Ok(found);
                }
                // Pages that another program keeps in memory stay, and the rest is filled around
                // them.
                match cache.evict() {
                    Ok(_) | Err(CacheError::RamBacked { .. } | CacheError::PagesRemain { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(cache.fill_evicted_if_it_fits(memory)?.proof)
        };
        self.combine_file_proofs(FILLING_THREADS, fill).map(drop)
    }
}

impl FileState {
    fn combined_with(self, other: FileState) -> FileState {
        let changed_file = ChangedFile::first(self.changed_file, other.changed_file);
        FileState { proof: self.proof.combined_with(&other.proof), changed_file }
    }
}

impl TargetCache for TreeCache {
    fn residency(&self) -> Result<ResidencyProof, CacheError> {
        self.combine_file_proofs(processor_count(), |path| self.open(path)?.residency())
    }

    fn evict(&self) -> Result<ResidencyProof, CacheError> {
        let proof = self.evict_each(|cache| cache.evict())?;
        if self.eviction == EvictionScope::OfSystem {
            names_cache::drop_names(&self.tree)?;
        }
        Ok(proof)
    }

    fn evict_to_fill(&self) -> Result<ResidencyProof, CacheError> {
        self.evict_each(|cache| match cache.evict() {
            // An overlay may show files in memory beside files that are evicted.
            Err(CacheError::RamBacked { .. }) => cache.residency(),
            evicted => evicted,
        })
    }

    fn fill_evicted(&self) -> Result<FillResult, CacheError> {
        self.fill_each(FillScope::All)
    }

    fn refill(&self) -> Result<FillResult, CacheError> {
        self.fill_each(FillScope::NotResident)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{disk_folder, tree_target};
    use std::fs;

    /// Three files of 50,000 bytes and an empty one.
    fn make_folder_of_files() -> tempfile::TempDir {
        let folder = disk_folder();
        for name in ["a", "b", "c", "empty"] {
            let content = if name == "empty" { String::new() } else { name.repeat(50_000) };
            fs::write(folder.path().join(name), content).unwrap();
        }
        folder
    }

    fn cache_of(folder: &Path) -> TreeCache {
        let target = tree_target(folder);
        let cached_bytes = target.facts.cached_bytes();
        TreeCache::for_tree(target.tree().unwrap(), cached_bytes, &[], EvictionScope::OfFile).unwrap()
    }

    #[test]
    fn one_observation_shows_resident_pages_and_the_changed_file() {
        let folder = make_folder_of_files();
        let cache = cache_of(folder.path());
        cache.refill().unwrap();
        cache.open(&folder.path().join("b")).unwrap().evict().unwrap();
        let seen = cache.observe();
        let proof = seen.residency.unwrap();
        assert_eq!((proof.resident_pages, proof.checked_pages, seen.change), (26, 39, None));
        fs::write(folder.path().join("c"), "c".repeat(50_000)).unwrap();
        fs::write(folder.path().join("b"), "b").unwrap();
        let change = cache.observe().change.unwrap();
        assert!(change.contains("/b is not what it was"), "the first by name: {change}");
        let cache = cache_of(folder.path());
        fs::write(folder.path().join("new"), "").unwrap();
        let change = cache.observe().change.unwrap();
        assert!(change.contains("files were added, removed or renamed"), "{change}");
        fs::remove_file(folder.path().join("a")).unwrap();
        let TargetState { residency: resident, change } = cache.observe();
        assert!(resident.unwrap_err().contains("/a: open: No such file"));
        assert!(change.as_ref().is_some_and(|change| change.contains("/a: No such file")), "{change:?}");
    }

    #[test]
    fn files_in_memory_are_never_cold_and_filled_without_an_eviction() {
        let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
            return eprintln!("SKIPPED: no folder /dev/shm to write to");
        };
        fs::write(folder.path().join("a"), "a".repeat(50_000)).unwrap();
        let cache = cache_of(folder.path());
        let error = cache.evict().unwrap_err();
        assert!(matches!(error, CacheError::RamBacked { .. }), "{error}");
        assert!(cache.evict_to_fill().unwrap().is_warm(), "nothing is evicted");
        assert!(cache.fill_evicted().unwrap().proof.is_warm());
    }

    #[test]
    fn only_files_that_lost_pages_are_filled_again() {
        let folder = make_folder_of_files();
        let cache = cache_of(folder.path());
        assert!(cache.refill().unwrap().proof.is_warm());
        PageCache::open(&folder.path().join("b"), EvictionScope::OfFile).unwrap().evict().unwrap();
        let lost = cache.residency().unwrap();
        assert_eq!((lost.checked_pages - lost.resident_pages, lost.checked_pages), (13, 39));
        let filled = cache.refill().unwrap().proof;
        assert_eq!((filled.is_warm(), filled.checked_pages), (true, 39), "all are proven");
        assert!(cache.residency().unwrap().is_warm());
    }

    #[test]
    fn files_that_are_larger_than_memory_together_are_not_read() {
        let folder = disk_folder();
        let hole_bytes = MachineMemory::read().ceiling_bytes() / 4 * 3;
        for name in ["a", "b"] {
            fs::File::create(folder.path().join(name)).unwrap().set_len(hole_bytes).unwrap();
        }
        let error = cache_of(folder.path()).fill_evicted().unwrap_err();
        let is_too_large =
            matches!(error, CacheError::TooLarge { size_bytes, .. } if size_bytes == 2 * hole_bytes);
        assert!(is_too_large, "{error}");
    }
}
