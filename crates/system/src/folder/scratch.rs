//! Scratch folders, which readlab removes at its end; files that runtimes write; and the folders and
//! files of these kinds that killed runs left.
//!
//! While a scratch folder or file exists, a note with its path is in the user's data folder. The
//! run that made the folder or file holds a lock on the note. A note without a lock is from a
//! killed run: the next run reports the leftover folder or file, and the command that removes it.
//! readlab never removes files of another run.

use crate::file_status::FileStatus;
use crate::folder;
use crate::open_file::create_private_folder;
use crate::program::PidNamedFile;
use crate::terminal::notice;
use crate::terminal::printable::printable;
use readlab_model::units::Bytes;
use readlab_protocol::MAP_SUFFIX;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const NAME_PREFIX: &str = "readlab-";

/// A runtime such as V8 writes the names of functions that it compiles to `/tmp/perf-PID.map`.
const PERF_MAPS_FOLDER: &str = "/tmp";
const PERF_MAP_PREFIX: &str = "perf-";

/// A scratch folder, removed when this value is dropped unless `keep` was called. Only its owner
/// may enter it, so that no other user can change what is measured in it.
#[derive(Debug)]
pub struct ScratchFolder {
    path: PathBuf,
    note: Option<ScratchNote>,
    is_kept: bool,
}

/// The note about a scratch folder or file. Its lock ends with the process.
#[derive(Debug)]
pub struct ScratchNote {
    path: PathBuf,
    _locked: File,
}

/// A folder or file that a killed run left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    pub path: PathBuf,
    pub bytes: u64,
}

/// The file to which the runtime of a process writes the names of functions that it compiles.
pub fn perf_map_of(pid: u32) -> PathBuf {
    Path::new(PERF_MAPS_FOLDER).join(format!("{PERF_MAP_PREFIX}{pid}{MAP_SUFFIX}"))
}

/// The path of the same file for a program that has no process id yet. The program's process creates
/// the file before its runtime starts, because a runtime writes to any existing file of this name,
/// even through a link.
pub fn pid_named_perf_map() -> PidNamedFile {
    let before = Path::new(PERF_MAPS_FOLDER).join(PERF_MAP_PREFIX).into_os_string();
    PidNamedFile { before_pid: before, after_pid: MAP_SUFFIX.into() }
}

/// True for a scratch folder of this process, and for every file that a runtime may write.
pub fn is_own_or_perf_map(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return false };
    let is_map = || name.starts_with(PERF_MAP_PREFIX) && name.ends_with(MAP_SUFFIX);
    has_own_pid(name) || path.parent() == Some(Path::new(PERF_MAPS_FOLDER)) && is_map()
}

/// True if this is the name of a scratch folder, or of its note, and contains the id of this
/// process.
fn has_own_pid(name: &str) -> bool {
    name.starts_with(NAME_PREFIX) && name.contains(&format!("-{:x}-", std::process::id()))
}

/// True if scratch folders or files of runtimes are created in this folder.
pub fn may_exist_directly_in(folder: &Path) -> bool {
    let temporary = std::env::temp_dir();
    folder == Path::new(PERF_MAPS_FOLDER) || fs::canonicalize(temporary).is_ok_and(|own| own == folder)
}

/// The folder for files of runtimes, whose place no option and no variable changes, if it is below
/// this folder.
pub(super) fn runtime_files_folder_below(folder: &Path) -> Option<PathBuf> {
    Some(PathBuf::from(PERF_MAPS_FOLDER)).filter(|own| own.starts_with(folder))
}

/// The folder in which scratch folders are created by default, if it is below this folder.
pub(super) fn temporary_folder_below(folder: &Path) -> Option<PathBuf> {
    fs::canonicalize(std::env::temp_dir()).ok().filter(|own| own.starts_with(folder))
}

impl ScratchFolder {
    /// Creates a folder in `parent`, with the purpose in its name. The note is written first.
    pub fn make(parent: &Path, purpose: &str) -> io::Result<ScratchFolder> {
        let parent = std::path::absolute(parent)?;
        loop {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let name = format!("{NAME_PREFIX}{purpose}-{:x}-{:x}", std::process::id(), now.as_nanos());
            let path = parent.join(&name);
            // Notes cannot be written for a user without a home folder.
            let note = folder::scratch_notes_folder()
                .ok()
                .and_then(|notes| ScratchNote::new(&notes, &name, &path).ok());
            match create_private_folder(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| ScratchFolder { path, note, is_kept: false }),
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn keep(&mut self) {
        self.is_kept = true;
        self.note = None;
    }
}

/// Two values are equal if they name the same folder.
impl PartialEq for ScratchFolder {
    fn eq(&self, other: &ScratchFolder) -> bool {
        self.path == other.path
    }
}

impl Eq for ScratchFolder {}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        if let Err(error) = fs::remove_dir_all(&self.path) {
            notice::show(format!("{}: could not be removed: {error}", self.path.display()));
        }
    }
}

impl ScratchNote {
    /// Writes a note about the file that the runtime of the process `pid` may write; `None` if notes
    /// cannot be written.
    pub fn of_perf_map(pid: u32) -> Option<ScratchNote> {
        let path = perf_map_of(pid);
        let name = format!("{}-{:x}", path.file_name()?.display(), std::process::id());
        ScratchNote::new(&folder::scratch_notes_folder().ok()?, &name, &path).ok()
    }

    fn new(notes: &Path, name: &str, noted: &Path) -> io::Result<ScratchNote> {
        fs::create_dir_all(notes)?;
        let path = notes.join(name);
        loop {
            let mut file = File::create_new(&path)?;
            file.lock()?;
            // Another run may have opened the note before it was locked, and removed it because it
            // was empty.
            if FileStatus::read(&file)?.hard_links > 0 {
                file.write_all(noted.as_os_str().as_bytes())?;
                return Ok(ScratchNote { path, _locked: file });
            }
        }
    }
}

