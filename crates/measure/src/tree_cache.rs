//! The page cache of many files: each is made cold or warm, and proven, as a single file is. No
//! file stays open, and only sums are kept.
//!
//! Names (dentries) and inodes are treated separately. Checking a file brings its name and inode
//! into memory, so they are warm before each reading unless they are requested cold. In that case
//! the kernel drops them last; only root may request this. Lookups that only use memory prove that
//! they are gone.

use super::cache::{CacheError, Eviction, FillResult, PageCache, TargetCache, call_failed};
use super::names_cache;
use super::residency::{CountedDevice, Residency, ResidencyMeans, ResidencyProof};
use super::target::TargetState;
use readlab_model::target::identity::Identity;
use readlab_model::units::Nanos;
use readlab_system::machine::memory::Memory;
use readlab_system::visit::{processors, visit};
use readlab_targets::target::tree::{ChangedFile, Tree};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Number of threads that fill; a device reads small files faster with many requests in flight.
const FILLING_THREADS: usize = 16;

/// How often files are filled again that lost pages while others were filled.
const REFILLS_MAX: usize = 3;

const EMPTY_PROOF: ResidencyProof =
    ResidencyProof { means: ResidencyMeans::Count, file_pages: 0, pages: 0, resident: 0, dirty: None };

struct FileState {
    proof: ResidencyProof,
    changed: Option<ChangedFile>,
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
    /// Files below the first file, whose pages would serve a reading that finds none of these
    /// files' pages.
    below: Vec<PathBuf>,
    /// Determines whether names and inodes are made cold, too.
    eviction: Eviction,
    /// The device of the first file, if cachestat(2) works there; it is usually the device of all
    /// files.
    device: Option<CountedDevice>,
}

impl TreeCache {
    /// The cache of these files, if their state can be observed here.
    pub fn for_tree(
        tree: &Arc<Tree>,
        below: &[PathBuf],
        eviction: Eviction,
    ) -> Result<TreeCache, CacheError> {
        let mut cache = TreeCache { tree: Arc::clone(tree), below: below.to_vec(), eviction, device: None };
        if let Some(first) = tree.paths()?.next() {
            let path = first?;
            cache.device = Residency::open(&path)?.counted_device().map_err(call_failed(&path, "fstat"))?;
        }
        Ok(cache)
    }

    fn open(&self, path: &Path) -> Result<PageCache, CacheError> {
        Ok(PageCache::new(Residency::open_for_one_check(path, self.device)?, Eviction::OfFile))
    }

    /// The resident pages and the first changed file or folder; visits each file once.
    pub(super) fn observe(&self) -> TargetState {
        match self.observe_each() {
            Ok(FileState { proof, changed }) => {
                let of_file = changed.map(|changed| changed.why);
                TargetState { resident: Ok(proof), change: of_file.or_else(|| self.tree.change_of_folders()) }
            }
            // A file that cannot be opened may have been removed.
            Err(error) => TargetState { resident: Err(error.to_string()), change: self.tree.change() },
        }
    }

    fn observe_each(&self) -> Result<FileState, CacheError> {
        let each = |number: usize, path: &Path| {
            let residency = Residency::open_for_one_check(path, self.device)?;
            let status = residency.status().map_err(call_failed(path, "fstat"))?;
            let changed = self.tree.change_of(number, path, &Identity::from(status));
            Ok::<_, CacheError>(FileState { proof: residency.prove()?, changed })
        };
        let found = visit(self.tree.paths()?, processors(), each, FileState::combined_with)?;
        Ok(found.unwrap_or(FileState { proof: EMPTY_PROOF, changed: None }))
    }

    /// The residency of all files together, after `each` was called for every file.
    fn combined_residency(
        &self,
        threads: usize,
        each: impl Fn(&Path) -> Result<ResidencyProof, CacheError> + Sync,
    ) -> Result<ResidencyProof, CacheError> {
        let found =
            visit(self.tree.paths()?, threads, |_, path| each(path), |all, one| all.combined_with(&one))?;
        Ok(found.unwrap_or(EMPTY_PROOF))
    }

