// needs: the crate rustix
use rustix::fs::{FileType, Mode, OFlags, RawDir, open};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const BUFFER_BYTES: usize = 1048576; // = buffer_bytes

/// Counts the names below a folder. One call lists as many names as fit into the buffer. Links are
/// not followed.
pub fn total(folder: &Path) -> io::Result<u64> {
    let (mut total, mut folders) = (0, vec![folder.to_owned()]);
    let mut buffer: Vec<u8> = Vec::with_capacity(BUFFER_BYTES);
    while let Some(folder) = folders.pop() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut entries = RawDir::new(open(&folder, flags, Mode::empty())?, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            total += 1;
            let path = folder.join(name);
            let is_folder = match entry.file_type() {
                FileType::Unknown => fs::symlink_metadata(&path)?.is_dir(),
                known => known == FileType::Directory,
            };
            if is_folder {
                folders.push(path);
            }
        }
    }
    Ok(total)
}
