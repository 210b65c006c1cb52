//! A sweep probes for a hidden cache with a file of readlab's own, because no file of the sweep may
//! be read before its timed reading.
//!
//! This file is written before the files of the sweep and read after them. A cache that keeps the
//! most recently written bytes then holds files of the sweep and not this file.
//! [`readlab_measure::hidden_cache`] defines the probe.

use super::{SweepError, SweepFolder, write};
use readlab_measure::cache::{CacheError, EvictionScope, TargetCache};
use readlab_measure::hidden_cache::{PROBED_FILE_BYTES_MIN, probe_hidden_cache};
use readlab_measure::target::CacheControl;
use readlab_model::corpus::{CorpusKind, Recipe};
use readlab_model::target::hidden_cache::{HiddenCache, NotProbed};
use readlab_record::WriteWay;
use readlab_system::file_status::FileStatus;
use readlab_targets::target::Target;
use std::io;
use std::path::{Path, PathBuf};

/// A file that was never read, and its folder, which is removed when this value is dropped.
pub(super) struct CacheProbeFile {
    folder: SweepFolder,
    path: PathBuf,
}

impl CacheProbeFile {
    /// Writes the file in a new folder below `parent`, if `parent` and `beside` are on the same
    /// file system and there is room for the file and for the sweep, both on the device and within
    /// the bytes that the user allows. Otherwise returns the reason.
    pub(super) fn write(
        [parent, beside]: [&Path; 2],
        sweep_bytes: u64,
        allowed_bytes: Option<u64>,
    ) -> Result<CacheProbeFile, NotProbed> {
        let needed_bytes = sweep_bytes.saturating_add(PAGE_FILE_BYTES + PROBED_FILE_BYTES_MIN);
        if allowed_bytes.is_some_and(|allowed| allowed < needed_bytes) {
            return Err(NotProbed::NoOwnFile { cause: "--max-bytes leaves no room for it".to_owned() });
        }
        if !is_on_one_file_system(parent, beside).map_err(no_own_file_error)? {
            let cause = "nothing is written beside files that are only read".to_owned();
            return Err(NotProbed::NoOwnFile { cause });
        }
        let mut folder = SweepFolder::make(parent, needed_bytes, None).map_err(no_own_file_error)?;
        let mut written = |name: &str, size_bytes| {
            // The content is random, because a device could compress or deduplicate other content
            // and would not read it.
            let recipe = Recipe { kind: CorpusKind::Random, size_bytes, seed: PROBE_SEED };
            write::write(&mut folder, name.to_owned(), recipe, WriteWay::Fdatasync)?;
            Ok::<PathBuf, SweepError>(folder.path().join(name))
        };
        // A file of one page is enough to see the layers below, and whether they allow a cold file.
        let page = written("page", PAGE_FILE_BYTES).map_err(no_own_file_error)?;
        refuse_if_never_cold(&Target::examine(&page).map_err(no_own_file_error)?)?;
        let path = written("unread", PROBED_FILE_BYTES_MIN).map_err(no_own_file_error)?;
        Ok(CacheProbeFile { folder, path })
    }

    /// Reads parts of the file twice.
    pub(super) fn probe(self, seed: u64) -> Result<HiddenCache, NotProbed> {
        write::write_back(&self.folder).map_err(no_own_file_error)?;
        let target = Target::examine(&self.path).map_err(no_own_file_error)?;
        match CacheControl::open(&target, EvictionScope::OfFile).map_err(no_own_file_error)? {
            CacheControl::File { cache, .. } => Ok(probe_hidden_cache(&target, &cache, seed)),
            CacheControl::Web
            | CacheControl::Unknown { .. }
            | CacheControl::Names { .. }
            | CacheControl::Tree { .. } => Err(NotProbed::NotPlain),
        }
    }
}

/// Size of the file that shows the layers below.
const PAGE_FILE_BYTES: u64 = 4096;

/// Seed of the probe file. It differs from likely seeds of a sweep, so that no file of a sweep holds
/// the same random bytes.
const PROBE_SEED: u64 = 0x756e_7265_6164_00ff;

fn no_own_file_error(cause: impl std::fmt::Display) -> NotProbed {
    NotProbed::NoOwnFile { cause: cause.to_string() }
}

/// Refuses a target that cannot be made cold down to its device, because a hidden cache below it
/// cannot be found.
fn refuse_if_never_cold(target: &Target) -> Result<(), NotProbed> {
    if target.facts.unevictable_cache_names().is_some() {
        return Err(NotProbed::KnownCache);
    }
    let Ok(CacheControl::File { cache, .. }) = CacheControl::open(target, EvictionScope::OfFile) else {
        return Ok(());
    };
    match cache.evict() {
        Err(CacheError::RamBacked { .. } | CacheError::OwnCache { .. } | CacheError::Uncached { .. }) => {
            Err(NotProbed::NotPlain)
        }
        // A page that stays in memory for now does not affect a direct read.
        _ => Ok(()),
    }
}

fn is_on_one_file_system(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(FileStatus::of_path(one)?.device == FileStatus::of_path(other)?.device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A folder on a device; a folder for temporary files may be in memory.
    fn disk_folder() -> tempfile::TempDir {
        tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap()
    }

    fn write_error(folders: [&Path; 2], sweep_bytes: u64, allowed_bytes: Option<u64>) -> String {
        CacheProbeFile::write(folders, sweep_bytes, allowed_bytes).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn a_probe_file_is_large_enough_and_is_removed_with_its_folder() {
        let parent = disk_folder();
        let probe_file = match CacheProbeFile::write([parent.path(); 2], 10_000, None) {
            Ok(probe_file) => probe_file,
            Err(why) => return eprintln!("SKIPPED: {why}"),
        };
        assert_eq!(fs::metadata(&probe_file.path).unwrap().len(), PROBED_FILE_BYTES_MIN);
        let small = HiddenCache::NotProbed { why: NotProbed::SmallFile };
        assert_ne!(probe_file.probe(1), Ok(small));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0, "it was removed");
    }

    #[test]
    fn without_room_for_a_probe_file_there_is_a_reason_and_no_file_is_written() {
        let parent = disk_folder();
        let why =
            write_error([parent.path(); 2], 10_000, Some(PROBED_FILE_BYTES_MIN + PAGE_FILE_BYTES + 9_999));
        assert!(why.ends_with("--max-bytes leaves no room for it"), "{why}");
        let why = write_error([parent.path(); 2], 1 << 60, None);
        assert!(why.contains(" are needed, with a margin, and "), "{why}");
        let elsewhere = write_error([parent.path(), Path::new("/dev")], 10_000, None);
        assert!(elsewhere.ends_with("nothing is written beside files that are only read"), "{elsewhere}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn where_no_file_can_be_cold_no_large_probe_file_is_written() {
        let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
            return eprintln!("SKIPPED: no folder /dev/shm to write to");
        };
        let found = CacheProbeFile::write([memory.path(); 2], 10_000, None).map(drop);
        assert_eq!(found, Err(NotProbed::NotPlain));
    }
}
