//! The file system of a file, and what that means for its cache.

use readlab_system::file_status::{FileKind, FileStatus};
use readlab_system::filesystem::FilesystemType;
use std::fmt;
use std::fs::File;
use std::io;

/// Where a file system's bytes come from when they are not in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// From a device of this machine, as far as can be seen.
    Device,
    /// From nowhere else: they are in memory, so they cannot be evicted.
    Memory,
    /// From a device, through a cache of the file system's own beside the page cache.
    OwnCache,
    /// From another machine or the host of this one, which has a cache of its own.
    Remote,
    /// From a program of this machine, which may cache too.
    Program,
    /// From other file systems of this machine.
    Stacked,
    /// From the kernel, which makes them up while they are read.
    Kernel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filesystem {
    kind: FilesystemType,
    pub backing: Backing,
}

impl Filesystem {
    /// The file system of an open file; a block device is in none and counts as itself.
    pub fn read(file: &File) -> io::Result<Filesystem> {
        // The node of a block device is in memory, its bytes are not.
        let kind = if let FileKind::BlockDevice(_) = FileStatus::read(file)?.kind {
            FilesystemType { number: 0, name: Some("block device") }
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

/// Where the bytes of a file system of this name come from; those not listed are on devices.
fn backing(name: &str) -> Backing {
    match name {
        "zfs" => Backing::OwnCache,
        "tmpfs" | "ramfs" | "hugetlbfs" => Backing::Memory,
        "nfs" | "cifs" | "smb2" | "smb" | "9p" | "ceph" | "afs" | "coda" | "lustre" | "gfs2" | "ocfs2"
        | "vboxsf" | "hostfs" => Backing::Remote,
        "fuse" => Backing::Program,
        "overlay" | "ecryptfs" => Backing::Stacked,
        "proc" | "sysfs" | "debugfs" | "tracefs" | "securityfs" | "configfs" | "cgroup" | "cgroup2"
        | "bpf" | "efivarfs" => Backing::Kernel,
        _ => Backing::Device,
    }
}

/// Whether a file system of this type, by its name in mountinfo, may cease to answer: its bytes come
/// from another machine or from a program.
pub fn may_cease_to_answer(kind: &str) -> bool {
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
            None => f.pad(&format!("{:#x}", self.kind.number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_others_may_cease_to_answer_by_any_of_their_names() {
        assert!(
            ["fuse", "fuse.sshfs", "fuseblk", "nfs", "nfs4", "cifs", "9p"]
                .into_iter()
                .all(may_cease_to_answer)
        );
        assert!(!["ext4", "tmpfs", "overlay", "proc", "fusectl", ""].into_iter().any(may_cease_to_answer));
    }

    #[test]
    fn a_known_file_system_has_a_name_and_an_unknown_one_its_number() {
        let ext4 = Filesystem::from(FilesystemType { number: 0xef53, name: Some("ext4") });
        assert_eq!((ext4.to_string().as_str(), ext4.backing), ("ext4", Backing::Device));
        let tmpfs = Filesystem::from(FilesystemType { number: 0x0102_1994, name: Some("tmpfs") });
        assert_eq!(tmpfs.backing, Backing::Memory);
        let unknown = Filesystem::from(FilesystemType { number: 0x1234_5678, name: None });
        assert_eq!((unknown.to_string().as_str(), unknown.backing), ("0x12345678", Backing::Device));
    }
}
