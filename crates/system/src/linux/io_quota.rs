//! Quotas of reads from block devices that control groups set for this process, of version 1
//! (`blkio.throttle.*`) and 2 (`io.max`). A quota is on a whole disk, never on a partition.

use super::block_device::BlockDevice;
use super::control_group::{self, GroupFolder};
use super::file_status::DeviceNumber;
use super::system_root::SystemRoot;
use readlab_model::target::device::IoQuota;
use rustix::fs::makedev;
use std::fs;
use std::path::Path;

/// What a line of a setting limits: the device as `major:minor`, and the numbers.
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    device: &'a str,
    bytes_per_s: Option<u64>,
    reads_per_s: Option<u64>,
}

/// Every quota of reads of the control groups around this process, each device as often as it has
/// quotas.
pub fn all() -> Vec<IoQuota> {
    // Version 1 calls the controller blkio; version 2 names none.
    let root = SystemRoot::default();
    let name = |device: &str| device_name(&root, device);
    control_group::folders("blkio").iter().flat_map(|group| of_group(group, &name)).collect()
}

fn of_group(group: &GroupFolder, name: &dyn Fn(&str) -> String) -> Vec<IoQuota> {
    match group.is_unified {
        true => read(&group.path, "io.max", name, unified),
        false => {
            let mut found = read(&group.path, "blkio.throttle.read_bps_device", name, bytes);
            found.extend(read(&group.path, "blkio.throttle.read_iops_device", name, reads));
            found
        }
    }
}

/// The quotas in one setting of a group.
fn read(
    folder: &Path,
    setting: &str,
    name: &dyn Fn(&str) -> String,
    parse: fn(&str) -> Option<Line<'_>>,
) -> Vec<IoQuota> {
    let text = fs::read_to_string(folder.join(setting)).unwrap_or_default();
    let quota = |line: Line| IoQuota {
        device: name(line.device),
        bytes_per_s: line.bytes_per_s,
        reads_per_s: line.reads_per_s,
        setting: setting.to_owned(),
    };
    text.lines().filter_map(|line| parse(line).map(quota)).collect()
}

/// A line of bytes per second in version 1.
fn bytes(line: &str) -> Option<Line<'_>> {
    let (device, value) = pair(line)?;
    Some(Line { device, bytes_per_s: Some(value), reads_per_s: None })
}

/// A line of reads per second in version 1.
fn reads(line: &str) -> Option<Line<'_>> {
    let (device, value) = pair(line)?;
    Some(Line { device, bytes_per_s: None, reads_per_s: Some(value) })
}

/// `254:0 52428800`.
fn pair(line: &str) -> Option<(&str, u64)> {
    let (device, value) = line.split_once(' ')?;
    Some((device, value.trim().parse().ok()?))
}

/// `254:0 rbps=52428800 wbps=max riops=max wiops=max`; `None` where reads have no quota.
fn unified(line: &str) -> Option<Line<'_>> {
    let mut words = line.split_ascii_whitespace();
    let device = words.next()?;
    let values: Vec<(&str, u64)> = words
        .filter_map(|word| word.split_once('='))
        .filter_map(|(key, value)| Some((key, value.parse().ok()?)))
        .collect();
    let value = |name| values.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    let (bytes_per_s, reads_per_s) = (value("rbps"), value("riops"));
    (bytes_per_s.or(reads_per_s).is_some()).then_some(Line { device, bytes_per_s, reads_per_s })
}

/// The name of a device; its number where there is none.
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

    fn group(is_unified: bool, files: &[(&str, &str)]) -> Vec<IoQuota> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        of_group(&GroupFolder { path: folder.path().to_owned(), is_unified }, &|number| {
            format!("dev{number}")
        })
    }

    #[test]
    fn quotas_of_both_versions_are_found() {
        let old = group(
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
        let new = group(
            true,
            &[(
                "io.max",
                "8:0 rbps=max wbps=5 riops=max wiops=max\n8:16 rbps=9 wbps=max riops=4 wiops=max\n",
            )],
        );
        let setting = "io.max".to_owned();
        let device = "dev8:16".to_owned();
        assert_eq!(new, [IoQuota { device, bytes_per_s: Some(9), reads_per_s: Some(4), setting }]);
        assert_eq!((group(true, &[]), group(false, &[("io.max", "8:0 rbps=9")])), (vec![], vec![]));
    }
}
