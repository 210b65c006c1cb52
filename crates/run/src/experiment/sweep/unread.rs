//! The file of readlab's own in which a sweep looks for a cache below: no file of the sweep may be
//! read before its timed reading.
//!
//! It is written before the files of the sweep, so that these come between its writing and its
//! reading: a cache that keeps what was written last then holds them and not it. What is probed,
//! and how, lives in [`readlab_measure::hidden_cache`].

use super::{SweepError, SweepFolder, write};
use readlab_measure::cache::{CacheError, Eviction, TargetCache};
use readlab_measure::hidden_cache::{FILE_BYTES_MIN, probe};
use readlab_measure::target::CacheControl;
use readlab_model::corpus::{CorpusKind, Recipe};
use readlab_model::target::hidden_cache::{HiddenCache, NotProbed};
use readlab_record::WriteWay;
use readlab_system::file_status::FileStatus;
use readlab_targets::target::Target;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file that nobody has read, in a folder that goes away with it.
pub(super) struct CacheProbeFile {
    folder: SweepFolder,
    path: PathBuf,
}

impl CacheProbeFile {
    /// In a new folder below `parent`, if that lies where `beside` does and there is room for it and
    /// what the sweep will write, where the user allows so much in all; or why it is not there.
    pub(super) fn write(
        [parent, beside]: [&Path; 2],
        sweep_bytes: u64,
        allowed_bytes: Option<u64>,
    ) -> Result<CacheProbeFile, NotProbed> {
        let needed_bytes = sweep_bytes.saturating_add(FILE_BYTES_MIN);
        if allowed_bytes.is_some_and(|allowed| allowed < needed_bytes) {
            return Err(NotProbed::NoOwnFile { cause: "--max-bytes leaves no room for it".to_owned() });
        }
        if !is_on_one_file_system(parent, beside).map_err(no_own_file)? {
            let cause = "nothing is written beside files that are only read".to_owned();
            return Err(NotProbed::NoOwnFile { cause });
        }
        let mut folder = SweepFolder::make(parent, needed_bytes, None).map_err(no_own_file)?;
        let mut written = |name: &str, size_bytes| {
            // What a device could compress, or knows already, it would not read.
            let recipe = Recipe { kind: CorpusKind::Random, size_bytes, seed: SEED };
            write::write(&mut folder, name.to_owned(), recipe, WriteWay::Fdatasync)?;
            Ok::<PathBuf, SweepError>(folder.path().join(name))
        };
        // A page tells what lies below as well as a large file does.
        let page = written("page", 4096).map_err(no_own_file)?;
        may_be_cold(&Target::examine(&page).map_err(no_own_file)?)?;
        let path = written("unread", FILE_BYTES_MIN).map_err(no_own_file)?;
        Ok(CacheProbeFile { folder, path })
    }

    /// Reads parts of it twice.
    pub(super) fn probe(self, seed: u64) -> HiddenCache {
        let why = |why| HiddenCache::NotProbed { why };
        if let Err(cause) = write::settle(&self.folder) {
            return why(no_own_file(cause));
        }
        let target = match Target::examine(&self.path) {
            Ok(target) => target,
            Err(cause) => return why(no_own_file(cause)),
        };
        match CacheControl::open(&target, Eviction::OfFile) {
            Ok(CacheControl::File { cache, .. }) => probe(&target, &cache, seed),
            Ok(CacheControl::Web | CacheControl::Tree { .. }) => why(NotProbed::NotPlain),
            Err(cause) => why(no_own_file(cause)),
        }
    }
}

/// Its seed: no file of a sweep holds the same random bytes by chance.
const SEED: u64 = 0x756e_7265_6164_00ff;

fn no_own_file(cause: impl std::fmt::Display) -> NotProbed {
    NotProbed::NoOwnFile { cause: cause.to_string() }
}

/// Whether a file can be made cold there down to its device, so that there is something to look
/// for.
fn may_be_cold(target: &Target) -> Result<(), NotProbed> {
    if target.facts.cold_above().is_some() {
        return Err(NotProbed::KnownCache);
    }
    let Ok(CacheControl::File { cache, .. }) = CacheControl::open(target, Eviction::OfFile) else {
        return Ok(());
    };
    match cache.evict() {
        Err(CacheError::RamBacked { .. } | CacheError::OwnCache { .. } | CacheError::Uncached { .. }) => {
            Err(NotProbed::NotPlain)
        }
        // What keeps a page in memory for now does not answer a direct read.
        _ => Ok(()),
    }
}

fn is_on_one_file_system(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(FileStatus::from(&fs::metadata(one)?).device == FileStatus::from(&fs::metadata(other)?).device)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not the folder for temporary files: that may live in memory.
    fn place() -> tempfile::TempDir {
        tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap()
    }

    fn why_not(folders: [&Path; 2], sweep_bytes: u64, allowed_bytes: Option<u64>) -> String {
        CacheProbeFile::write(folders, sweep_bytes, allowed_bytes).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn it_is_large_enough_and_goes_away_with_its_folder() {
        let parent = place();
        let it = match CacheProbeFile::write([parent.path(); 2], 10_000, None) {
            Ok(it) => it,
            Err(why) => return eprintln!("SKIPPED: {why}"),
        };
        assert_eq!(fs::metadata(&it.path).unwrap().len(), FILE_BYTES_MIN);
        let found = it.probe(1);
        let small = HiddenCache::NotProbed { why: NotProbed::SmallFile };
        assert_ne!(found, small);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0, "it was removed");
    }

    #[test]
    fn where_there_is_no_room_for_it_the_reason_is_said_and_nothing_is_written() {
        let parent = place();
        let why = why_not([parent.path(); 2], 10_000, Some(FILE_BYTES_MIN + 9_999));
        assert!(why.ends_with("--max-bytes leaves no room for it"), "{why}");
        let why = why_not([parent.path(); 2], 1 << 60, None);
        assert!(why.contains(" are needed, with a margin, and "), "{why}");
        let elsewhere = why_not([parent.path(), Path::new("/dev")], 10_000, None);
        assert!(elsewhere.ends_with("nothing is written beside files that are only read"), "{elsewhere}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn where_nothing_can_be_cold_nothing_large_is_written_for_it() {
        let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
            return eprintln!("SKIPPED: no folder /dev/shm to write to");
        };
        let found = CacheProbeFile::write([memory.path(); 2], 10_000, None).map(drop);
        assert_eq!(found, Err(NotProbed::NotPlain));
    }
}
