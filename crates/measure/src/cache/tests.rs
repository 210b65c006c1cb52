//! Tests of the states of the page cache on the file system of the build folder, on tmpfs, and for
//! users who do not own the file.

use super::{CacheError, EvictionScope, PageCache, TargetCache};
use crate::residency::{ResidencyMeans, ResidencyProof};
use crate::testing;
use readlab_model::target::range::RangeFacts;
use readlab_protocol::Part;
use readlab_system::filesystem::FilesystemType;
use readlab_system::machine::memory::MachineMemory;
use readlab_system::memory::page_bytes;
use readlab_targets::target::Place;
use readlab_targets::target::filesystem::{Backing, Filesystem};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Size of the test files: not a whole number of pages, and more pages than are probed.
const FILE_BYTES: usize = 5_000_001;

/// A file on a disk; `None` if no file can be proven cold on the file system of the build folder.
fn disk_file() -> Option<(TempDir, PathBuf)> {
    testing::disk_file(&vec![b'x'; FILE_BYTES], |backing| {
        !matches!(backing, Backing::Memory | Backing::OwnCache)
    })
}

#[test]
fn an_evicted_file_is_cold_and_a_filled_file_is_warm() {
    let Some((_folder, path)) = disk_file() else { return };
    let cache = PageCache::open(&path, EvictionScope::OfFile).unwrap();
    for _ in 0..3 {
        let evicted = cache.evict().unwrap();
        assert_eq!([evicted.resident_share(), cache.residency().unwrap().resident_share()], [Some(0.0); 2]);
        let filled = cache.refill().unwrap();
        assert!(filled.wall_ns > 0);
        assert_eq!(
            [filled.proof.resident_share(), cache.residency().unwrap().resident_share()],
            [Some(1.0); 2]
        );
    }
}

/// The page cache of a part of a file, which the user chose if it is a range.
fn cache_of_part(path: &Path, part: Part, range: Option<RangeFacts>) -> PageCache {
    let mut target = testing::target(Place::File(path.to_owned()), part.length_bytes);
    (target.part, target.facts.range) = (Some(part), range);
    PageCache::open_target(&target, path, EvictionScope::OfFile).unwrap()
}

#[test]
fn a_range_is_filled_alone_and_evicted_with_the_whole_file() {
    let Some((_folder, path)) = disk_file() else { return };
    let page = page_bytes();
    let (start_bytes, length_bytes) = (4 * page, 8 * page);
    let whole = PageCache::open(&path, EvictionScope::OfFile).unwrap();
    let range = RangeFacts { start_bytes, length_bytes, before_bytes: 0, file_bytes: FILE_BYTES as u64 };
    let cache = cache_of_part(&path, Part { start_bytes, length_bytes }, Some(range));
    whole.refill().unwrap();
    assert!(cache.evict().unwrap().is_cold());
    assert!(whole.residency().unwrap().is_cold());
    let filled = cache.refill().unwrap().proof;
    assert_eq!((filled.file_pages, filled.resident_share()), (8, Some(1.0)));
}

#[test]
fn the_part_of_one_of_several_readers_is_evicted_alone() {
    let Some((_folder, path)) = disk_file() else { return };
    // No folio of the page cache crosses this boundary.
    let part = Part { start_bytes: 2 << 20, length_bytes: 2 << 20 };
    let whole = PageCache::open(&path, EvictionScope::OfFile).unwrap();
    let cache = cache_of_part(&path, part, None);
    whole.refill().unwrap();
    assert!(cache.evict().unwrap().is_cold());
    let left = whole.residency().unwrap();
    assert_eq!(left.checked_pages - left.resident_pages, part.length_bytes / page_bytes());
}

