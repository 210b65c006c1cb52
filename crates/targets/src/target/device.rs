//! The block device under a file, and the words for a mount.

use readlab_model::target::device::{Device, ReadAhead};
use readlab_system::block_device::{self, BlockDevice, ReadAheadSetting};
use readlab_system::file_status::DeviceNumber;
use readlab_system::mounts::Mount;
use readlab_system::system_root::SystemRoot;

/// The device under a file: the one with the device number of the file, or the one that is
/// mounted. Btrfs and other file systems of several devices have numbers of their own; the
/// mount then names the device. `None` where no block device is known, as for memory, network
/// and stacked file systems.
pub fn under(mount: Option<&Mount>, number: DeviceNumber) -> Option<Device> {
    let found = find(&SystemRoot::default(), mount, number)?;
    Some(Device {
        name: found.name(),
        model: found.model(),
        rotational: found.is_rotational(),
        read_ahead_bytes: found.read_ahead_bytes(),
        scheduler: found.scheduler(),
    })
}

fn find(root: &SystemRoot, mount: Option<&Mount>, number: DeviceNumber) -> Option<BlockDevice> {
    let own = BlockDevice::find(root, number);
    own.or_else(|| BlockDevice::find(root, mount?.source_device()?))
}

/// How far the kernel reads ahead for a file of this device number, where its file system has a
/// setting of its own.
pub(super) fn own_read_ahead(mount: Option<&Mount>, number: DeviceNumber) -> Option<ReadAhead> {
    let root = SystemRoot::default();
    let device = find(&root, mount, number);
    let ReadAheadSetting { file, bytes } = block_device::own_read_ahead(&root, number, device.as_ref())?;
    Some(ReadAhead { bytes, setting: file.display().to_string() })
}

/// A mount in words, such as `/dev/vda on /home`.
pub(super) fn mount_words(mount: &Mount) -> String {
    let (source, point) = (mount.source.display().to_string(), mount.point.display());
    match source.as_str() {
        "none" | "" => point.to_string(),
        source => format!("{source} on {point}"),
    }
}
