//! Files of many sizes in a separate folder: `readlab sweep` writes them, times the writing, and
//! reads them.
//!
//! Readlab creates the folder. A kept folder has a list of the written files, by which it is
//! recognized after a restart. Dropping a [`SweepFolder`] removes the folder, on success, on error
//! and on Ctrl-C, unless it is kept; [`readlab_system::folder::scratch`] reports folders that a
//! killed run left. [`readlab_measure::sequence`] reads the files; `readlab_report` reports a sweep.

pub mod config;
pub mod run;
mod unread;
pub mod write;

use readlab_corpus::oracle;
use readlab_model::corpus::{CorpusKind, Recipe};
use readlab_model::trial::Answer;
use readlab_model::units::Bytes;
use readlab_system::folder::scratch::ScratchFolder;
use readlab_system::terminal::printable::display_path;
use readlab_system::{filesystem, interrupt};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenFile {
    pub name: String,
    pub recipe: Recipe,
    /// XXH3 of the file's content, 64 bits, hexadecimal.
    pub digest: String,
    pub answer: Answer,
}

/// The list of the written files, which a kept folder holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    made_by: String,
    files: Vec<WrittenFile>,
}

#[derive(Debug)]
pub struct SweepFolder {
    origin: FolderOrigin,
    /// The written files, in the order of writing.
    pub files: Vec<WrittenFile>,
}

#[derive(Debug)]
enum FolderOrigin {
    /// A folder that this run created.
    Own(ScratchFolder),
    /// A folder that an earlier run kept.
    Kept(PathBuf),
}

#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    #[error("{}: {cause}", display_path(.path))]
    Refused { path: PathBuf, cause: String },
    #[error(
        "the files and the one for warming up would hold {}, --max-bytes allows {}",
        Bytes(*wanted_bytes),
        Bytes(*allowed_bytes)
    )]
    TooManyBytes { wanted_bytes: u64, allowed_bytes: u64 },
    #[error("interrupted")]
    Interrupted,
}

impl SweepError {
    /// Refuses the folder or file at this path.
    fn refused(path: &Path, cause: impl ToString) -> SweepError {
        SweepError::Refused { path: path.to_owned(), cause: cause.to_string() }
    }
}

const MADE_BY: &str = "readlab sweep";
const MANIFEST_FILE: &str = "sweep.json";

/// Free space that must remain, in addition to a twentieth of the written bytes.
const FREE_MARGIN_BYTES_MIN: u64 = 64 << 20;

impl SweepFolder {
    /// Creates a new folder below `parent`, if everything fits.
    pub fn make(
        parent: &Path,
        total_bytes: u64,
        allowed_bytes: Option<u64>,
    ) -> Result<SweepFolder, SweepError> {
        if let Some(allowed_bytes) = allowed_bytes.filter(|allowed| total_bytes > *allowed) {
            return Err(SweepError::TooManyBytes { wanted_bytes: total_bytes, allowed_bytes });
        }
        check_free_space(parent, total_bytes)?;
        let made = ScratchFolder::make(parent, "sweep").map_err(io_error_at(parent))?;
        Ok(SweepFolder { origin: FolderOrigin::Own(made), files: Vec::new() })
    }

