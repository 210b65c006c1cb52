//! Fixtures for tests of several modules: files on a device, targets and their expected answers.

use crate::target::SweepTarget;
use readlab_corpus::oracle::Truth;
use readlab_model::target::TargetFacts;
use readlab_model::trial::Answer;
use readlab_system::page_cache;
use readlab_targets::target::filesystem::{Backing, Filesystem};
use readlab_targets::target::tree::{ListSource, TreeRequest};
use readlab_targets::target::{Place, Target};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A folder beside this program, on a device. A temporary folder may be on a file system in memory,
/// whose files cannot be evicted.
pub(crate) fn disk_folder() -> TempDir {
    tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap()
}

/// An evicted file of this content in a disk folder; `None` if the file system does not suit a
/// test.
pub(crate) fn disk_file(content: &[u8], suits: fn(Backing) -> bool) -> Option<(TempDir, PathBuf)> {
    let folder = disk_folder();
    let path = folder.path().join("file");
    fs::write(&path, content).unwrap();
    let filesystem = Filesystem::read(&File::open(&path).unwrap()).unwrap();
    if !suits(filesystem.backing) {
        eprintln!("SKIPPED: the build folder is on {filesystem}");
        return None;
    }
    evict(&path);
    Some((folder, path))
}

pub(crate) fn evict(path: &Path) {
    let file = File::open(path).unwrap();
    page_cache::write_back(&file).unwrap();
    page_cache::evict(&file).unwrap();
}

pub(crate) fn target(place: Place, size_bytes: u64) -> Target {
    let facts = TargetFacts { path: "target".to_owned(), size_bytes, ..TargetFacts::default() };
    Target { place, part: None, copies: None, facts, evictable: Vec::new() }
}

/// The files of a folder, in the order of their names.
pub(crate) fn tree_target(folder: &Path) -> Target {
    Target::examine_tree(&TreeRequest::by_name(ListSource::Folder(folder.to_owned()))).unwrap()
}

pub(crate) fn truth(answer: Answer, wall_ns: u64) -> Truth {
    Truth { is_text: true, ..Truth::new(answer, String::new(), Duration::from_nanos(wall_ns)) }
}

pub(crate) fn sweep_target(file: &Path, size_bytes: u64) -> SweepTarget {
    let target = target(Place::File(file.to_owned()), size_bytes);
    SweepTarget { target, truth: truth(Answer::default(), 1) }
}
