//! The path of a file as it is recorded, shown and handed to other processes: absolute, without `..`, and the same file
//! in each of them.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The path made absolute and without `..`. What /dev/stdin or /proc/self/fd/3 mean is different in every process, so such
/// names are followed to the file.
pub(super) fn nameable(path: &Path) -> io::Result<PathBuf> {
    let absolute = without_parents(path)?;
    Ok(match fs::canonicalize(&absolute) {
        Ok(real) if is_of_this_process(&absolute) && real.exists() => real,
        _ => absolute,
    })
}

/// The path made absolute. Where it has a `..`, its folder is the real one: behind a link `..` is not what stands before it,
/// and browsers cut it out of a name as if it were. What is not there keeps its name.
///
/// # Errors
/// If there is no current folder.
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

/// Whether a name, or a link that it leads to, lies in a file system that shows each process something else.
fn is_of_this_process(path: &Path) -> bool {
    /// As the kernel: no longer chain of links is followed.
    const LINKS_MAX: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
        let Some(folder) = folder else { return false };
        if folder.starts_with("/proc") || folder.starts_with("/dev") {
            return true;
        }
        let Ok(next) = fs::read_link(&path) else { return false };
        path = folder.join(next);
    }
    false
}
