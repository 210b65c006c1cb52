// usual: yes
use std::fs;
use std::io;
use std::path::Path;

/// Counts the names below a folder. Links are not followed.
pub fn total(folder: &Path) -> io::Result<u64> {
    let (mut total, mut folders) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            total += 1;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(total)
}