    /// Fills each file that `which` selects, and again those that lost pages while others were
    /// filled, because some kernels evict pages at any time.
    fn fill_each(&self, which: FillScope) -> Result<FillResult, CacheError> {
        let memory = Memory::read();
        let begun = Instant::now();
        self.fill_once(which, &memory)?;
        let wall_ns = Nanos::from(begun.elapsed()).0;
        let mut proof = self.residency()?;
        for _ in 0..REFILLS_MAX {
            if proof.is_warm() {
                break;
            }
            self.fill_once(FillScope::NotResident, &memory)?;
            proof = self.residency()?;
        }
        if proof.is_warm() {
            return Ok(FillResult { wall_ns, proof });
        }
        let path = self.tree.folder().map_or_else(|| self.tree.list(), Path::to_owned);
        let size_bytes = proof.file_pages * readlab_system::memory::page_bytes();
        Err(CacheError::NotFilled { path, size_bytes, proof, memory })
    }

    fn fill_once(&self, which: FillScope, memory: &Memory) -> Result<(), CacheError> {
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
            Ok(cache.fill_evicted_in(memory)?.proof)
        };
        self.combined_residency(FILLING_THREADS, fill).map(drop)
    }
}

impl FileState {
    fn combined_with(self, other: FileState) -> FileState {
        let changed = ChangedFile::first(self.changed, other.changed);
        FileState { proof: self.proof.combined_with(&other.proof), changed }
    }
}

impl TargetCache for TreeCache {
    fn residency(&self) -> Result<ResidencyProof, CacheError> {
        self.combined_residency(processors(), |path| self.open(path)?.residency())
    }

    fn evict(&self) -> Result<ResidencyProof, CacheError> {
        let proof = self.evict_to_fill()?;
        if self.eviction == Eviction::OfSystem {
            names_cache::drop_names(&self.tree)?;
        }
        Ok(proof)
    }

    fn evict_to_fill(&self) -> Result<ResidencyProof, CacheError> {
        let proof = self.combined_residency(processors(), |path| self.open(path)?.evict())?;
        PageCache::evict_all_below(&self.below, proof.file_pages)?;
        Ok(proof)
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
    fn folder() -> tempfile::TempDir {
        let folder = disk_folder();
        for name in ["a", "b", "c", "empty"] {
            let content = if name == "empty" { String::new() } else { name.repeat(50_000) };
            fs::write(folder.path().join(name), content).unwrap();
        }
        folder
    }

    fn cache_of(folder: &Path) -> TreeCache {
        TreeCache::for_tree(tree_target(folder).tree().unwrap(), &[], Eviction::OfFile).unwrap()
    }

    #[test]
    fn one_observation_shows_resident_pages_and_the_changed_file() {
        let folder = folder();
        let cache = cache_of(folder.path());
        cache.refill().unwrap();
        cache.open(&folder.path().join("b")).unwrap().evict().unwrap();
        let seen = cache.observe();
        let proof = seen.resident.unwrap();
        assert_eq!((proof.resident, proof.pages, seen.change), (26, 39, None));
        fs::write(folder.path().join("c"), "c".repeat(50_000)).unwrap();
        fs::write(folder.path().join("b"), "b").unwrap();
        let change = cache.observe().change.unwrap();
        assert!(change.contains("/b is not what it was"), "the first by name: {change}");
        let cache = cache_of(folder.path());
        fs::write(folder.path().join("new"), "").unwrap();
        let change = cache.observe().change.unwrap();
        assert!(change.contains("files were added, removed or renamed"), "{change}");
        fs::remove_file(folder.path().join("a")).unwrap();
        let TargetState { resident, change } = cache.observe();
        assert!(resident.unwrap_err().contains("/a: open: No such file"));
        assert!(change.as_ref().is_some_and(|change| change.contains("/a: No such file")), "{change:?}");
    }

    #[test]
    fn only_files_that_lost_pages_are_filled_again() {
        let folder = folder();
        let cache = cache_of(folder.path());
        assert!(cache.refill().unwrap().proof.is_warm());
        PageCache::open(&folder.path().join("b"), Eviction::OfFile).unwrap().evict().unwrap();
        let lost = cache.residency().unwrap();
        assert_eq!((lost.pages - lost.resident, lost.pages), (13, 39));
        let filled = cache.refill().unwrap().proof;
        assert_eq!((filled.is_warm(), filled.pages), (true, 39), "all are proven");
        assert!(cache.residency().unwrap().is_warm());
    }
}
