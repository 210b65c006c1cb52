//! The path of a file as it is recorded, shown and passed to other processes: absolute, without
//! `..`, and naming the same file in every process.

use readlab_system::descriptor::is_process_specific;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Makes the path absolute and without `..`. A name such as /dev/stdin or /proc/self/fd/3 means
/// another file in each process, so it is replaced by the path of the file.
pub(super) fn stable_path(path: &Path) -> io::Result<PathBuf> {
    let absolute = absolute_without_dot_dot(path)?;
    Ok(match fs::canonicalize(&absolute) {
        Ok(real) if differs_between_processes(&absolute) && real.exists() => real,
        _ => absolute,
    })
}

/// Makes the path absolute. If it contains `..`, the symbolic links in its folder are resolved,
/// because `..` after a link is the parent of the folder to which the link leads. A file that does
/// not exist keeps its name.
pub fn absolute_without_dot_dot(path: &Path) -> io::Result<PathBuf> {
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

/// True if a name, or a symbolic link to which it leads, means another file in each process.
fn differs_between_processes(path: &Path) -> bool {
    /// Most symbolic links that the kernel follows in a chain.
    const LINKS_MAX: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
        let Some(folder) = folder else { return false };
        if is_process_specific(&folder) {
            return true;
        }
        let Ok(next) = fs::read_link(&path) else { return false };
        path = folder.join(next);
    }
    false
}
