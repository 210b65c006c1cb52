//! A test that drops the caches of the whole machine. It is a separate program, because tests of
//! the page cache that run at the same time would lose their pages.

use readlab_measure::cache::{EvictionScope, PageCache, TargetCache};
use readlab_system::page_cache;
use readlab_targets::target::filesystem::{Backing, Filesystem};
use std::fs::{self, File};

/// Size of the test files: not a whole number of pages, and more pages than are probed.
const FILE_BYTES: usize = 5_000_001;

#[test]
fn caches_of_the_machine_are_dropped_for_cold_readings_and_not_for_fills() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("file");
    fs::write(&path, vec![b'x'; FILE_BYTES]).unwrap();
    let filesystem = Filesystem::read(&File::open(&path).unwrap()).unwrap();
    if matches!(filesystem.backing, Backing::Memory | Backing::OwnCache) {
        return eprintln!("SKIPPED: the build folder is on {filesystem}, where nothing can be proven cold");
    }
    if page_cache::may_evict_machine().is_err() {
        return eprintln!("SKIPPED: only root may drop the caches of the machine");
    }
    let program = folder.path().join("program");
    fs::write(&program, vec![b'x'; FILE_BYTES]).unwrap();
    let other = PageCache::open(&program, EvictionScope::OfFile).unwrap();
    let cache = PageCache::open(&path, EvictionScope::OfSystem).unwrap();
    // Some kernels evict a few pages at any time.
    let stays_resident_after = |made: &dyn Fn()| {
        other.refill().unwrap();
        made();
        other.residency().unwrap().resident_share() > Some(0.5)
    };
    assert!(stays_resident_after(&|| assert!(cache.refill().unwrap().proof.is_warm())));
    assert!(stays_resident_after(&|| assert!(cache.evict_to_fill().unwrap().is_cold())));
    assert!(!stays_resident_after(&|| assert!(cache.evict().unwrap().is_cold())));
}
