//! Where a file is mounted from, and the block device underneath, as /proc/self/mountinfo and /sys/dev/block tell.

use crate::machine::chosen;
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// What is mounted: a device, a server's folder, a name.
    pub source: Option<String>,
    /// Where it is mounted.
    pub point: PathBuf,
}

/// A block device, as far as the kernel knows it: in a virtual machine, what the host shows of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The kernel's name of the device or of the partition, such as `nvme0n1p2`.
    pub name: String,
    /// The maker's name of the model.
    pub model: Option<String>,
    /// Whether it turns: seeks are dear then.
    pub rotational: Option<bool>,
    /// How far the kernel reads ahead of a sequential reader.
    pub read_ahead_bytes: Option<u64>,
    /// The I/O scheduler in force.
    pub scheduler: Option<String>,
}

impl Mount {
    /// The mount that shows the file at `path`, which must be absolute and without links.
    #[must_use]
    pub fn of(path: &Path, dev: u64) -> Option<Mount> {
        let mounts = procfs::process::Process::myself().ok()?.mountinfo().ok()?.0;
        let number = device_number(dev);
        let above = mounts.into_iter().filter(|mount| path.starts_with(&mount.mount_point));
        // Btrfs gives files other device numbers than its mounts, so the number decides only where it can. Of mounts on
        // the same point, the last one hides the others.
        let found = above.max_by_key(|m| (m.majmin == number, m.mount_point.components().count()))?;
        Some(Mount { source: found.mount_source, point: found.mount_point })
    }
}

impl std::fmt::Display for Mount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.source {
            Some(source) => write!(f, "{source} on {}", self.point.display()),
            None => write!(f, "{}", self.point.display()),
        }
    }
}

impl Device {
    /// The device under a mount; `dev` is the device number of a file there. `None` where no block device is known, as for
    /// memory, network and stacked file systems.
    #[must_use]
    pub fn under(mount: Option<&Mount>, dev: u64) -> Option<Device> {
        // Btrfs and other file systems of many devices have numbers of their own; the mount then names the device.
        let source = mount.and_then(|mount| fs::metadata(mount.source.as_ref()?).ok());
        let source = source.filter(|meta| meta.file_type().is_block_device()).map(|meta| meta.rdev());
        [Some(dev), source].into_iter().flatten().find_map(Device::numbered)
    }

    /// The device with this number.
    fn numbered(dev: u64) -> Option<Device> {
        let folder = fs::canonicalize(Path::new("/sys/dev/block").join(device_number(dev))).ok()?;
        // A partition's queue is its disk's.
        let disk = if folder.join("queue").exists() { folder.clone() } else { folder.parent()?.to_owned() };
        let scheduler = word(&disk.join("queue/scheduler"));
        Some(Device {
            name: folder.file_name()?.to_string_lossy().into_owned(),
            model: word(&disk.join("device/model")),
            rotational: word(&disk.join("queue/rotational")).map(|flag| flag == "1"),
            read_ahead_bytes: word(&disk.join("queue/read_ahead_kb"))
                .and_then(|kib| kib.parse::<u64>().ok())
                .map(|kib| kib * 1024),
            scheduler: scheduler.map(|all| chosen(&all)),
        })
    }
}

/// `259:2`, as /sys and /proc write device numbers.
fn device_number(dev: u64) -> String {
    format!("{}:{}", rustix::fs::major(dev), rustix::fs::minor(dev))
}

/// What a file of one line holds.
fn word(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_is_found() {
        let dev = fs::metadata("/proc/self").unwrap().dev();
        let mount = Mount::of(&fs::canonicalize("/proc/self/status").unwrap(), dev).unwrap();
        assert_eq!(mount.point, Path::new("/proc"));
        assert_eq!(Device::under(Some(&mount), dev), None);
    }
}
