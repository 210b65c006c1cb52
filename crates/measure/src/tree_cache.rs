//! The page cache of many files: each is made cold or warm, and proven, as a single one is. No file
//! stays open, and only sums are kept.
//!
//! Names and inodes are another matter. To look at a file is to bring its name and inode into
//! memory, so they are warm before each reading, unless they are asked to be cold: then the kernel
//! drops them after everything else was done, which only root may ask it to, and it is proven by
//! lookups that may not leave memory.

use super::cache::{CacheError, Eviction, Filled, PageCache, TargetCache, failed};
use super::residency::{CountedDevice, Means, Residency, ResidencyProof};
use super::target::Look;
use readlab_model::target::identity::Identity;
use readlab_model::units::Nanos;
use readlab_system::machine::memory::Memory;
use readlab_system::names;
use readlab_system::page_cache;
use readlab_targets::target::tree::{ChangedFile, Tree, processors, visit};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Most files whose names are looked up to prove that they are cold, evenly spread.
const LOOKED_UP: usize = 256;

/// Threads that fill: a device brings small files sooner with many in flight.
const FILLING_THREADS: usize = 16;

/// How often files are filled again that lost pages while others were filled.
const REFILLS_MAX: usize = 3;

/// What is resident of no file.
const NOTHING: ResidencyProof =
    ResidencyProof { means: Means::Cachestat, file_pages: 0, pages: 0, resident: 0, dirty: None };

struct Seen {
    proof: ResidencyProof,
    changed: Option<ChangedFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Every one; they are evicted.
    All,
    /// Those that are not in memory as a whole, which are evicted first.
    Missing,
}

#[derive(Debug)]
pub struct TreeCache {
    pub(super) tree: Arc<Tree>,
    /// The files below the first, whose pages would serve a reading that finds none of these.
    below: Vec<PathBuf>,
    /// Whether names and inodes are made cold, too.
    eviction: Eviction,
    /// The device of the first file, if cachestat(2) counts there: most often that of all.
    device: Option<CountedDevice>,
}

impl TreeCache {
    /// Of these files, if their state can be observed here.
    pub fn for_tree(
        tree: &Arc<Tree>,
        below: &[PathBuf],
        eviction: Eviction,
    ) -> Result<TreeCache, CacheError> {
        let mut cache = TreeCache { tree: Arc::clone(tree), below: below.to_vec(), eviction, device: None };
        if let Some(first) = tree.paths()?.next() {
            let path = first?;
            cache.device = Residency::open(&path)?.counted_device().map_err(failed(&path, "fstat"))?;
        }
        Ok(cache)
    }

    fn open(&self, path: &Path) -> Result<PageCache, CacheError> {
        Ok(PageCache::new(Residency::open_once(path, self.device)?, Eviction::OfFile))
    }

    /// What is resident and which file or folder changed, by one visit to each file.
    pub(super) fn look(&self) -> Look {
        match self.look_at_each() {
            Ok(Seen { proof, changed }) => {
                let of_file = changed.map(|changed| changed.why);
                Look { resident: Ok(proof), change: of_file.or_else(|| self.tree.change_of_folders()) }
            }
            // A file that cannot be opened may be gone.
            Err(error) => Look { resident: Err(error.to_string()), change: self.tree.change() },
        }
    }

    fn look_at_each(&self) -> Result<Seen, CacheError> {
        let each = |number: usize, path: &Path| {
            let residency = Residency::open_once(path, self.device)?;
            let status = residency.status().map_err(failed(path, "fstat"))?;
            let changed = self.tree.change_of(number, path, &Identity::from(status));
            Ok::<_, CacheError>(Seen { proof: residency.share()?, changed })
        };
        let found = visit(self.tree.paths()?, processors(), each, Seen::and)?;
        Ok(found.unwrap_or(Seen { proof: NOTHING, changed: None }))
    }

    /// What of all files is resident, if `each` did what it does to every one of them.
    fn after_each(
        &self,
        threads: usize,
        each: impl Fn(&Path) -> Result<ResidencyProof, CacheError> + Sync,
    ) -> Result<ResidencyProof, CacheError> {
        let found = visit(self.tree.paths()?, threads, |_, path| each(path), |all, one| all.and(&one))?;
        Ok(found.unwrap_or(NOTHING))
    }

