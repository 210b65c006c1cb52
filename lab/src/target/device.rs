//! The block device under a file, and the words for a mount.

use crate::linux::block_device::BlockDevice;
use crate::linux::file_status::DeviceNumber;
use crate::linux::mounts::Mount;
use crate::linux::system_root::SystemRoot;
use serde::{Deserialize, Serialize};

/// A block device as the kernel knows it: in a virtual machine, what the host shows of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The kernel's name of the device or of the partition, such as `nvme0n1p2`.
    pub name: String,
    /// The maker's name of the model.
    pub model: Option<String>,
    /// Whether it is a rotating disk: seeks are slow then.
    pub rotational: Option<bool>,
    /// How far the kernel reads ahead of a sequential reader.
    pub read_ahead_bytes: Option<u64>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
}

impl Device {
    /// The device under a file: the one with the device number of the file, or the one that is
    /// mounted. Btrfs and other file systems of several devices have numbers of their own; the
    /// mount then names the device. `None` where no block device is known, as for memory, network
    /// and stacked file systems.
    pub fn under(mount: Option<&Mount>, number: DeviceNumber) -> Option<Device> {
        let root = SystemRoot::default();
        let own = BlockDevice::find(&root, number);
        let found = own.or_else(|| BlockDevice::find(&root, mount?.source_device()?))?;
        Some(Device {
            name: found.name(),
            model: found.model(),
            rotational: found.is_rotational(),
            read_ahead_bytes: found.read_ahead_bytes(),
            scheduler: found.scheduler(),
        })
    }
}

/// A mount in words, such as `/dev/vda on /home`.
pub(super) fn mount_words(mount: &Mount) -> String {
    let (source, point) = (mount.source.display().to_string(), mount.point.display());
    match source.as_str() {
        "none" | "" => point.to_string(),
        source => format!("{source} on {point}"),
    }
}
