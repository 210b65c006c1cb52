//! The first file of a tree: all others must be on its file system, whose cache and device are then
//! those of all.

use readlab_system::file_status::{self, DeviceNumber, FileStatus};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The first file of a tree, whose file system is that of all others.
pub(super) struct FirstFile {
    pub(super) path: PathBuf,
    device: DeviceNumber,
    mount: Option<u64>,
}

impl FirstFile {
    pub(super) fn new(path: &Path, file: &File, status: &FileStatus) -> FirstFile {
        FirstFile { path: path.to_owned(), device: status.device, mount: file_status::mount(file) }
    }

    /// Whether another file is on the same file system. Layers of an overlay and subvolumes of a
    /// btrfs have device numbers of their own within one mount.
    pub(super) fn shares_filesystem(&self, file: &File, status: &FileStatus) -> bool {
        self.device == status.device || self.mount.is_some() && self.mount == file_status::mount(file)
    }
}