    /// Opens a folder that an earlier run kept. Refuses it if a file was added, is missing or has
    /// another size.
    pub fn open_kept_folder(path: &Path) -> Result<SweepFolder, SweepError> {
        let not_kept = |cause: String| SweepError::refused(path, cause);
        let text = fs::read(path.join(MANIFEST_FILE))
            .map_err(|cause| not_kept(format!("no folder that a sweep kept: {MANIFEST_FILE}: {cause}")))?;
        let manifest: Manifest =
            serde_json::from_slice(&text).map_err(|cause| not_kept(format!("{MANIFEST_FILE}: {cause}")))?;
        if manifest.made_by != MADE_BY {
            return Err(not_kept(format!("{MANIFEST_FILE} was made by '{}'", manifest.made_by)));
        }
        let listed: BTreeSet<OsString> = manifest.files.iter().map(|file| file.name.clone().into()).collect();
        let there: BTreeSet<OsString> =
            file_names(path)?.into_iter().filter(|name| name != MANIFEST_FILE).collect();
        if let Some(missing) = listed.difference(&there).next() {
            return Err(not_kept(format!("{} is missing", missing.to_string_lossy())));
        }
        if let Some(added) = there.difference(&listed).next() {
            return Err(not_kept(format!("{} was added", added.to_string_lossy())));
        }
        for file in &manifest.files {
            let size_bytes = path.join(&file.name).symlink_metadata().map_err(io_error_at(path))?.len();
            if size_bytes != file.recipe.size_bytes {
                let should = file.recipe.size_bytes;
                return Err(not_kept(format!(
                    "{} was changed: {size_bytes} bytes instead of {should}",
                    file.name
                )));
            }
        }
        Ok(SweepFolder { origin: FolderOrigin::Kept(path.to_owned()), files: manifest.files })
    }

