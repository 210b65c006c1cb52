//! The status of a file, as stat(2) and statx(2) give it.

use readlab_model::target::identity::Identity;
use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags};
use rustix::io::Errno;
use std::fmt;
use std::fs::{File, FileType, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// A device number, shown as `259:2`, as /proc and /sys write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber(pub u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Regular,
    Folder,
    Pipe,
    Socket,
    CharacterDevice,
    BlockDevice(DeviceNumber),
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStatus {
    pub kind: FileKind,
    pub device: DeviceNumber,
    pub inode: u64,
    /// The file's size; 0 for a block device.
    pub size_bytes: u64,
    /// True if the file system has allocated blocks for the file.
    pub has_blocks: bool,
    pub hard_links: u64,
    /// The user id of the file's owner.
    pub owner: u32,
    /// Time of the last change of the content: seconds and nanoseconds.
    pub content_change_time: (i64, i64),
    /// Time of the last change of content, permissions, owner or links: seconds and nanoseconds.
    pub status_change_time: (i64, i64),
}

impl From<FileStatus> for Identity {
    fn from(status: FileStatus) -> Identity {
        Identity {
            dev: status.device.0,
            ino: status.inode,
            size_bytes: status.size_bytes,
            mtime: status.content_change_time,
            ctime: status.status_change_time,
        }
    }
}

impl From<&Metadata> for FileStatus {
    fn from(meta: &Metadata) -> FileStatus {
        FileStatus {
            kind: file_kind(meta.file_type(), meta.rdev()),
            device: DeviceNumber(meta.dev()),
            inode: meta.ino(),
            size_bytes: meta.size(),
            has_blocks: meta.blocks() > 0,
            hard_links: meta.nlink(),
            owner: meta.uid(),
            content_change_time: (meta.mtime(), meta.mtime_nsec()),
            status_change_time: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

impl FileStatus {
    pub fn read(file: &File) -> io::Result<FileStatus> {
        file.metadata().map(|meta| FileStatus::from(&meta))
    }

    /// The status of the file that now has this path; symbolic links are followed.
    pub fn of_path(path: &Path) -> io::Result<FileStatus> {
        path.metadata().map(|meta| FileStatus::from(&meta))
    }
}

fn file_kind(found: FileType, device: u64) -> FileKind {
    if found.is_file() {
        FileKind::Regular
    } else if found.is_dir() {
        FileKind::Folder
    } else if found.is_fifo() {
        FileKind::Pipe
    } else if found.is_socket() {
        FileKind::Socket
    } else if found.is_char_device() {
        FileKind::CharacterDevice
    } else if found.is_block_device() {
        FileKind::BlockDevice(DeviceNumber(device))
    } else {
        FileKind::Other
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", rustix::fs::major(self.0), rustix::fs::minor(self.0))
    }
}

/// The size of a file. The status of a block device reports 0, so the size is the offset of its
/// end.
pub fn size_bytes(mut file: &File) -> io::Result<u64> {
    let status = FileStatus::read(file)?;
    if !matches!(status.kind, FileKind::BlockDevice(_)) {
        return Ok(status.size_bytes);
    }
    let size_bytes = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    Ok(size_bytes)
}

/// True if a path leads through too many symbolic links, as a link to itself does. The standard
/// library has no stable name for this error.
pub fn is_link_loop(cause: &io::Error) -> bool {
    cause.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// True if the file system reports that it stores the file compressed.
pub fn is_compressed(file: &File) -> bool {
    let found = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS);
    found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::COMPRESSED))
}

/// The id of the mount through which a path leads to its file; `None` if the kernel does not report
/// it.
pub fn mount_id(path: &Path) -> Option<u64> {
    let found = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    (found.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(found.stx_mnt_id)
}

/// True if the file bypasses the page cache because it is mapped directly from its device (DAX).
pub fn is_dax(file: &File) -> bool {
    let found = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS);
    found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::DAX))
}