impl Drop for ScratchNote {
    fn drop(&mut self) {
        // If the note cannot be removed, the next run finds and removes it.
        let _ = fs::remove_file(&self.path);
    }
}

impl Leftover {
    pub fn remedy(&self) -> String {
        let path = printable(&self.path.to_string_lossy());
        format!("rm -r {}", shell_words::quote(&path))
    }
}

/// Removes the scratch folders of this process, which is about to end without dropping them.
pub fn remove_own_folders() {
    let notes = folder::scratch_notes_folder().map(fs::read_dir);
    for note in notes.into_iter().flatten().flatten().flatten().map(|note| note.path()) {
        let has_name = note.file_name().and_then(OsStr::to_str).is_some_and(has_own_pid);
        // A note with the id of this process and without a lock is from an earlier process.
        let is_locked = || File::open(&note).is_ok_and(|file| file.try_lock().is_err());
        if has_name && is_locked() {
            let folder = fs::read(&note).map(|text| PathBuf::from(OsStr::from_bytes(&text)));
            if folder.and_then(fs::remove_dir_all).is_ok() {
                // If the note stays, the next run removes it, because its folder is gone.
                let _ = fs::remove_file(&note);
            }
        }
    }
}

pub fn report_leftovers() {
    for leftover in leftovers() {
        let (path, bytes) = (leftover.path.display(), Bytes(leftover.bytes));
        notice::show(format!(
            "left by a run that was killed: {path} ({bytes}); to remove it: {}",
            leftover.remedy()
        ));
    }
}

pub fn leftovers() -> Vec<Leftover> {
    folder::scratch_notes_folder().map(|notes| leftovers_in(&notes)).unwrap_or_default()
}

fn leftovers_in(notes: &Path) -> Vec<Leftover> {
    let notes = fs::read_dir(notes).into_iter().flatten().flatten();
    let mut leftovers: Vec<Leftover> = notes.filter_map(|note| leftover_of_note(&note.path())).collect();
    leftovers.sort_by(|a, b| a.path.cmp(&b.path));
    leftovers
}

/// The folder or file that the note of a killed run names; `None` for the note of a running run. A
/// note that is empty, or whose folder or file is gone, is removed.
fn leftover_of_note(note: &Path) -> Option<Leftover> {
    let mut file = File::open(note).ok()?;
    file.try_lock().ok()?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).ok()?;
    let path = PathBuf::from(OsStr::from_bytes(&text));
    let found = fs::symlink_metadata(&path);
    if text.is_empty() || found.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        // Another run may have removed the note at the same time.
        let _ = fs::remove_file(note);
        return None;
    }
    let found = found.ok()?;
    let name = path.file_name()?.to_string_lossy();
    if found.is_dir() && name.starts_with(NAME_PREFIX) {
        let entries = fs::read_dir(&path).into_iter().flatten();
        let bytes = entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum();
        Some(Leftover { path, bytes })
    } else if found.is_file() && is_runtime_map(&path, &name) {
        Some(Leftover { path, bytes: found.len() })
    } else {
        None
    }
}

fn is_runtime_map(path: &Path, name: &str) -> bool {
    let pid = name.strip_prefix(PERF_MAP_PREFIX).and_then(|rest| rest.strip_suffix(MAP_SUFFIX));
    path.parent() == Some(Path::new(PERF_MAPS_FOLDER)) && pid.is_some_and(|pid| pid.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_left_over_when_its_note_is_not_locked() {
        let home = tempfile::tempdir().unwrap();
        let (notes, folder) = (home.path().join("notes"), home.path().join("readlab-x it's"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("f"), "1234").unwrap();
        let note = ScratchNote::new(&notes, "one", &folder).unwrap();
        assert!(leftovers_in(&notes).is_empty(), "its run is running");
        let path = note.path.clone();
        // Simulates a killed run: the lock is gone, and the note is still there.
        let text = fs::read(&path).unwrap();
        drop(note);
        fs::write(&path, text).unwrap();
        let leftovers = leftovers_in(&notes);
        assert_eq!(leftovers, [Leftover { path: folder.clone(), bytes: 4 }]);
        assert!(leftovers[0].remedy().starts_with("rm -r '") && leftovers[0].remedy().contains("it'\\''s"));
        fs::remove_dir_all(&folder).unwrap();
        assert!(leftovers_in(&notes).is_empty() && !path.exists(), "an empty note is removed");
        fs::write(&path, "").unwrap();
        assert!(leftovers_in(&notes).is_empty() && !path.exists(), "its run was killed at its beginning");
        fs::write(&path, "/etc").unwrap();
        assert!(leftovers_in(&notes).is_empty(), "a folder with another name is not reported");
    }

    #[test]
    fn only_a_file_that_a_runtime_wrote_is_reported() {
        let home = tempfile::tempdir().unwrap();
        let notes = home.path().join("notes");
        // No process has this id, because the largest is 2^22.
        let map = perf_map_of((1 << 22) + std::process::id());
        fs::create_dir(&notes).unwrap();
        for path in [map.as_path(), Path::new("/etc/passwd"), &home.path().join("perf-7.map")] {
            fs::write(notes.join(path.file_name().unwrap()), path.as_os_str().as_bytes()).unwrap();
        }
        fs::write(home.path().join("perf-7.map"), "").unwrap();
        fs::write(&map, "10 10 f\n").unwrap();
        let leftovers = leftovers_in(&notes);
        fs::remove_file(&map).unwrap();
        assert_eq!(leftovers, [Leftover { path: map, bytes: 8 }]);
    }
}
