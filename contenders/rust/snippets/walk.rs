// usual: yes
// needs: the crate walkdir
use std::fs;
use std::io;
use std::path::Path;
use walkdir::WalkDir;

/// Adds up `count` over every file below a folder, in the order in which the file system lists
/// them. Links are not followed.
pub fn total(folder: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut total = 0;
    for entry in WalkDir::new(folder) {
        let entry = entry?;
        if entry.file_type().is_file() {
            total += count(&fs::read(entry.path())?);
        }
    }
    Ok(total)
}
