//! The files of the repository that tests read.

use readlab_record::testing::scripted;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The path of a file or folder, given by its path from the root.
pub(crate) fn path(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    root.join(name)
}

#[track_caller]
pub(crate) fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub(crate) fn record_file(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scripted");
        fs::create_dir_all(&folder).unwrap();
        for name in scripted::names() {
            fs::write(folder.join(format!("{name}.jsonl")), scripted::text(name)).unwrap();
        }
        folder
    });
    folder.join(format!("{name}.jsonl"))
}
