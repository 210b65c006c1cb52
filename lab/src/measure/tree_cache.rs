//! The page cache of many files: each is made cold or warm, and proven, as a single one is. No file
//! stays open, and only sums are kept.
//!
//! Names and inodes are another matter. To look at a file is to bring its name and inode into
//! memory, so they are warm before each reading, unless they are asked to be cold: then the kernel
//! drops them after everything else was done, which only root may ask it to, and it is proven by
//! lookups that may not leave memory.

use super::cache::{CacheError, Eviction, Filled, PageCache, TargetCache};
use super::residency::{Means, Residency, ResidencyProof};
use crate::linux::names;
use crate::linux::page_cache;
use crate::machine::memory::Memory;
use crate::target::tree::{Tree, processors, visit};
use crate::units::Nanos;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Most files whose names are looked up to prove that they are cold, evenly spread.
const LOOKED_UP: usize = 256;

/// Threads that fill: a device brings small files sooner with many in flight.
const FILLING_THREADS: usize = 16;

/// How often files are filled again that lost pages while others were filled.
const REFILLS_MAX: usize = 3;

/// The page cache of the files of a tree.
#[derive(Debug)]
pub struct TreeCache {
    tree: Arc<Tree>,
    /// The files below the first, whose pages would serve a reading that finds none of these.
    below: Vec<PathBuf>,
    /// Whether names and inodes are made cold, too.
    eviction: Eviction,
}

impl TreeCache {
    /// Of these files, if their state can be observed here.
    ///
    /// # Errors
    /// If the first cannot be opened, or if its state cannot be found out here.
    pub fn of(tree: &Arc<Tree>, below: &[PathBuf], eviction: Eviction) -> Result<TreeCache, CacheError> {
        let cache = TreeCache { tree: Arc::clone(tree), below: below.to_vec(), eviction };
        if let Some(first) = tree.paths()?.next() {
            PageCache::open(&first?, Eviction::OfFile)?;
        }
        Ok(cache)
    }

    /// The files.
    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// What of all files is resident, if `each` did what it does to every one of them.
    fn after_each(
        &self,
        threads: usize,
        each: impl Fn(&Path) -> Result<ResidencyProof, CacheError> + Sync,
    ) -> Result<ResidencyProof, CacheError> {
        let found = visit(self.tree.paths()?, threads, |_, path| each(path), |all, one| all.and(&one))?;
        let nothing =
            ResidencyProof { means: Means::Cachestat, file_pages: 0, pages: 0, resident: 0, dirty: None };
        Ok(found.unwrap_or(nothing))
    }

    /// Fills the files that are not in memory as a whole.
    fn fill_missing(&self, memory: &Memory) -> Result<ResidencyProof, CacheError> {
        self.after_each(FILLING_THREADS, |path| match Residency::open(path)?.share()? {
            whole if whole.is_warm() => Ok(whole),
            _ => Ok(PageCache::open(path, Eviction::OfFile)?.fill_in(memory)?.proof),
        })
    }

    fn evict_pages(&self) -> Result<ResidencyProof, CacheError> {
        self.after_each(processors(), |path| PageCache::open(path, Eviction::OfFile)?.evict())
    }

    /// Makes the names and inodes of all files cold, and proves it by some of them.
    fn drop_metadata(&self) -> Result<(), CacheError> {
        page_cache::evict_machine().map_err(|cause| CacheError::DropCaches { cause })?;
        let step = self.tree.len().div_ceil(LOOKED_UP).max(1);
        for path in self.tree.paths()?.step_by(step) {
            let path = path?;
            if names::is_cached(&path).map_err(|cause| CacheError::DropCaches { cause })? {
                return Err(CacheError::NameRemains { path });
            }
        }
        Ok(())
    }
}

impl TargetCache for TreeCache {
    fn resident(&self) -> Result<ResidencyProof, CacheError> {
        self.after_each(processors(), |path| Ok(Residency::open(path)?.share()?))
    }

    fn evict(&self) -> Result<ResidencyProof, CacheError> {
        let proof = self.evict_pages()?;
        PageCache::evict_all_below(&self.below, proof.file_pages)?;
        if self.eviction == Eviction::OfSystem {
            self.drop_metadata()?;
        }
        Ok(proof)
    }

    fn fill(&self) -> Result<Filled, CacheError> {
        match self.evict_pages() {
            Ok(_) | Err(CacheError::RamBacked { .. }) => {}
            Err(error) => return Err(error),
        }
        self.fill_evicted()
    }

    /// Each file by the standard fill. Some kernels evict pages whenever they like: files that lost
    /// some while others were filled are filled again.
    fn fill_evicted(&self) -> Result<Filled, CacheError> {
        let memory = Memory::read();
        let begun = Instant::now();
        let fill = |path: &Path| Ok(PageCache::open(path, Eviction::OfFile)?.fill_in(&memory)?.proof);
        self.after_each(FILLING_THREADS, fill)?;
        let wall_ns = Nanos::from(begun.elapsed()).0;
        let mut proof = self.resident()?;
        for _ in 0..REFILLS_MAX {
            if proof.is_warm() {
                break;
            }
            self.fill_missing(&memory)?;
            proof = self.resident()?;
        }
        if !proof.is_warm() {
            let path = self.tree.folder().map_or_else(|| self.tree.list(), Path::to_owned);
            let size_bytes = proof.file_pages * crate::linux::memory::page_bytes();
            return Err(CacheError::NotFilled { path, size_bytes, proof, memory });
        }
        Ok(Filled { wall_ns, proof })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;
    use crate::target::tree::{ListSource, TreeOrder, TreeRequest};
    use std::fs;

    #[test]
    fn what_is_missing_is_filled_and_the_rest_left_alone() {
        // Beside this program, for in memory nothing can be evicted.
        let folder = tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap();
        for name in ["a", "b", "c", "empty"] {
            let content = if name == "empty" { String::new() } else { name.repeat(50_000) };
            fs::write(folder.path().join(name), content).unwrap();
        }
        let source = ListSource::Folder(folder.path().to_owned());
        let target = Target::examine_tree(&TreeRequest { source, order: TreeOrder::Name, seed: 0 }).unwrap();
        let cache = TreeCache::of(target.tree().unwrap(), &[], Eviction::OfFile).unwrap();
        assert!(cache.fill().unwrap().proof.is_warm());
        PageCache::open(&folder.path().join("b"), Eviction::OfFile).unwrap().evict().unwrap();
        let lost = cache.resident().unwrap();
        assert_eq!((lost.pages - lost.resident, lost.pages), (13, 39));
        assert!(cache.fill_missing(&Memory::read()).unwrap().is_warm());
        assert!(cache.resident().unwrap().is_warm());
    }
}
