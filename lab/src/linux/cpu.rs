//! The processors: model, number, clock and governor, from /proc/cpuinfo and
//! /sys/devices/system/cpu.

use super::kernel_file::{line, number};
use std::fs;

/// The processor's model.
#[must_use]
pub fn model() -> Option<String> {
    cpuinfo(&["model name", "Model", "cpu model", "uarch", "Hardware"]).or_else(|| {
        line("/sys/firmware/devicetree/base/model").map(|name| name.trim_end_matches('\0').to_owned())
    })
}

/// How many processors this thread may use: those of its affinity mask, or those that are online
/// where the mask is too small for the machine.
#[must_use]
pub fn allowed() -> u64 {
    let mask = rustix::thread::sched_getaffinity(None).map(|mask| u64::from(mask.count()));
    mask.unwrap_or_else(|_| std::thread::available_parallelism().map_or(1, |count| count.get() as u64))
}

/// The highest clock of any processor, as the frequency driver states it.
#[must_use]
pub fn max_clock_ghz() -> Option<f64> {
    let folders = fs::read_dir("/sys/devices/system/cpu").ok()?.flatten();
    let kilohertz = folders.filter_map(|folder| number(folder.path().join("cpufreq/cpuinfo_max_freq")));
    let highest = kilohertz.filter_map(|khz| u32::try_from(khz).ok()).max();
    highest.map(|khz| f64::from(khz) / 1e6)
}

/// The frequency governor of the first processor.
#[must_use]
pub fn governor() -> Option<String> {
    line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
}

/// Whether the frequency driver lets processors run above their nominal clock; `None` where it does
/// not say.
#[must_use]
pub fn turbo() -> Option<bool> {
    let intel = line("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| off == "0");
    intel.or_else(|| line("/sys/devices/system/cpu/cpufreq/boost").map(|on| on != "0"))
}

/// Whether the processor says that it is a guest's (the flag `hypervisor` of x86).
pub(super) fn is_guest() -> bool {
    cpuinfo(&["flags"]).is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
}

/// The value of the first of these fields of /proc/cpuinfo: x86 and ARM name them differently.
fn cpuinfo(fields: &[&str]) -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    fields.iter().find_map(|field| field_of(&text, field))
}

fn field_of(text: &str, field: &str) -> Option<String> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(name, _)| name.trim() == field).map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_highest_clock_is_known_where_there_is_a_frequency_driver() {
        let driver = Path::new("/sys/devices/system/cpu/cpu0/cpufreq");
        assert_eq!(max_clock_ghz().is_some(), driver.exists());
    }

    #[test]
    fn processors_are_those_this_thread_may_use() {
        let counted = std::thread::spawn(|| {
            let mut one = rustix::thread::CpuSet::new();
            let all = rustix::thread::sched_getaffinity(None).unwrap();
            one.set((0..1024).find(|&cpu| all.is_set(cpu)).unwrap());
            rustix::thread::sched_setaffinity(None, &one).unwrap();
            allowed()
        });
        assert_eq!(counted.join().unwrap(), 1);
    }
}