    /// Reads every file and compares its content with what was written. Must run after all
    /// measurements, because it fills the page cache and every cache below it.
    pub fn check_content(&self) -> Result<(), SweepError> {
        let changed = |cause: String| SweepError::refused(self.path(), cause);
        for file in &self.files {
            if interrupt::is_stop_requested() {
                return Err(SweepError::Interrupted);
            }
            let path = self.path().join(&file.name);
            let found = oracle::truth_of_file(&path).map_err(|cause| changed(cause.to_string()))?;
            if found.digest != file.digest {
                return Err(changed(format!("{} holds other bytes than were written", file.name)));
            }
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        match &self.origin {
            FolderOrigin::Own(scratch) => scratch.path(),
            FolderOrigin::Kept(path) => path,
        }
    }

    /// Keeps the folder, and writes its list.
    pub fn keep(&mut self) -> Result<(), SweepError> {
        let manifest = Manifest { made_by: MADE_BY.to_owned(), files: self.files.clone() };
        let text = serde_json::to_vec_pretty(&manifest).expect("the list holds only strings and numbers");
        fs::write(self.path().join(MANIFEST_FILE), text).map_err(io_error_at(self.path()))?;
        if let FolderOrigin::Own(scratch) = &mut self.origin {
            scratch.keep();
        }
        Ok(())
    }

    /// The indexes of the files, in the order in which the folder lists them.
    pub fn indexes_in_directory_order(&self) -> Result<Vec<usize>, SweepError> {
        let index = |name: &OsString| self.files.iter().position(|file| *name == *file.name);
        Ok(file_names(self.path())?.iter().filter_map(index).collect())
    }
}

/// The names and recipes of the files, in the order of writing, which cycles through the sizes.
pub fn named_recipes(sizes: &[u64], repeat: u32, kind: CorpusKind, seed: u64) -> Vec<(String, Recipe)> {
    let one = |cycle: u32, at: usize, size_bytes: u64| {
        let number = u64::from(cycle) * sizes.len() as u64 + at as u64;
        let name = format!("{number:04}-{}.bin", Bytes(size_bytes).to_string().replace(' ', ""));
        // Every file has different bytes, so that a device that deduplicates finds no duplicates.
        (name, Recipe { kind, size_bytes, seed: seed.wrapping_add(number) })
    };
    (0..repeat)
        .flat_map(|cycle| sizes.iter().enumerate().map(move |(at, &size)| one(cycle, at, size)))
        .collect()
}

fn check_free_space(folder: &Path, total_bytes: u64) -> Result<(), SweepError> {
    let free_bytes = filesystem::free_bytes(folder).map_err(io_error_at(folder))?;
    let needed_bytes = total_bytes.saturating_add(total_bytes / 20).saturating_add(FREE_MARGIN_BYTES_MIN);
    if free_bytes < needed_bytes {
        let (needed, free) = (Bytes(needed_bytes), Bytes(free_bytes));
        let cause = format!(
            "{needed} are needed, with a margin, and {free} are free: smaller --sizes or a lower --repeat need less"
        );
        return Err(SweepError::refused(folder, cause));
    }
    Ok(())
}

fn file_names(folder: &Path) -> Result<Vec<OsString>, SweepError> {
    let entries = fs::read_dir(folder).map_err(io_error_at(folder))?;
    entries.map(|entry| Ok(entry.map_err(io_error_at(folder))?.file_name())).collect()
}

pub(crate) fn io_error_at(path: &Path) -> impl FnOnce(io::Error) -> SweepError {
    move |cause| SweepError::refused(path, cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::sweep::write::write;
    use readlab_record::WriteWay;

    fn sweep_folder(parent: &Path) -> SweepFolder {
        let mut folder = SweepFolder::make(parent, 30_000, None).unwrap();
        for (name, recipe) in named_recipes(&[10_000, 512], 2, CorpusKind::A, 1) {
            write(&mut folder, name, recipe, WriteWay::Plain).unwrap();
        }
        folder
    }

    #[test]
    fn sizes_are_cycled_through_and_no_two_files_share_a_seed() {
        let made = named_recipes(&[10_000, 2_000_000_000], 2, CorpusKind::Random, 5);
        let file_names: Vec<&str> = made.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(file_names, ["0000-10.0kB.bin", "0001-2.00GB.bin", "0002-10.0kB.bin", "0003-2.00GB.bin"]);
        let seeds: BTreeSet<u64> = made.iter().map(|(_, recipe)| recipe.seed).collect();
        assert_eq!(seeds.len(), 4);
    }

    #[test]
    fn a_folder_goes_away_unless_it_is_kept() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = sweep_folder(parent.path());
        let path = folder.path().to_owned();
        assert!(path.exists());
        folder.keep().unwrap();
        drop(folder);
        let again = SweepFolder::open_kept_folder(&path).unwrap();
        assert_eq!(again.files.len(), 4);
        drop(again);
        assert!(path.exists(), "a kept folder is only read");
        let path = sweep_folder(parent.path()).path().to_owned();
        assert!(!path.exists());
    }

    #[test]
    fn a_kept_folder_that_was_touched_is_refused_with_the_name() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = sweep_folder(parent.path());
        folder.keep().unwrap();
        let path = folder.path().to_owned();
        let refused = |what: &str| {
            let error = SweepFolder::open_kept_folder(&path).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        };
        fs::write(path.join("extra"), "").unwrap();
        refused("extra was added");
        fs::remove_file(path.join("extra")).unwrap();
        fs::write(path.join(&folder.files[1].name), "short").unwrap();
        refused("was changed: 5 bytes instead of 512");
        fs::remove_file(path.join(&folder.files[0].name)).unwrap();
        refused("is missing");
        assert!(SweepFolder::open_kept_folder(parent.path()).is_err());
    }

    #[test]
    fn content_that_was_changed_at_the_same_size_is_found() {
        let parent = tempfile::tempdir().unwrap();
        let folder = sweep_folder(parent.path());
        folder.check_content().unwrap();
        fs::write(folder.path().join(&folder.files[1].name), [b'B'; 512]).unwrap();
        let error = folder.check_content().unwrap_err().to_string();
        assert!(error.contains("0001-512B.bin holds other bytes than were written"), "{error}");
    }

    #[test]
    fn no_more_is_written_than_was_allowed_or_fits() {
        let parent = tempfile::tempdir().unwrap();
        let make = |total, allowed| SweepFolder::make(parent.path(), total, allowed).map(drop).unwrap_err();
        assert!(matches!(make(11, Some(10)), SweepError::TooManyBytes { .. }));
        let said = make(1 << 60, None).to_string();
        assert!(said.contains(" are needed, with a margin, and ") && said.contains("--sizes"), "{said}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
