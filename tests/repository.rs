//! The files of the repository that tests read.

use std::fs;
use std::path::{Path, PathBuf};

/// A file or folder, by its path from the root.
pub(crate) fn path(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    root.join(name)
}

#[track_caller]
pub(crate) fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A golden record, by its name without the ending.
pub(crate) fn golden(name: &str) -> PathBuf {
    path(&format!("tests/golden/{name}.jsonl"))
}
