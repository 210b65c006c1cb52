//! Finds the files of a tree: below a folder, or by the names of a list. Links below a folder are
//! not followed, so that no loop is walked and no file is read by two names; a list's names are
//! opened as they are.

use super::facts::Skipped;
use super::list::{ListSource, Names};
use super::order::TreeOrder;
use crate::linux::file_status::{FileKind, FileStatus};
use crate::target::{TargetError, path, refusal};
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, DirEntryExt, WalkDir};
use xxhash_rust::xxh3::xxh3_64;

/// What was found besides files.
pub(super) struct Walked {
    /// Where was looked.
    pub(super) place: PathBuf,
    pub(super) folders: u64,
    pub(super) duplicates: u64,
    pub(super) skipped: Skipped,
}

/// Walks a folder; the names of its files and folders.
pub(super) fn walk(folder: &Path, order: TreeOrder, names: &mut Names) -> Result<Walked, TargetError> {
    // Walkers differ in whether they follow a link that is the folder itself.
    let folder = fs::canonicalize(folder).map_err(|cause| refusal(folder, cause))?;
    let mut walked = Walked { place: folder.clone(), folders: 0, duplicates: 0, skipped: Skipped::default() };
    let mut walk = WalkDir::new(&folder);
    if order == TreeOrder::Name {
        walk = walk.sort_by_file_name();
    }
    for entry in walk {
        let entry = entry.map_err(|error| not_walked(&folder, error))?;
        match kind(&entry)? {
            FileKind::Regular => names.add(entry.path(), entry.ino())?,
            FileKind::Folder => {
                walked.folders += 1;
                names.add_folder(entry.path())?;
            }
            _ if entry.path_is_symlink() => walked.skipped.links += 1,
            FileKind::Pipe => walked.skipped.pipes += 1,
            FileKind::Socket => walked.skipped.sockets += 1,
            _ => walked.skipped.devices += 1,
        }
    }
    Ok(walked)
}

/// What an entry is; a link is of another kind, wherever it leads.
fn kind(entry: &DirEntry) -> Result<FileKind, TargetError> {
    let found = entry.file_type();
    if found.is_file() {
        return Ok(FileKind::Regular);
    }
    if found.is_dir() {
        return Ok(FileKind::Folder);
    }
    let status = fs::symlink_metadata(entry.path()).map(|meta| FileStatus::from(&meta));
    Ok(status.map_err(|cause| refusal(entry.path(), cause))?.kind)
}

fn not_walked(folder: &Path, error: walkdir::Error) -> TargetError {
    let path = error.path().unwrap_or(folder).to_owned();
    refusal(&path, error.into())
}

/// Reads the names of a list, each ended by a zero byte if there is any in it, else by a newline.
/// What it names twice is kept once.
pub(super) fn listed(source: &ListSource, names: &mut Names) -> Result<Walked, TargetError> {
    let place = source.path().to_owned();
    let failed = |cause| TargetError::Io { path: place.clone(), cause };
    let mut reader: Box<dyn BufRead> = match source {
        ListSource::List(list) => Box::new(BufReader::new(File::open(list).map_err(|it| refusal(list, it))?)),
        _ => Box::new(io::stdin().lock()),
    };
    let end = end_of_names(&mut *reader).map_err(failed)?;
    let (mut seen, mut duplicates) = (HashSet::new(), 0);
    let mut name = Vec::new();
    loop {
        name.clear();
        if reader.read_until(end, &mut name).map_err(failed)? == 0 {
            break;
        }
        name.pop_if(|last| *last == end);
        if name.is_empty() {
            continue;
        }
        let path = PathBuf::from(OsString::from_vec(name.clone()));
        let path = path::nameable(&path).map_err(|cause| refusal(&path, cause))?;
        if seen.insert(xxh3_64(path.as_os_str().as_bytes())) {
            let meta = fs::metadata(&path).map_err(|cause| refusal(&path, cause))?;
            names.add(&path, FileStatus::from(&meta).inode)?;
        } else {
            duplicates += 1;
        }
    }
    Ok(Walked { place, folders: 0, duplicates, skipped: Skipped::default() })
}

/// How the names of a list end, by its first piece: a name longer than that is longer than a path
/// may be.
fn end_of_names(reader: &mut dyn BufRead) -> io::Result<u8> {
    let begin = reader.fill_buf()?;
    Ok(if begin.contains(&0) { 0 } else { b'\n' })
}
