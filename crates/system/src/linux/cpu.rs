//! The processors: model, number, CPU quota, clock rate, governor and hypervisor, from /proc/cpuinfo,
//! /sys/devices/system/cpu, control groups and the firmware.

use super::control_group::{self, GroupFolder};
use super::kernel_file::{read_line, read_number};
use super::system_root::SystemRoot;
use std::fs;

/// Names of hypervisors as the firmware reports them.
const HYPERVISOR_NAMES: [&str; 9] =
    ["QEMU", "KVM", "VMware", "VirtualBox", "innotek", "Xen", "Bochs", "Parallels", "Firecracker"];

pub fn model() -> Option<String> {
    cpuinfo_value(&["model name", "Model", "cpu model", "uarch", "Hardware"]).or_else(|| {
        read_line("/sys/firmware/devicetree/base/model").map(|name| name.trim_end_matches('\0').to_owned())
    })
}

/// Number of processors in the affinity mask of this thread. If the machine has more processors
/// than the mask can hold, the number that the standard library reports.
pub fn allowed_processor_count() -> u64 {
    let mask = rustix::thread::sched_getaffinity(None).map(|mask| u64::from(mask.count()));
    mask.unwrap_or_else(|_| std::thread::available_parallelism().map_or(1, |count| count.get() as u64))
}

/// The numbers of the processors that are online; 0 alone if the kernel does not list them.
pub(super) fn online_processors(root: &SystemRoot) -> Vec<u32> {
    let list = read_line(root.join("sys/devices/system/cpu/online")).unwrap_or_default();
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<u32>().ok()?..=last.parse().ok()?)
    };
    let numbers: Vec<u32> = list.split(',').filter_map(range).flatten().collect();
    if numbers.is_empty() { vec![0] } else { numbers }
}

/// The lowest CPU quota of this process's control groups, as a number of processors; `None` without
/// a quota.
pub fn quota_processors() -> Option<f64> {
    let of_group = |group: &GroupFolder| {
        let text = |file: &str| read_line(group.path.join(file));
        match group.is_unified {
            true => parse_quota(&text("cpu.max")?),
            false => parse_quota(&format!("{} {}", text("cpu.cfs_quota_us")?, text("cpu.cfs_period_us")?)),
        }
    };
    control_group::folders("cpu").iter().filter_map(of_group).min_by(f64::total_cmp)
}

/// Converts a quota and its period, such as `25000 100000`, to a number of processors. Without a
/// quota the first value is `max` or -1.
fn parse_quota(quota_and_period: &str) -> Option<f64> {
    let (quota, period) = quota_and_period.split_once(' ')?;
    let (quota, period): (u32, u32) = (quota.parse().ok()?, period.parse().ok()?);
    (period > 0).then(|| f64::from(quota) / f64::from(period))
}

/// The highest clock rate of any processor, as the frequency driver reports it.
pub fn max_clock_ghz() -> Option<f64> {
    let folders = fs::read_dir("/sys/devices/system/cpu").ok()?.flatten();
    let kilohertz = folders.filter_map(|folder| read_number(folder.path().join("cpufreq/cpuinfo_max_freq")));
    let highest = kilohertz.filter_map(|khz| u32::try_from(khz).ok()).max();
    highest.map(|khz| f64::from(khz) / 1e6)
}

/// The frequency governor of the first processor.
pub fn governor() -> Option<String> {
    read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
}

/// True if processors may exceed their nominal clock rate; `None` if the driver does not report
/// this.
pub fn is_turbo_allowed() -> Option<bool> {
    let intel = read_line("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| off == "0");
    intel.or_else(|| read_line("/sys/devices/system/cpu/cpufreq/boost").map(|on| on != "0"))
}

/// The name of the hypervisor, as Xen or the firmware reports it; `unnamed` if only the processor's
/// flags show that there is one. `None` if the machine is not a virtual machine.
pub fn hypervisor() -> Option<String> {
    if let Some(kind) = read_line("/sys/hypervisor/type") {
        return Some(kind);
    }
    let files = ["/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"];
    let firmware = files.into_iter().filter_map(read_line).collect::<Vec<_>>().join(" ");
    let has_flag =
        || cpuinfo_value(&["flags"]).is_some_and(|flags| flags.split(' ').any(|it| it == "hypervisor"));
    // ARM processors have no flag for virtual machines, so there only the firmware's name shows
    // one.
    let is_guest = has_flag() || HYPERVISOR_NAMES.iter().any(|name| firmware.contains(name));
    let name = if firmware.is_empty() { "unnamed".to_owned() } else { firmware };
    is_guest.then_some(name)
}

/// The value of the first of these fields in /proc/cpuinfo; x86 and ARM name them differently.
fn cpuinfo_value(fields: &[&str]) -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    fields.iter().find_map(|field| field_value(&text, field))
}

fn field_value(text: &str, field: &str) -> Option<String> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(name, _)| name.trim() == field).map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::process::testing::use_one_processor;
    use super::*;
    use std::path::Path;

    #[test]
    fn the_highest_clock_rate_is_known_if_there_is_a_frequency_driver() {
        let driver = Path::new("/sys/devices/system/cpu/cpu0/cpufreq");
        assert_eq!(max_clock_ghz().is_some(), driver.exists());
    }

    #[test]
    fn lists_of_processors_are_parsed() {
        let folder = tempfile::tempdir().unwrap();
        let root = SystemRoot::below(folder.path());
        assert_eq!(online_processors(&root), [0]);
        let file = root.join("sys/devices/system/cpu/online");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "0-2,4\n").unwrap();
        assert_eq!(online_processors(&root), [0, 1, 2, 4]);
        fs::write(&file, "3\n").unwrap();
        assert_eq!(online_processors(&root), [3]);
    }

    #[test]
    fn every_processor_that_this_thread_may_use_is_online() {
        let online = online_processors(&SystemRoot::default()).len() as u64;
        assert!(online >= allowed_processor_count().max(1), "{online} online");
    }

    #[test]
    fn a_cpu_quota_is_a_share_of_each_period() {
        assert_eq!(parse_quota("25000 100000"), Some(0.25));
        for none in ["max 100000", "-1 100000", "25000 0", "25000", ""] {
            assert_eq!(parse_quota(none), None, "{none:?}");
        }
    }

    #[test]
    fn only_processors_that_this_thread_may_use_are_counted() {
        let counted = std::thread::spawn(|| {
            use_one_processor(None);
            allowed_processor_count()
        });
        assert_eq!(counted.join().unwrap(), 1);
    }
}