    /// Fills each file that `which` names, and those again that lost pages while others were
    /// filled, as some kernels evict pages whenever they like.
    fn fill_each(&self, which: Which) -> Result<Filled, CacheError> {
        let memory = Memory::read();
        let begun = Instant::now();
        self.fill_once(which, &memory)?;
        let wall_ns = Nanos::from(begun.elapsed()).0;
        let mut proof = self.resident()?;
        for _ in 0..REFILLS_MAX {
            if proof.is_warm() {
                break;
            }
            self.fill_once(Which::Missing, &memory)?;
            proof = self.resident()?;
        }
        if proof.is_warm() {
            return Ok(Filled { wall_ns, proof });
        }
        let path = self.tree.folder().map_or_else(|| self.tree.list(), Path::to_owned);
        let size_bytes = proof.file_pages * readlab_system::memory::page_bytes();
        Err(CacheError::NotFilled { path, size_bytes, proof, memory })
    }

    fn fill_once(&self, which: Which, memory: &Memory) -> Result<(), CacheError> {
        let fill = |path: &Path| {
            let cache = self.open(path)?;
            if which == Which::Missing {
                let found = cache.resident()?;
                if found.is_warm() {
                    return Ok(found);
                }
                // Pages that another program keeps in memory stay, and the rest is filled around
                // them.
                match cache.evict() {
                    Ok(_) | Err(CacheError::RamBacked { .. } | CacheError::Remains { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(cache.fill_in(memory)?.proof)
        };
        self.after_each(FILLING_THREADS, fill).map(drop)
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

impl Seen {
    fn and(self, other: Seen) -> Seen {
        let changed = ChangedFile::first(self.changed, other.changed);
        Seen { proof: self.proof.and(&other.proof), changed }
    }
}

impl TargetCache for TreeCache {
    fn resident(&self) -> Result<ResidencyProof, CacheError> {
        self.after_each(processors(), |path| self.open(path)?.resident())
    }

    fn evict(&self) -> Result<ResidencyProof, CacheError> {
        let proof = self.evict_to_fill()?;
        if self.eviction == Eviction::OfSystem {
            self.drop_metadata()?;
        }
        Ok(proof)
    }

    fn evict_to_fill(&self) -> Result<ResidencyProof, CacheError> {
        let proof = self.after_each(processors(), |path| self.open(path)?.evict())?;
        PageCache::evict_all_below(&self.below, proof.file_pages)?;
        Ok(proof)
    }

    fn fill_evicted(&self) -> Result<Filled, CacheError> {
        self.fill_each(Which::All)
    }

    fn refill(&self) -> Result<Filled, CacheError> {
        self.fill_each(Which::Missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::disk_folder;
    use readlab_targets::target::Target;
    use readlab_targets::target::tree::{ListSource, TreeRequest};
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
        let source = ListSource::Folder(folder.to_owned());
        let target = Target::examine_tree(&TreeRequest::by_name(source)).unwrap();
        TreeCache::for_tree(target.tree().unwrap(), &[], Eviction::OfFile).unwrap()
    }

    #[test]
    fn one_look_sees_what_is_resident_and_what_changed() {
        let folder = folder();
        let cache = cache_of(folder.path());
        cache.refill().unwrap();
        cache.open(&folder.path().join("b")).unwrap().evict().unwrap();
        let seen = cache.look();
        let proof = seen.resident.unwrap();
        assert_eq!((proof.resident, proof.pages, seen.change), (26, 39, None));
        fs::write(folder.path().join("c"), "c".repeat(50_000)).unwrap();
        fs::write(folder.path().join("b"), "b").unwrap();
        let change = cache.look().change.unwrap();
        assert!(change.contains("/b is not what it was"), "the first by name: {change}");
        let cache = cache_of(folder.path());
        fs::write(folder.path().join("new"), "").unwrap();
        let change = cache.look().change.unwrap();
        assert!(change.contains("files were added, removed or renamed"), "{change}");
        fs::remove_file(folder.path().join("a")).unwrap();
        let Look { resident, change } = cache.look();
        assert!(resident.unwrap_err().contains("/a: open: No such file"));
        assert!(change.as_ref().is_some_and(|change| change.contains("/a: No such file")), "{change:?}");
    }

    #[test]
    fn what_is_missing_is_filled_and_the_rest_left_alone() {
        let folder = folder();
        let cache = cache_of(folder.path());
        assert!(cache.refill().unwrap().proof.is_warm());
        PageCache::open(&folder.path().join("b"), Eviction::OfFile).unwrap().evict().unwrap();
        let lost = cache.resident().unwrap();
        assert_eq!((lost.pages - lost.resident, lost.pages), (13, 39));
        let filled = cache.refill().unwrap().proof;
        assert_eq!((filled.is_warm(), filled.pages), (true, 39), "all are proven");
        assert!(cache.resident().unwrap().is_warm());
    }
}
