//! The folder of one run, which holds its record and its report.
//!
//! The user names the folder, or it is a new folder in the user's data folder, with the time in its
//! name. No file in it is overwritten.

pub mod earlier_output;
#[cfg(target_os = "linux")]
pub mod output_file;
#[cfg(target_os = "linux")]
pub mod own_paths;
#[cfg(target_os = "linux")]
pub mod scratch;

use std::io;
use std::path::{Component, Path, PathBuf};

pub const RECORD: &str = "record.jsonl";

/// The hidden name of a record's file before it gets the name [`RECORD`], on file systems without
/// unnamed files. If a killed run leaves the file, the next run in this folder reuses it.
pub const RECORD_DRAFT: &str = ".record.jsonl.new";

pub const REPORT: &str = "report.html";

pub const FLAME_GRAPHS: &str = "flamegraphs";

#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
    /// True if the folder was created for this run.
    is_new: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("{path}: {cause}")]
    Io { path: PathBuf, cause: io::Error },
    #[error("{path}: has a {what} already, which is not overwritten")]
    Taken { path: PathBuf, what: &'static str },
    #[error("no folder for the record: {0}; name one with --output")]
    NoHome(String),
    #[error("{path}: {cause}; name a folder for the record with --output")]
    NoRuns { path: PathBuf, cause: io::Error },
}

impl RunFolder {
    pub fn make(named: Option<&Path>) -> Result<RunFolder, FolderError> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => unused_run_path(&runs_folder()?),
        };
        let is_new = !path.exists();
        std::fs::create_dir_all(&path).map_err(|cause| {
            let path = path.clone();
            if named.is_some() {
                FolderError::Io { path, cause }
            } else {
                FolderError::NoRuns { path, cause }
            }
        })?;
        let folder = RunFolder { path: resolve_dot_dot(path), is_new };
        let files = [(folder.record_path(), "record"), (folder.path.join(REPORT), "report")];
        match files.into_iter().find(|(file, _)| file.symlink_metadata().is_ok()) {
            Some((_, what)) => Err(FolderError::Taken { path: folder.path, what }),
            None => Ok(folder),
        }
    }

    /// Removes the folder if it was created for a run that did not begin, and is empty.
    pub fn remove_if_unused(&self) {
        if self.is_new {
            // A folder with files in it stays. The user learns anyway why the run did not begin.
            let _ = std::fs::remove_dir(&self.path);
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn record_path(&self) -> PathBuf {
        self.path.join(RECORD)
    }
}

pub fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Resolves an existing folder if its path has a `..`. Browsers remove a `..` from the links of a
/// page, even if it follows a symbolic link.
fn resolve_dot_dot(path: PathBuf) -> PathBuf {
    let has_parents = path.components().any(|part| part == Component::ParentDir);
    let real = if has_parents { path.canonicalize().ok() } else { None };
    real.unwrap_or(path)
}

pub fn runs_folder() -> Result<PathBuf, FolderError> {
    use etcetera::BaseStrategy;
    let base = etcetera::choose_base_strategy().map_err(|error| FolderError::NoHome(error.to_string()))?;
    Ok(base.data_dir().join("readlab").join("runs"))
}

/// The folder of the notes about scratch folders and files ([`crate::folder::scratch`]).
pub fn scratch_notes_folder() -> Result<PathBuf, FolderError> {
    runs_folder().map(|runs| runs.with_file_name("unfinished"))
}

/// A path in `runs` that does not exist yet. Its name is the time in UTC and the process id, because
/// two processes may begin runs in the same second. If one process begins several runs in a second,
/// a number follows.
fn unused_run_path(runs: &Path) -> PathBuf {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ");
    let first = format!("{now}-{}", std::process::id());
    let names = std::iter::once(first.clone()).chain((2..).map(|number| format!("{first}-{number}")));
    let mut paths = names.map(|name| runs.join(name));
    paths.find(|path| !path.exists()).expect("numbers do not end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_of_one_process_in_one_second_get_different_folders() {
        let runs = tempfile::tempdir().unwrap();
        let mut made = Vec::new();
        for _ in 0..3 {
            let path = unused_run_path(runs.path());
            std::fs::create_dir(&path).unwrap();
            made.push(path);
        }
        assert!(made[0] != made[1] && made[1] != made[2], "{made:?}");
    }
}
