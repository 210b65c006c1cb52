//! The folder of one run: where its record and its report live.
//!
//! Either the one that the user named, or a new one with the time in its name under the user's data
//! folder. Nothing is ever written over.

pub mod scratch;

use std::io;
use std::path::{Component, Path, PathBuf};

/// The name of a page beside its record.
pub const REPORT: &str = "report.html";

/// The folder of flame graphs beside a record.
pub const FLAME_GRAPHS: &str = "flamegraphs";

/// A folder made for one run.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
    /// Whether it was made for this run.
    is_new: bool,
}

/// Why there is no folder for a run.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It cannot be made.
    #[error("{path}: {cause}")]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It holds a record already.
    #[error("{0}: holds a record already; nothing is written over")]
    Taken(PathBuf),
    /// The user has no data folder.
    #[error("no folder for the record: {0}; name one with --output")]
    NoHome(String),
}

impl RunFolder {
    /// The folder that the user named, or a new one.
    ///
    /// # Errors
    /// If it cannot be made or holds a record already.
    pub fn make(named: Option<&Path>) -> Result<RunFolder, FolderError> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => runs()?.join(new_name()),
        };
        let is_new = !path.exists();
        std::fs::create_dir_all(&path).map_err(|cause| FolderError::Io { path: path.clone(), cause })?;
        let folder = RunFolder { path: without_parents(path), is_new };
        if folder.record().exists() { Err(FolderError::Taken(folder.path)) } else { Ok(folder) }
    }

    /// Removes the folder if it was made for a run that did not begin and left nothing in it.
    pub fn abandon(&self) {
        if self.is_new {
            // Whatever is in it stays, and the reason why the run did not begin is told instead.
            let _ = std::fs::remove_dir(&self.path);
        }
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its record belongs.
    #[must_use]
    pub fn record(&self) -> PathBuf {
        self.path.join("record.jsonl")
    }
}

/// A folder that is there, by its real name if its own has a `..`: a page's links are cut where a
/// `..` is behind a link.
fn without_parents(path: PathBuf) -> PathBuf {
    let has_parents = path.components().any(|part| part == Component::ParentDir);
    let real = if has_parents { path.canonicalize().ok() } else { None };
    real.unwrap_or(path)
}

/// The folder of all runs of this user.
///
/// # Errors
/// If the user has no home folder.
pub fn runs() -> Result<PathBuf, FolderError> {
    use etcetera::BaseStrategy;
    let base = etcetera::choose_base_strategy().map_err(|error| FolderError::NoHome(error.to_string()))?;
    Ok(base.data_dir().join("readlab").join("runs"))
}

/// The folder of notes about what a run makes for itself and removes again
/// ([`crate::folder::scratch`]).
///
/// # Errors
/// If the user has no home folder.
pub fn unfinished() -> Result<PathBuf, FolderError> {
    runs().map(|runs| runs.with_file_name("unfinished"))
}

/// The time in UTC, and the process, so that two runs of one second do not meet.
fn new_name() -> String {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ");
    format!("{now}-{}", std::process::id())
}
