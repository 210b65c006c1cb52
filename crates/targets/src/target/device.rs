//! The block device below a file, and the description of a mount.

use readlab_model::target::device::{Device, ReadAhead};
use readlab_system::block_device::{self, BlockDevice};
use readlab_system::file_status::DeviceNumber;
use readlab_system::mounts::Mount;
use readlab_system::system_root::SystemRoot;

/// The block device below a file, and the read-ahead of the file's file system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceFacts {
    /// `None` if no block device is known, as for memory and network file systems.
    pub device: Option<Device>,
    /// The read-ahead that the file system sets for itself; `None` if the setting of the block
    /// device applies.
    pub own_read_ahead: Option<ReadAhead>,
}

impl DeviceFacts {
    /// The facts about a file with this mount and device number.
    pub(super) fn of_file(root: &SystemRoot, mount: Option<&Mount>, number: DeviceNumber) -> DeviceFacts {
        let device = find(root, mount, number);
        let own_read_ahead = block_device::filesystem_read_ahead(root, number, device.as_ref());
        DeviceFacts { device: device.map(|device| device.facts()), own_read_ahead }
    }

    /// The facts about a block device that is read itself.
    pub(super) fn of_device(device: &BlockDevice) -> DeviceFacts {
        DeviceFacts { device: Some(device.facts()), own_read_ahead: None }
    }
}

/// The block device below a file, found by the file's device number or by its mount. Btrfs and
/// other file systems on several devices have device numbers of their own.
pub(super) fn find(root: &SystemRoot, mount: Option<&Mount>, number: DeviceNumber) -> Option<BlockDevice> {
    let own = BlockDevice::find(root, number);
    own.or_else(|| BlockDevice::find(root, mount?.source_device()?))
}

/// Describes a mount, for example `/dev/vda on /home`.
pub(super) fn mount_words(mount: &Mount) -> String {
    let (source, point) = (mount.source.display().to_string(), mount.point.display());
    match source.as_str() {
        "none" | "" => point.to_string(),
        source => format!("{source} on {point}"),
    }
}
