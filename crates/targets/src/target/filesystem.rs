//! The file system of a file, and its consequences for caching.

use readlab_system::file_status::{FileKind, FileStatus};
use readlab_system::filesystem::FilesystemType;
use std::fmt;
use std::fs::File;
use std::io;

/// The source of a file system's bytes when they are not in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// A device of this machine, as far as is visible.
    Device,
    /// Memory only, so the bytes cannot be evicted.
    Memory,
    /// A device, through a cache of the file system itself beside the page cache.
    OwnCache,
    /// Another machine or the host of this one, which has its own cache.
    Remote,
    /// A program on this machine, which may have a cache too.
    Program,
    /// Other file systems of this machine.
    Stacked,
    /// The kernel, which generates the bytes while they are read.
    Kernel,
}

/// What counts the bytes that a remote file system brings to this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteCounter {
    /// `serverreadbytes` of the mounts of an NFS export.
    Nfs,
    /// `read_bytes` of the clients of Lustre's object storage.
    Lustre,
    /// Bytes that CephFS has read from its storage.
    Ceph,
    /// Only the network interfaces, which also count bytes that other programs receive.
    Interfaces,
    /// No counter: the bytes may come over a bus of a virtual machine or from a shared disk.
    Nothing,
}

/// The remote file systems, by their names in the kernel's table of file systems.
#[rustfmt::skip]
const REMOTE_FILESYSTEMS: &[(&str, RemoteCounter)] = &[
    ("nfs", RemoteCounter::Nfs), ("lustre", RemoteCounter::Lustre), ("ceph", RemoteCounter::Ceph),
    ("cifs", RemoteCounter::Interfaces), ("smb2", RemoteCounter::Interfaces),
    ("smb", RemoteCounter::Interfaces), ("afs", RemoteCounter::Interfaces),
    ("coda", RemoteCounter::Interfaces), ("9p", RemoteCounter::Nothing),
    ("gfs2", RemoteCounter::Nothing), ("ocfs2", RemoteCounter::Nothing),
    ("vboxsf", RemoteCounter::Nothing), ("hostfs", RemoteCounter::Nothing),
];

/// The counter of a remote file system; `None` for other file systems.
pub fn remote_counter(name: &str) -> Option<RemoteCounter> {
    REMOTE_FILESYSTEMS.iter().find(|(known, _)| *known == name).map(|(_, counter)| *counter)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filesystem {
    kind: FilesystemType,
    pub backing: Backing,
}

impl Filesystem {
    /// The file system of an open file. For a block device it is a file system named `block device`.
    pub fn read(file: &File) -> io::Result<Filesystem> {
        // The file of a block device is in memory (devtmpfs), but the bytes of the device are not.
        let kind = if let FileKind::BlockDevice(_) = FileStatus::read(file)?.kind {
            FilesystemType { magic_number: 0, name: Some("block device") }
        } else {
            FilesystemType::read(file)?
        };
        Ok(Filesystem::from(kind))
    }
}

impl From<FilesystemType> for Filesystem {
    fn from(kind: FilesystemType) -> Filesystem {
        Filesystem { kind, backing: kind.name.map_or(Backing::Device, backing) }
    }
}

/// The source of the bytes of a file system with this name; file systems that are not listed are on
/// devices.
fn backing(name: &str) -> Backing {
    match name {
        "zfs" => Backing::OwnCache,
        "tmpfs" | "ramfs" | "hugetlbfs" => Backing::Memory,
        "fuse" => Backing::Program,
        "overlay" | "ecryptfs" => Backing::Stacked,
        "proc" | "sysfs" | "debugfs" | "tracefs" | "securityfs" | "configfs" | "cgroup" | "cgroup2"
        | "bpf" | "efivarfs" => Backing::Kernel,
        name if remote_counter(name).is_some() => Backing::Remote,
        _ => Backing::Device,
    }
}

/// True if a file system of this type, by its name in mountinfo, may stop responding because its
/// bytes come from another machine or from a program.
pub fn kind_may_cease_to_answer(kind: &str) -> bool {
    let name = match kind.split('.').next().unwrap_or_default() {
        "nfs4" => "nfs",
        "smb3" => "smb",
        "fuseblk" | "virtiofs" => "fuse",
        name => name,
    };
    matches!(backing(name), Backing::Remote | Backing::Program)
}

impl fmt::Display for Filesystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind.name {
            Some(name) => f.pad(name),
            None => f.pad(&format!("{:#x}", self.kind.magic_number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_and_user_space_file_systems_are_recognised_by_all_their_names() {
        assert!(
            ["fuse", "fuse.sshfs", "fuseblk", "nfs", "nfs4", "cifs", "9p"]
                .into_iter()
                .all(kind_may_cease_to_answer)
        );
        assert!(
            !["ext4", "tmpfs", "overlay", "proc", "fusectl", ""].into_iter().any(kind_may_cease_to_answer)
        );
    }

    #[test]
    fn a_known_file_system_has_a_name_and_an_unknown_one_its_number() {
        let ext4 = Filesystem::from(FilesystemType { magic_number: 0xef53, name: Some("ext4") });
        assert_eq!((ext4.to_string().as_str(), ext4.backing), ("ext4", Backing::Device));
        let tmpfs = Filesystem::from(FilesystemType { magic_number: 0x0102_1994, name: Some("tmpfs") });
        assert_eq!(tmpfs.backing, Backing::Memory);
        let unknown = Filesystem::from(FilesystemType { magic_number: 0x1234_5678, name: None });
        assert_eq!((unknown.to_string().as_str(), unknown.backing), ("0x12345678", Backing::Device));
    }
}