#[test]
fn a_dirty_file_is_written_back_and_becomes_cold() {
    let Some((_folder, path)) = disk_file() else { return };
    let cache = PageCache::open(&path, EvictionScope::OfFile).unwrap();
    // Written in place, because ext4 writes a file that was truncated and written again to the
    // device at once. Another program may call sync in between.
    let is_dirty = || {
        let mut file = File::options().write(true).open(&path).unwrap();
        file.write_all(&vec![b'y'; FILE_BYTES]).unwrap();
        cache.residency().unwrap().dirty_pages > Some(0)
    };
    let written = (0..100).any(|_| is_dirty());
    assert!(written || cache.residency().unwrap().means != ResidencyMeans::Count);
    assert!(cache.evict().unwrap().is_cold());
    assert_eq!(fs::read(&path).unwrap(), vec![b'y'; FILE_BYTES]);
}

#[test]
fn pages_that_another_process_has_mapped_remain_with_an_error() {
    let Some((_folder, path)) = disk_file() else { return };
    let cache = PageCache::open(&path, EvictionScope::OfFile).unwrap();
    cache.refill().unwrap();
    let file = File::open(&path).unwrap();
    let (nowhere, shared) = (std::ptr::null_mut(), MapFlags::SHARED);
    // SAFETY: a new mapping at an address that the kernel chooses, which nothing else refers to.
    let map = unsafe { mmap(nowhere, FILE_BYTES, ProtFlags::READ, shared, &file, 0) }.unwrap();
    // SAFETY: the mapping is `FILE_BYTES` bytes long and readable, and the file does not change
    // while the mapping exists.
    let bytes = unsafe { std::slice::from_raw_parts(map.cast::<u8>(), FILE_BYTES) };
    assert!(bytes.iter().step_by(4096).all(|&byte| byte == b'x'));
    let error = cache.evict().unwrap_err();
    assert!(matches!(error, CacheError::PagesRemain { proof, .. } if proof.resident_pages > 0), "{error}");
    assert!(error.to_string().contains("mapped"), "{error}");
    // SAFETY: the mapping was made above with this length, and `bytes` is not used any more.
    unsafe { munmap(map, FILE_BYTES) }.unwrap();
    assert!(cache.evict().unwrap().is_cold());
}

#[test]
fn no_state_can_be_proven_beside_another_cache() {
    let Some((_folder, path)) = disk_file() else { return };
    let mut cache = PageCache::open(&path, EvictionScope::OfFile).unwrap();
    assert!(cache.proof_if_provable().is_ok());
    let zfs = FilesystemType { magic_number: 0x2fc1_2fc1, name: Some("zfs") };
    cache.prover.filesystem = Filesystem::from(zfs);
    for error in [cache.proof_if_provable().unwrap_err(), cache.evict_to_fill().unwrap_err()] {
        assert!(error.leaves_state_unknown(), "{error}");
        assert!(error.to_string().contains("neither cold nor warm can be proven on zfs"), "{error}");
    }
}

#[test]
fn a_fill_that_leaves_no_page_is_the_file_system_s_way_only_where_reads_may_bypass_the_cache() {
    let Some((_folder, path)) = disk_file() else { return };
    let mut cache = PageCache::open(&path, EvictionScope::OfFile).unwrap();
    let memory = MachineMemory::read();
    let mut error_on = |name, resident_pages| {
        cache.prover.filesystem = Filesystem::from(FilesystemType { magic_number: 1, name: Some(name) });
        let cold = ResidencyProof {
            means: ResidencyMeans::Count,
            file_pages: 9,
            checked_pages: 9,
            resident_pages,
            dirty_pages: None,
        };
        cache.not_filled_error(9, cold, &memory)
    };
    for name in ["fuse", "9p", "cifs", "overlay"] {
        let error = error_on(name, 0);
        assert!(matches!(error, CacheError::NothingKept { .. }), "{error}");
        assert!(matches!(error_on(name, 8), CacheError::NotFilled { .. }));
    }
    assert!(matches!(error_on("ext4", 0), CacheError::NotFilled { .. }), "another program took its memory");
}

