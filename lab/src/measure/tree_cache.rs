//! The page cache of many files: each is made cold or warm, and proven, as a single one is. No file
//! stays open, and only sums are kept.
//!
//! Names and inodes are another matter. To look at a file is to bring its name and inode into
//! memory, so they are warm before each reading, unless they are asked to be cold: then the kernel
//! drops them after everything else was done, which only root may ask it to, and it is proven by
//! lookups that may not leave memory.

use super::cache::{CacheError, Eviction, Filled, PageCache, TargetCache};
use super::residency::{Means, ResidencyProof};
use crate::linux::names;
use crate::linux::page_cache;
use crate::machine::memory::Memory;
use crate::target::tree::Tree;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Most files whose names are looked up to prove that they are cold, evenly spread.
const LOOKED_UP: usize = 256;

/// Files that a thread takes at once.
const TAKEN: usize = 64;

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
        if let Some(first) = cache.files()?.next() {
            first?;
        }
        Ok(cache)
    }

    /// The page caches of the files, one after the other.
    fn files(&self) -> Result<impl Iterator<Item = Result<PageCache, CacheError>>, CacheError> {
        let paths = self.tree.paths()?;
        Ok(paths.map(|path| PageCache::open(&path?, Eviction::OfFile)))
    }

    /// What of all files is resident, if `each` did what it does to every one of them: by a thread
    /// on each processor, which take the next files in turn.
    fn after_each(
        &self,
        each: impl Fn(&PageCache) -> Result<ResidencyProof, CacheError> + Sync,
    ) -> Result<ResidencyProof, CacheError> {
        let paths = Mutex::new(self.tree.paths()?);
        let work = || {
            let mut all: Option<ResidencyProof> = None;
            loop {
                let taken: Vec<_> =
                    paths.lock().unwrap_or_else(PoisonError::into_inner).by_ref().take(TAKEN).collect();
                if taken.is_empty() {
                    return Ok::<_, CacheError>(all);
                }
                for path in taken {
                    let proof = each(&PageCache::open(&path?, Eviction::OfFile)?)?;
                    all = Some(all.map_or(proof, |all| all.and(&proof)));
                }
            }
        };
        let others = thread::available_parallelism().map_or(0, |all| all.get() - 1);
        let found = thread::scope(|scope| {
            let others: Vec<_> = (0..others).map(|_| scope.spawn(work)).collect();
            let own = work();
            let joined = others.into_iter().map(|it| it.join().unwrap_or_else(|panic| resume_unwind(panic)));
            joined.chain([own]).collect::<Result<Vec<_>, _>>()
        })?;
        let nothing =
            ResidencyProof { means: Means::Cachestat, file_pages: 0, pages: 0, resident: 0, dirty: None };
        Ok(found.into_iter().flatten().reduce(|all, one| all.and(&one)).unwrap_or(nothing))
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
        self.after_each(PageCache::resident)
    }

    fn evict(&self) -> Result<ResidencyProof, CacheError> {
        let proof = self.after_each(PageCache::evict)?;
        PageCache::evict_all_below(&self.below, proof.file_pages)?;
        if self.eviction == Eviction::OfSystem {
            self.drop_metadata()?;
        }
        Ok(proof)
    }

    fn fill(&self) -> Result<Filled, CacheError> {
        match self.after_each(PageCache::evict) {
            Ok(_) | Err(CacheError::RamBacked { .. }) => {}
            Err(error) => return Err(error),
        }
        self.fill_evicted()
    }

    /// Each file by the standard fill, in the order of the list.
    fn fill_evicted(&self) -> Result<Filled, CacheError> {
        let memory = Memory::read();
        let mut wall_ns = 0;
        for file in self.files()? {
            wall_ns += file?.fill_in(&memory)?.wall_ns;
        }
        // What was filled first may have been evicted by what came later.
        let proof = self.resident()?;
        if !proof.is_warm() {
            let path = self.tree.folder().map_or_else(|| self.tree.list(), std::path::Path::to_owned);
            let size_bytes = proof.file_pages * crate::linux::memory::page_bytes();
            return Err(CacheError::NotFilled { path, size_bytes, proof, memory });
        }
        Ok(Filled { wall_ns, proof })
    }
}
