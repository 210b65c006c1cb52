//! File systems: their type and free space, and writing their dirty data back.

use crate::silent::sync_in_child;
use std::fs::File;
use std::io;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilesystemType {
    /// The magic number (`f_type` of statfs(2)).
    pub magic_number: u32,
    /// The name; `None` for a number that `FILESYSTEM_NAMES` does not list.
    pub name: Option<&'static str>,
}

/// Magic numbers from the kernel's include/uapi/linux/magic.h and the file systems' own headers.
/// ext2, ext3 and ext4 share one number; today's kernels serve all three with the ext4 driver.
#[rustfmt::skip]
const FILESYSTEM_NAMES: &[(u32, &str)] = &[
    (0xef53, "ext4"), (0x5846_5342, "xfs"), (0x9123_683e, "btrfs"), (0xca45_1a4e, "bcachefs"),
    (0x2fc1_2fc1, "zfs"), (0xf2f5_2010, "f2fs"), (0xe0f5_e1e2, "erofs"), (0x7371_7368, "squashfs"),
    (0x28cd_3d45, "cramfs"), (0x4d44, "vfat"), (0x2011_bab0, "exfat"), (0x5346_544e, "ntfs"),
    (0x7366_746e, "ntfs3"), (0x9660, "iso9660"), (0x1501_3346, "udf"), (0x3153_464a, "jfs"),
    (0x5265_4973, "reiserfs"), (0x3434, "nilfs2"), (0x0102_1994, "tmpfs"), (0x8584_58f6, "ramfs"),
    (0x9584_58f6, "hugetlbfs"), (0x6969, "nfs"), (0xff53_4d42, "cifs"), (0xfe53_4d42, "smb2"),
    (0x517b, "smb"), (0x0102_1997, "9p"), (0x00c3_6400, "ceph"), (0x5346_414f, "afs"), (0x6b41_4653, "afs"),
    (0x7375_7245, "coda"), (0x0bd0_0bd0, "lustre"), (0x0116_1970, "gfs2"), (0x7461_636f, "ocfs2"),
    (0x786f_4256, "vboxsf"), (0x00c0_ffee, "hostfs"), (0x6573_5546, "fuse"), (0x794c_7630, "overlay"),
    (0xf15f, "ecryptfs"), (0x9fa0, "proc"), (0x6265_6572, "sysfs"), (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"), (0x7363_6673, "securityfs"), (0x6265_6570, "configfs"),
    (0x0027_e0eb, "cgroup"), (0x6367_7270, "cgroup2"), (0xcafe_4a11, "bpf"), (0xde5e_81e4, "efivarfs"),
];

impl FilesystemType {
    pub fn read(file: &File) -> io::Result<FilesystemType> {
        let found = rustix::fs::fstatfs(file)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "magic numbers have 32 bits; the field's type differs between architectures"
        )]
        let number = found.f_type as u32;
        Ok(FilesystemType { magic_number: number, name: name(number) })
    }
}

fn name(number: u32) -> Option<&'static str> {
    FILESYSTEM_NAMES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

/// Bytes that ordinary users can still write in the file system of a folder.
pub fn free_bytes(folder: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(folder)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Writes all dirty data of the folder's file system to its device, until `check` returns an error.
pub fn sync(folder: &Path, check: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
    sync_in_child(&File::open(folder)?, check)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_system_number_is_listed_twice() {
        for (at, (number, name)) in FILESYSTEM_NAMES.iter().enumerate() {
            assert!(FILESYSTEM_NAMES[at + 1..].iter().all(|(other, _)| other != number), "{name}");
        }
    }

    #[test]
    fn known_file_systems_have_names_and_an_unknown_one_has_none() {
        let found = FilesystemType::read(&File::open("/proc/self/status").unwrap()).unwrap();
        assert_eq!(found.name, Some("proc"));
        assert_eq!((name(0xef53), name(0x1234_5678)), (Some("ext4"), None));
    }
}
