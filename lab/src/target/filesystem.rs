//! Which file system a file lives on, and what that means for its cache.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileTypeExt;

/// What a file system's bytes are behind the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// A device of this machine, as far as one can tell.
    Device,
    /// Memory: there is nothing behind the cache, so nothing can be evicted.
    Memory,
    /// A device, with a cache of the file system's own in front of it that the page cache knows nothing of.
    OwnCache,
    /// Another machine or the host of this one, which has a cache of its own.
    Remote,
    /// A program of this machine, which may cache too.
    Program,
    /// Other file systems of this machine, stacked.
    Stacked,
    /// The kernel makes the bytes up while they are read.
    Kernel,
}

/// A file system by its magic number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filesystem {
    /// `f_type` of statfs(2).
    pub magic: u32,
    /// Its name; `None` for a number not in the table.
    pub name: Option<&'static str>,
    /// What is behind the cache.
    pub backing: Backing,
}

/// Magic numbers from the kernel's include/uapi/linux/magic.h and the file systems' own headers.
const KNOWN: &[(u32, &str, Backing)] = &[
    // ext2, ext3 and ext4 share one number; today's kernels serve all three by ext4.
    (0xef53, "ext4", Backing::Device),
    (0x5846_5342, "xfs", Backing::Device),
    (0x9123_683e, "btrfs", Backing::Device),
    (0xca45_1a4e, "bcachefs", Backing::Device),
    (0x2fc1_2fc1, "zfs", Backing::OwnCache),
    (0xf2f5_2010, "f2fs", Backing::Device),
    (0xe0f5_e1e2, "erofs", Backing::Device),
    (0x7371_7368, "squashfs", Backing::Device),
    (0x28cd_3d45, "cramfs", Backing::Device),
    (0x4d44, "vfat", Backing::Device),
    (0x2011_bab0, "exfat", Backing::Device),
    (0x5346_544e, "ntfs", Backing::Device),
    (0x7366_746e, "ntfs3", Backing::Device),
    (0x9660, "iso9660", Backing::Device),
    (0x1501_3346, "udf", Backing::Device),
    (0x3153_464a, "jfs", Backing::Device),
    (0x5265_4973, "reiserfs", Backing::Device),
    (0x3434, "nilfs2", Backing::Device),
    (0x0102_1994, "tmpfs", Backing::Memory),
    (0x8584_58f6, "ramfs", Backing::Memory),
    (0x9584_58f6, "hugetlbfs", Backing::Memory),
    (0x6969, "nfs", Backing::Remote),
    (0xff53_4d42, "cifs", Backing::Remote),
    (0xfe53_4d42, "smb2", Backing::Remote),
    (0x517b, "smb", Backing::Remote),
    (0x0102_1997, "9p", Backing::Remote),
    (0x00c3_6400, "ceph", Backing::Remote),
    (0x5346_414f, "afs", Backing::Remote),
    (0x6b41_4653, "afs", Backing::Remote),
    (0x7375_7245, "coda", Backing::Remote),
    (0x0bd0_0bd0, "lustre", Backing::Remote),
    (0x0116_1970, "gfs2", Backing::Remote),
    (0x7461_636f, "ocfs2", Backing::Remote),
    (0x786f_4256, "vboxsf", Backing::Remote),
    (0x00c0_ffee, "hostfs", Backing::Remote),
    (0x6573_5546, "fuse", Backing::Program),
    (0x794c_7630, "overlay", Backing::Stacked),
    (0xf15f, "ecryptfs", Backing::Stacked),
    (0x9fa0, "proc", Backing::Kernel),
    (0x6265_6572, "sysfs", Backing::Kernel),
    (0x6462_6720, "debugfs", Backing::Kernel),
    (0x7472_6163, "tracefs", Backing::Kernel),
    (0x7363_6673, "securityfs", Backing::Kernel),
    (0x6265_6570, "configfs", Backing::Kernel),
    (0x0027_e0eb, "cgroup", Backing::Kernel),
    (0x6367_7270, "cgroup2", Backing::Kernel),
    (0xcafe_4a11, "bpf", Backing::Kernel),
    (0xde5e_81e4, "efivarfs", Backing::Kernel),
];

impl Filesystem {
    /// The file system of an open file; a block device is none and stands for itself.
    ///
    /// # Errors
    /// If fstatfs(2) fails.
    pub fn of(file: &File) -> io::Result<Filesystem> {
        // The node lies in memory, what it stands for does not.
        if file.metadata()?.file_type().is_block_device() {
            return Ok(Filesystem { magic: 0, name: Some("block device"), backing: Backing::Device });
        }
        let found = rustix::fs::fstatfs(file)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "magic numbers have 32 bits; the field's type differs between architectures"
        )]
        Ok(Filesystem::from_magic(found.f_type as u32))
    }

    /// The file system with this magic number; an unknown one is taken to be on a device.
    #[must_use]
    pub fn from_magic(magic: u32) -> Filesystem {
        let known = KNOWN.iter().find(|(number, _, _)| *number == magic);
        let (name, backing) =
            known.map_or((None, Backing::Device), |(_, name, backing)| (Some(*name), *backing));
        Filesystem { magic, name, backing }
    }
}

impl std::fmt::Display for Filesystem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name {
            Some(name) => f.pad(name),
            None => f.pad(&format!("{:#x}", self.magic)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_have_names_and_unknown_ones_are_shown_as_they_are() {
        assert_eq!(Filesystem::from_magic(0xef53).to_string(), "ext4");
        assert_eq!(Filesystem::from_magic(0x0102_1994).backing, Backing::Memory);
        assert_eq!(Filesystem::from_magic(0x1234_5678).to_string(), "0x12345678");
    }

    #[test]
    fn no_number_is_listed_twice() {
        for (at, (magic, name, _)) in KNOWN.iter().enumerate() {
            assert!(KNOWN[at + 1..].iter().all(|(other, _, _)| other != magic), "{name}");
        }
    }

    #[test]
    fn this_systems_own_file_systems_are_told_by_name() {
        let of = |path| Filesystem::of(&File::open(path).unwrap()).unwrap();
        assert_eq!(of("/proc/self/status").to_string(), "proc");
        assert_eq!(of("/proc/self/status").backing, Backing::Kernel);
    }
}
