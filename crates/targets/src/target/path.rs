//! The path of a file as it is recorded, shown and given to other processes: absolute, without
//! `..`, and the same file in each process.

use readlab_system::descriptor::is_folder_of_process;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The path made absolute and without `..`. A name such as /dev/stdin or /proc/self/fd/3 means
/// another file in each process, so it is followed to the file.
pub(super) fn nameable(path: &Path) -> io::Result<PathBuf> {
    let absolute = without_parents(path)?;
    Ok(match fs::canonicalize(&absolute) {
        Ok(real) if is_of_this_process(&absolute) && real.exists() => real,
        _ => absolute,
    })
}

/// The path made absolute. With a `..` its folder is the real one: after a link `..` is not the
/// folder before it, as browsers take it to be. A file that does not exist keeps its name.
pub fn without_parents(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    if !absolute.components().any(|part| part == Component::ParentDir) {
        return Ok(absolute);
    }
    let real = match (absolute.parent(), absolute.file_name()) {
        (Some(folder), Some(name)) => fs::canonicalize(folder).map(|folder| folder.join(name)),
        _ => fs::canonicalize(&absolute),
    };
    Ok(real.unwrap_or(absolute))
}

/// Whether a name, or a link to which it leads, is in a file system that differs between processes.
fn is_of_this_process(path: &Path) -> bool {
    /// The longest chain of links that the kernel follows.
    const LINKS_MAX: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
        let Some(folder) = folder else { return false };
        if is_folder_of_process(&folder) {
            return true;
        }
        let Ok(next) = fs::read_link(&path) else { return false };
        path = folder.join(next);
    }
    false
}
