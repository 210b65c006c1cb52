//! The files that a process has mapped or open, as far as this user may inspect the process.

use procfs::process::{MMapPath, MemoryMaps, Process};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Identifies a file by device and inode number, as stat(2) reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId {
    pub device: u64,
    pub inode: u64,
}

/// A regular file that a process uses, with the kernel's name for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedFile {
    pub path: PathBuf,
    pub id: FileId,
}

impl FileId {
    /// The file that has this path now; `None` if it is not a regular file.
    pub fn at(path: &Path) -> Option<FileId> {
        Some(FileId::of_metadata(&fs::metadata(path).ok().filter(fs::Metadata::is_file)?))
    }

    pub fn of_metadata(facts: &fs::Metadata) -> FileId {
        FileId { device: facts.dev(), inode: facts.ino() }
    }

    fn has_path(self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|meta| (meta.dev(), meta.ino()) == (self.device, self.inode))
    }
}

/// True if this user may inspect the process.
pub fn may_be_inspected(pid: u32) -> bool {
    maps(pid).is_some()
}

fn maps(pid: u32) -> Option<MemoryMaps> {
    Process::new(pid.cast_signed()).ok()?.maps().ok()
}

fn descriptors(pid: u32) -> impl Iterator<Item = PathBuf> {
    let folder = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    folder.map(|descriptor| descriptor.path())
}

pub fn has_mapped(pid: u32, file: FileId) -> bool {
    // The device number in /proc/PID/maps may differ from that of stat(2), as on btrfs and overlay.
    // The path decides in that case.
    let is_it = |dev: (i32, i32), path: &MMapPath| {
        let number = |part: i32| u32::try_from(part).unwrap_or(u32::MAX);
        rustix::fs::makedev(number(dev.0), number(dev.1)) == file.device
            || matches!(path, MMapPath::Path(path) if file.has_path(&path_in_root_of(pid, path)))
    };
    maps(pid).iter().flatten().any(|map| map.inode == file.inode && is_it(map.dev, &map.pathname))
}

/// Converts a path of another process, whose root folder may differ.
fn path_in_root_of(pid: u32, path: &Path) -> PathBuf {
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    root.join(path.strip_prefix("/").unwrap_or(path))
}

pub fn has_open(pid: u32, file: FileId) -> bool {
    descriptors(pid).any(|descriptor| file.has_path(&descriptor))
}

/// The regular files that a process has mapped; a file may appear several times, once for each
/// mapping.
pub fn mapped_files(pid: u32) -> Vec<UsedFile> {
    let used = |path: &MMapPath| match path {
        MMapPath::Path(path) => {
            FileId::at(&path_in_root_of(pid, path)).map(|id| UsedFile { path: path.clone(), id })
        }
        _ => None,
    };
    maps(pid).iter().flatten().filter_map(|map| used(&map.pathname)).collect()
}

pub fn open_files(pid: u32) -> Vec<UsedFile> {
    let used = |link: PathBuf| Some(UsedFile { path: fs::read_link(&link).ok()?, id: FileId::at(&link)? });
    descriptors(pid).filter_map(used).collect()
}
