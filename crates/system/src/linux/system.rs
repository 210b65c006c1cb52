//! The running system: kernel, distribution, load.

use super::kernel_file::read_line;
use procfs::{Current, LoadAverage};
use std::fs;

pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

pub fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// The distribution's name for itself (os-release(5)).
pub fn distribution() -> Option<String> {
    let text =
        fs::read_to_string("/etc/os-release").or_else(|_| fs::read_to_string("/usr/lib/os-release")).ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim().trim_matches(['"', '\'']).to_owned())
}

/// The random id of the current boot, the same for all processes.
pub fn boot_id() -> Option<String> {
    read_line("/proc/sys/kernel/random/boot_id")
}

pub fn load_1min() -> Option<f64> {
    LoadAverage::current().ok().map(|load| f64::from(load.one))
}