#[test]
fn a_file_in_memory_cannot_be_cold_but_is_warm() {
    let Ok(file) = tempfile::NamedTempFile::new_in("/dev/shm") else {
        return eprintln!("SKIPPED: no folder /dev/shm to write to");
    };
    if Filesystem::read(file.as_file()).unwrap().backing != Backing::Memory {
        return eprintln!("SKIPPED: /dev/shm is not in memory");
    }
    fs::write(file.path(), vec![b'x'; FILE_BYTES]).unwrap();
    let cache = PageCache::open(file.path(), EvictionScope::OfFile).unwrap();
    let error = cache.evict().unwrap_err();
    assert!(matches!(error, CacheError::RamBacked { .. }), "{error}");
    assert_eq!(cache.refill().unwrap().proof.resident_share(), Some(1.0));
}

#[test]
fn a_file_larger_than_memory_cannot_be_warm_and_the_error_has_the_numbers() {
    let Some((_folder, path)) = disk_file() else { return };
    File::options().write(true).open(&path).unwrap().set_len(1 << 42).unwrap();
    let cache = PageCache::open(&path, EvictionScope::OfFile).unwrap();
    let error = cache.refill().unwrap_err();
    assert!(matches!(error, CacheError::TooLarge { size_bytes: 0x400_0000_0000, .. }), "{error}");
    assert!(error.to_string().contains("4.00 TiB"), "{error}");
}

#[test]
fn a_fill_that_failed_is_repeated_only_if_the_file_fits_the_memory_that_was_available() {
    let (means, dirty_pages) = (ResidencyMeans::Count, None);
    let proof = ResidencyProof { means, file_pages: 2, checked_pages: 2, resident_pages: 1, dirty_pages };
    let may_be_temporary = |available_bytes| {
        let memory = MachineMemory { total_bytes: 1000, available_bytes, limit_bytes: None };
        CacheError::NotFilled { path: PathBuf::new(), size_bytes: 100, proof, memory }.may_be_temporary()
    };
    assert!(may_be_temporary(100) && !may_be_temporary(99));
}

#[test]
fn an_empty_file_is_both_cold_and_warm_and_has_no_share() {
    let folder = testing::disk_folder();
    let path = folder.path().join("empty");
    fs::write(&path, "").unwrap();
    let proof = PageCache::open(&path, EvictionScope::OfFile).unwrap().residency().unwrap();
    assert_eq!((proof.resident_share(), proof.is_cold(), proof.is_warm()), (None, true, true));
}

#[test]
fn a_user_who_may_only_read_the_file_gets_both_states_by_probes() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: only root can become a user that owns nothing");
    }
    let Some((folder, path)) = disk_file() else { return };
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let owner = PageCache::open(&path, EvictionScope::OfFile).unwrap();
    if as_nobody(|| File::open(&path).is_err()) {
        return eprintln!("SKIPPED: other users may not enter the build folder");
    }
    let cache = as_nobody(|| PageCache::open(&path, EvictionScope::OfFile).unwrap());
    let cold = as_nobody(|| cache.evict().unwrap());
    assert_eq!(
        (cold.means, cold.resident_share(), cold.is_estimate()),
        (ResidencyMeans::Probe, Some(0.0), true)
    );
    assert_eq!(owner.residency().unwrap().resident_pages, 0, "probing left pages behind");
    let filled = as_nobody(|| cache.refill().unwrap());
    assert_eq!((filled.proof.means, filled.proof.resident_share()), (ResidencyMeans::Probe, Some(1.0)));
    assert!(filled.proof.is_estimate());
    assert_eq!(owner.residency().unwrap().resident_share(), Some(1.0));
}

/// The result of `check` as a user who owns no file. The kernel keeps credentials for each thread,
/// so the other tests keep theirs.
fn as_nobody<T: Send>(check: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let nobody = rustix::process::Uid::from_raw(65_534);
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            check()
        });
        thread.join().unwrap()
    })
}
