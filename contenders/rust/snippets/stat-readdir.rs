// usual: yes
use std::fs;
use std::io;
use std::path::Path;

/// Adds up the sizes of all files below a folder. Links are not followed.
pub fn total(folder: &Path) -> io::Result<u64> {
    let (mut total, mut folders) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let status = entry.metadata()?;
            if status.is_dir() {
                folders.push(entry.path());
            } else if status.is_file() {
                total += status.len();
            }
        }
    }
    Ok(total)
}
