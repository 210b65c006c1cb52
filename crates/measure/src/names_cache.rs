//! The kernel's cache of names (dentries) and inodes, for races that find names. No byte of a file
//! is read or evicted.
//!
//! Before a warm reading, readlab lists each folder and requests the status of each name. Before a
//! cold reading, the kernel drops all caches of the machine, which only root may request. Lookups
//! of some names, evenly spread, prove the state: such a lookup searches only memory and loads no
//! name. Blocks of folders may be in memory even if no name is. Therefore a warm reading must also
//! fetch no byte from the device, and a cold reading at least one ([`crate::sampler`]).

use super::cache::{CacheError, EvictionScope, FillResult, TargetCache, call_failed};
use super::residency::{ResidencyMeans, ResidencyProof};
use super::target::TargetState;
use readlab_corpus::names_truth::truth_of_names;
use readlab_model::units::Nanos;
use readlab_system::names;
use readlab_system::{filesystem, interrupt, page_cache};
use readlab_targets::target::filesystem::{Backing, Filesystem};
use readlab_targets::target::tree::Tree;
use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Description of the fill, for the record.
pub const FILL_OF_NAMES: &str = "each folder was listed and each name below it asked for its status, one after the other, \
                                 nothing evicted before";

/// Largest number of names, evenly spread, that are looked up.
const LOOKUPS_MAX: usize = 256;

/// Number of tries to make the kernel drop names. Names in use stay for a moment, so a pause
/// follows each try: first [`FIRST_PAUSE`], then twice the pause before.
const DROP_TRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub struct NamesCache {
    pub(super) tree: Arc<Tree>,
    eviction: EvictionScope,
}

/// The result of looking up some names only in memory.
struct LookupResult {
    proof: ResidencyProof,
    /// The first path whose name is in memory; `None` if no name is.
    cached_path: Option<PathBuf>,
}

impl NamesCache {
    pub(super) fn new(tree: &Arc<Tree>, eviction: EvictionScope) -> NamesCache {
        NamesCache { tree: Arc::clone(tree), eviction }
    }

    /// The names in memory, and the first change of the tree. The names are looked up first,
    /// because the search for changes loads every name into memory.
    pub(super) fn observe(&self) -> TargetState {
        let resident = self.residency().map_err(|error| error.to_string());
        TargetState { residency: resident, change: self.tree.change() }
    }

    /// Called right after each name was asked for. An error if the kernel has already forgotten names
    /// because a program or a server says how long it may keep them: then no fill makes them warm.
    pub(super) fn check_kept(&self) -> Result<(), CacheError> {
        let path = self.tree.folder_or_list_path();
        let file = File::open(&path).map_err(call_failed(&path, "open"))?;
        let filesystem = Filesystem::read(&file).map_err(call_failed(&path, "statfs"))?;
        let may_expire = matches!(filesystem.backing, Backing::Remote | Backing::Program);
        if may_expire && !self.residency()?.is_warm() {
            return Err(CacheError::NamesExpire { path, filesystem });
        }
        Ok(())
    }
}

/// Drops the caches of the machine, and proves by lookups that names of the tree are gone. If a
/// name stays after all tries, the error contains that name.
pub(super) fn drop_names(tree: &Tree) -> Result<ResidencyProof, CacheError> {
    let mut pause = FIRST_PAUSE;
    let mut tries = 0;
    loop {
        page_cache::evict_machine().map_err(|cause| CacheError::DropCaches { cause })?;
        tries += 1;
        let LookupResult { proof, cached_path } = look_up_names(tree)?;
        match cached_path {
            None => return Ok(proof),
            Some(path) if tries == DROP_TRIES => return Err(CacheError::NameRemains { path }),
            Some(_) => thread::sleep(pause),
        }
        pause *= 2;
    }
}

fn look_up_names(tree: &Tree) -> Result<LookupResult, CacheError> {
    let (count, paths) = tree.names_to_look_up()?;
    let step = count.div_ceil(LOOKUPS_MAX).max(1);
    let (mut pages, mut resident, mut cached_path) = (0, 0, None);
    for path in paths.step_by(step) {
        let path = path?;
        let is_cached = names::is_cached(&path).map_err(call_failed(&path, "openat2"))?;
        pages += 1;
        resident += u64::from(is_cached);
        if is_cached {
            cached_path.get_or_insert(path);
        }
    }
    let proof = ResidencyProof {
        means: ResidencyMeans::Lookup,
        file_pages: pages,
        checked_pages: pages,
        resident_pages: resident,
        dirty_pages: None,
    };
    Ok(LookupResult { proof, cached_path })
}

impl TargetCache for NamesCache {
    fn residency(&self) -> Result<ResidencyProof, CacheError> {
        Ok(look_up_names(&self.tree)?.proof)
    }

