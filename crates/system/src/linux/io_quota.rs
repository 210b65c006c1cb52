//! Read quotas for block devices, set by the control groups of this process: version 1
//! (`blkio.throttle.*`) and version 2 (`io.max`). A quota applies to a whole disk, never to a
//! partition.

use super::block_device::BlockDevice;
use super::control_group::{self, GroupFolder};
use super::file_status::DeviceNumber;
use super::system_root::SystemRoot;
use readlab_model::target::device::IoQuota;
use rustix::fs::makedev;
use std::fs;

/// Parses the value of a setting for one device: the quotas of bytes and of reads per second.
type QuotaParser = fn(&str) -> [Option<u64>; 2];

/// Settings of control groups version 1, with lines such as `254:0 52428800`.
const VERSION_1_SETTINGS: &[(&str, QuotaParser)] = &[
    ("blkio.throttle.read_bps_device", |value| [value.trim().parse().ok(), None]),
    ("blkio.throttle.read_iops_device", |value| [None, value.trim().parse().ok()]),
];

/// Settings of control groups version 2, with lines such as `254:0 rbps=52428800 wbps=max riops=max
/// wiops=max`.
const VERSION_2_SETTINGS: &[(&str, QuotaParser)] =
    &[("io.max", |values| ["rbps=", "riops="].map(|key| value(values, key)))];

/// All read quotas of this process's own control group and the enclosing groups. A device may have
/// several.
pub fn all() -> Vec<IoQuota> {
    // Version 1 calls the controller blkio; version 2 does not list controllers.
    let root = SystemRoot::default();
    let name = |device: &str| device_name(&root, device);
    control_group::folders("blkio").iter().flat_map(|group| quotas_of_group(group, &name)).collect()
}

fn quotas_of_group(group: &GroupFolder, name: &dyn Fn(&str) -> String) -> Vec<IoQuota> {
    let mut found = Vec::new();
    let settings = if group.is_unified { VERSION_2_SETTINGS } else { VERSION_1_SETTINGS };
    for (setting, limits) in settings {
        let text = fs::read_to_string(group.path.join(setting)).unwrap_or_default();
        for (device, values) in text.lines().filter_map(|line| line.split_once(' ')) {
            let [bytes_per_s, reads_per_s] = limits(values);
            if bytes_per_s.or(reads_per_s).is_some() {
                let (device, setting) = (name(device), (*setting).to_owned());
                found.push(IoQuota { device, bytes_per_s, reads_per_s, setting });
            }
        }
    }
    found
}

fn value(values: &str, key: &str) -> Option<u64> {
    values.split_ascii_whitespace().find_map(|word| word.strip_prefix(key))?.parse().ok()
}

/// The kernel's name of a device, or its number if the device has no name.
fn device_name(root: &SystemRoot, number: &str) -> String {
    let parts = number.split_once(':');
    let parts = parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    let device =
        parts.and_then(|(major, minor)| BlockDevice::find(root, DeviceNumber(makedev(major, minor))));
    device.map_or_else(|| number.to_owned(), |device| device.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotas_of_files(is_unified: bool, files: &[(&str, &str)]) -> Vec<IoQuota> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let group = GroupFolder { path: folder.path().to_owned(), is_unified, is_read_only: false };
        quotas_of_group(&group, &|number| format!("dev{number}"))
    }

    #[test]
    fn io_quotas_of_control_groups_of_both_versions_are_found() {
        let old = quotas_of_files(
            false,
            &[
                ("blkio.throttle.read_bps_device", "254:0 52428800\n254:16 1000\n"),
                ("blkio.throttle.read_iops_device", "254:0 100\n"),
                ("blkio.throttle.write_bps_device", "254:0 7\n"),
            ],
        );
        let found: Vec<_> =
            old.iter().map(|it| (it.device.as_str(), it.bytes_per_s, it.reads_per_s)).collect();
        let expected = [
            ("dev254:0", Some(52_428_800), None),
            ("dev254:16", Some(1000), None),
            ("dev254:0", None, Some(100)),
        ];
        assert_eq!(found, expected);
        assert_eq!(old[2].setting, "blkio.throttle.read_iops_device");
        let new = quotas_of_files(
            true,
            &[(
                "io.max",
                "8:0 rbps=max wbps=5 riops=max wiops=max\n8:16 rbps=9 wbps=max riops=4 wiops=max\n",
            )],
        );
        let setting = "io.max".to_owned();
        let device = "dev8:16".to_owned();
        assert_eq!(new, [IoQuota { device, bytes_per_s: Some(9), reads_per_s: Some(4), setting }]);
        assert_eq!(
            (quotas_of_files(true, &[]), quotas_of_files(false, &[("io.max", "8:0 rbps=9")])),
            (vec![], vec![])
        );
    }
}
