//! The block device below a file, and the description of a mount.

use readlab_model::target::device::{Device, ReadAhead};
use readlab_system::block_device::{self, BlockDevice};
use readlab_system::file_status::DeviceNumber;
use readlab_system::mounts::Mount;
use readlab_system::system_root::SystemRoot;

/// The block device below a file, found by the file's device number or by its mount. Btrfs and
/// other file systems on several devices have device numbers of their own. `None` if no block
/// device is known, as for memory, network and stacked file systems.
pub fn below_file(mount: Option<&Mount>, number: DeviceNumber) -> Option<Device> {
    find(&SystemRoot::default(), mount, number).map(|device| device.facts())
}

pub(super) fn find(root: &SystemRoot, mount: Option<&Mount>, number: DeviceNumber) -> Option<BlockDevice> {
    let own = BlockDevice::find(root, number);
    own.or_else(|| BlockDevice::find(root, mount?.source_device()?))
}

/// The read-ahead that the file system of a file sets for itself; `None` if the setting of the block
/// device applies.
pub(super) fn own_read_ahead(mount: Option<&Mount>, number: DeviceNumber) -> Option<ReadAhead> {
    let root = SystemRoot::default();
    block_device::filesystem_read_ahead(&root, number, find(&root, mount, number).as_ref())
}

/// Describes a mount, for example `/dev/vda on /home`.
pub(super) fn mount_words(mount: &Mount) -> String {
    let (source, point) = (mount.source.display().to_string(), mount.point.display());
    match source.as_str() {
        "none" | "" => point.to_string(),
        source => format!("{source} on {point}"),
    }
}