    /// Inodes with changes that are not written yet cannot be dropped. Nothing is written if nothing may
    /// be dropped.
    fn write_file_system(&self, is_time_up: &dyn Fn() -> bool) -> Result<(), CacheError> {
        if self.eviction == EvictionScope::OfFile {
            return Ok(());
        }
        let folder = self.tree.folder_or_list_path();
        let check = || if is_time_up() { Err(ErrorKind::TimedOut.into()) } else { interrupt::check() };
        filesystem::sync(&folder, &check).map_err(|cause| {
            if interrupt::is_stop_requested() {
                CacheError::Interrupted
            } else if is_time_up() {
                CacheError::OutOfTime { path: folder.clone() }
            } else {
                call_failed(&folder, "syncfs")(cause)
            }
        })
    }

    fn evict(&self) -> Result<ResidencyProof, CacheError> {
        if self.eviction == EvictionScope::OfFile {
            return Err(CacheError::NamesNeedRoot { path: self.tree.folder_or_list_path() });
        }
        drop_names(&self.tree)
    }

    /// Evicts nothing, because a fill does not change how a name is stored in memory.
    fn evict_to_fill(&self) -> Result<ResidencyProof, CacheError> {
        self.residency()
    }

    fn fill_evicted(&self) -> Result<FillResult, CacheError> {
        let folder = self.tree.folder_or_list_path();
        let begun = Instant::now();
        truth_of_names(&folder, &|_| Ok(())).map_err(call_failed(&folder, "walk"))?;
        let wall_ns = Nanos::from(begun.elapsed()).0;
        let proof = self.residency()?;
        if proof.is_warm() {
            Ok(FillResult { wall_ns, proof })
        } else {
            Err(CacheError::NamesNotKept { path: folder, proof })
        }
    }

    fn refill(&self) -> Result<FillResult, CacheError> {
        self.fill_evicted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{disk_folder, tree_target};
    use readlab_targets::target::Target;
    use readlab_targets::target::tree::{ListSource, TreeRequest};
    use std::fs;
    use std::path::Path;

    fn cache_of(folder: &Path, eviction: EvictionScope) -> NamesCache {
        NamesCache::new(tree_target(folder).tree().unwrap(), eviction)
    }

    /// A folder with more files than are looked up.
    fn make_folder() -> tempfile::TempDir {
        let folder = disk_folder();
        fs::create_dir(folder.path().join("deep")).unwrap();
        (0..600).for_each(|number| fs::write(folder.path().join(format!("deep/{number}")), "x").unwrap());
        folder
    }

    #[test]
    fn names_are_warm_after_a_fill_and_cannot_be_dropped_without_root() {
        let folder = make_folder();
        let cache = cache_of(folder.path(), EvictionScope::OfFile);
        let filled = cache.fill_evicted().unwrap();
        assert!(filled.proof.is_warm() && filled.wall_ns > 0, "{:?}", filled.proof);
        assert_eq!((filled.proof.checked_pages, filled.proof.is_estimate()), (200, false), "every third");
        assert_eq!(filled.proof.to_string(), "200 of 200 names resident");
        assert!(cache.evict_to_fill().unwrap().is_warm(), "nothing is evicted");
        let why = cache.evict().unwrap_err().to_string();
        assert!(why.contains("--metadata cold"), "{why}");
    }

    #[test]
    fn waiting_until_dirty_data_are_written_ends_when_time_is_up() {
        let folder = make_folder();
        let cache = cache_of(folder.path(), EvictionScope::OfSystem);
        cache.write_file_system(&|| false).unwrap();
        let error = cache.write_file_system(&|| true).unwrap_err();
        assert!(matches!(error, CacheError::OutOfTime { .. }), "{error}");
        let kept = cache_of(folder.path(), EvictionScope::OfFile);
        kept.write_file_system(&|| true).expect("only root may drop names, so nothing is written");
    }

    #[test]
    fn folders_are_looked_up_where_there_is_no_file() {
        let folder = disk_folder();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        let request = TreeRequest::by_name(ListSource::Folder(folder.path().to_owned()));
        assert!(Target::examine_tree(&request).is_err(), "there is nothing to read");
        let target = Target::examine_tree(&TreeRequest { only_finds_names: true, ..request }).unwrap();
        let cache = NamesCache::new(target.tree().unwrap(), EvictionScope::OfFile);
        assert_eq!(cache.fill_evicted().unwrap().proof.to_string(), "2 of 2 names resident");
        fs::create_dir(folder.path().join("c")).unwrap();
        assert!(cache.observe().change.is_some());
    }

    #[test]
    fn an_observation_counts_names_in_memory_and_finds_the_changed_file() {
        let folder = make_folder();
        let cache = cache_of(folder.path(), EvictionScope::OfFile);
        cache.refill().unwrap();
        let seen = cache.observe();
        assert_eq!((seen.residency.unwrap().resident_pages, seen.change), (200, None));
        fs::write(folder.path().join("deep/7"), "longer").unwrap();
        let change = cache.observe().change.unwrap();
        assert!(change.contains("/deep/7 is not what it was"), "{change}");
    }
}
