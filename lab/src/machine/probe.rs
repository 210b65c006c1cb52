//! Finds the facts of the machine out, from /proc, /sys and a few calls. None of them needs rights.

use super::Machine;
use super::memory::Memory;
use procfs::{Current, LoadAverage};
use rustix::time::{ClockId, clock_getres, clock_gettime};
use std::fs;
use std::io;

/// Readings of the clock from which its cost is the median of the differences.
const CLOCK_READINGS: usize = 1001;

impl Machine {
    /// Finds everything out. What cannot be found out is `None`.
    #[must_use]
    pub fn probe() -> Machine {
        let memory = Memory::read();
        let system = rustix::system::uname();
        Machine {
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: system.release().to_string_lossy().into_owned(),
            distribution: distribution(),
            cpu: cpu_model(),
            cpus: cpus(),
            max_turbo_ghz: max_turbo_ghz(),
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            turbo: turbo(),
            cpu_features: cpu_features(),
            memory_bytes: memory.total_bytes,
            memory_available_bytes: memory.available_bytes,
            memory_limit_bytes: memory.limit_bytes,
            page_bytes: rustix::param::page_size() as u64,
            transparent_huge_pages: line("/sys/kernel/mm/transparent_hugepage/enabled")
                .map(|all| chosen(&all)),
            hypervisor: hypervisor(),
            load_1min: LoadAverage::current().ok().map(|load| f64::from(load.one)),
            proactive_reclaim: reclaims_by_itself(),
            swap: swap_is_on(),
            io_uring_refused: io_uring_refused(),
            root: rustix::process::geteuid().is_root(),
            clock_resolution_ns: clock_resolution_ns(),
            clock_overhead_ns: clock_overhead_ns(),
        }
    }
}

/// The kernel's random name for the time since it was started, the same for every process until the
/// next start.
#[must_use]
pub fn boot() -> Option<String> {
    line("/proc/sys/kernel/random/boot_id")
}

/// What a file of one line holds.
fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// The word in brackets of a list like `none [mq-deadline] kyber`; the whole list where there are
/// none.
pub(crate) fn chosen(list: &str) -> String {
    let inside = list.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(list, |(word, _)| word).to_owned()
}

/// The name that the distribution gives itself (os-release(5)).
fn distribution() -> Option<String> {
    let text =
        fs::read_to_string("/etc/os-release").or_else(|_| fs::read_to_string("/usr/lib/os-release")).ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim().trim_matches(['"', '\'']).to_owned())
}

/// The value of the first of these fields of /proc/cpuinfo: x86 and ARM name them differently.
fn cpuinfo(fields: &[&str]) -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    fields.iter().find_map(|field| {
        let value = |line: &str| {
            line.split_once(':').filter(|(name, _)| name.trim() == *field).map(|(_, v)| v.trim().to_owned())
        };
        text.lines().find_map(value)
    })
}

fn cpu_model() -> Option<String> {
    cpuinfo(&["model name", "Model", "cpu model", "uarch", "Hardware"]).or_else(|| {
        line("/sys/firmware/devicetree/base/model").map(|name| name.trim_end_matches('\0').to_owned())
    })
}

/// Processors in this process's affinity mask; those that are online, on machines too large for the
/// mask.
fn cpus() -> u64 {
    let mask = rustix::thread::sched_getaffinity(None).map(|mask| u64::from(mask.count()));
    mask.unwrap_or_else(|_| std::thread::available_parallelism().map_or(1, |count| count.get() as u64))
}

/// The highest clock of any processor, as the frequency driver states it.
fn max_turbo_ghz() -> Option<f64> {
    let folders = fs::read_dir("/sys/devices/system/cpu").ok()?.filter_map(Result::ok);
    let kilohertz = folders.filter_map(|folder| {
        let text = fs::read_to_string(folder.path().join("cpufreq/cpuinfo_max_freq")).ok()?;
        text.trim().parse::<u32>().ok()
    });
    kilohertz.max().map(|khz| f64::from(khz) / 1e6)
}

/// Whether the frequency driver lets processors run above their nominal clock; `None` where it does
/// not say.
fn turbo() -> Option<bool> {
    let intel = line("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| off == "0");
    intel.or_else(|| line("/sys/devices/system/cpu/cpufreq/boost").map(|on| on != "0"))
}

/// Vector instructions that this processor and kernel offer, smallest first.
fn cpu_features() -> Vec<String> {
    #[cfg(target_arch = "x86_64")]
    let found = [
        ("sse2", std::is_x86_feature_detected!("sse2")),
        ("sse4.2", std::is_x86_feature_detected!("sse4.2")),
        ("popcnt", std::is_x86_feature_detected!("popcnt")),
        ("avx", std::is_x86_feature_detected!("avx")),
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("bmi2", std::is_x86_feature_detected!("bmi2")),
        ("avx512f", std::is_x86_feature_detected!("avx512f")),
        ("avx512bw", std::is_x86_feature_detected!("avx512bw")),
        ("avx512vl", std::is_x86_feature_detected!("avx512vl")),
    ];
    #[cfg(target_arch = "aarch64")]
    let found = [
        ("neon", std::arch::is_aarch64_feature_detected!("neon")),
        ("sve", std::arch::is_aarch64_feature_detected!("sve")),
    ];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let found: [(&str, bool); 0] = [];
    found.iter().filter(|(_, has)| *has).map(|(name, _)| (*name).to_owned()).collect()
}

/// The hypervisor above this machine: the word of the firmware or of Xen, or only that there is
/// one.
fn hypervisor() -> Option<String> {
    let flagged = cpuinfo(&["flags"]).is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    if let Some(kind) = line("/sys/hypervisor/type") {
        return Some(kind);
    }
    let names = ["sys_vendor", "product_name"].map(|file| line(&format!("/sys/class/dmi/id/{file}")));
    let firmware = names.into_iter().flatten().collect::<Vec<_>>().join(" ");
    // Without the processor's flag, as on ARM, only well-known names tell a guest from a machine.
    let known =
        ["QEMU", "KVM", "VMware", "VirtualBox", "innotek", "Xen", "Bochs", "Parallels", "Firecracker"];
    let named = known.iter().any(|name| firmware.contains(name));
    let guest = flagged || named;
    let word = if firmware.is_empty() { "unnamed".to_owned() } else { firmware };
    guest.then_some(word)
}

/// Whether a DAMON context that may reclaim runs: as a module, by its administration files, or seen
/// as a kernel thread.
fn reclaims_by_itself() -> bool {
    let enabled = |module: &str| {
        let on = line(&format!("/sys/module/{module}/parameters/enabled"));
        on.is_some_and(|on| on == "Y" || on == "1")
    };
    let says = |folder: &str, file: &str, wanted: fn(&str) -> bool| {
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let mut texts = entries.filter_map(|entry| fs::read_to_string(entry.path().join(file)).ok());
        texts.any(|text| wanted(text.trim()))
    };
    enabled("damon_reclaim")
        || enabled("damon_lru_sort")
        || says("/sys/kernel/mm/damon/admin/kdamonds", "state", |state| state == "on")
        // This module only watches, by a thread that looks like all others.
        || (!enabled("damon_stat") && says("/proc", "comm", |name| name.starts_with("kdamond")))
}

/// Whether /proc/swaps lists anything behind its heading.
fn swap_is_on() -> bool {
    fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().nth(1).is_some())
}

/// Tries to set up the smallest ring; why not, if not. The switch in /proc explains a refusal best.
fn io_uring_refused() -> Option<String> {
    // `struct io_uring_params` is 120 bytes long; zeros ask for nothing special.
    let mut params = [0_u64; 15];
    // SAFETY: io_uring_setup(2) reads and writes only the 120 bytes of `params`, which outlive the
    // call; a ring that it opens is a file descriptor that is closed below.
    let ring = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, params.as_mut_ptr()) };
    let cause = io::Error::last_os_error();
    if let Ok(ring @ 0..) = i32::try_from(ring) {
        // SAFETY: the descriptor was opened above and nobody else knows it.
        drop(unsafe { <std::os::fd::OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(ring) });
        return None;
    }
    Some(match line("/proc/sys/kernel/io_uring_disabled").as_deref() {
        Some("2") => "kernel.io_uring_disabled is 2: switched off for all".to_owned(),
        Some("1") => "kernel.io_uring_disabled is 1: switched off for ordinary users".to_owned(),
        _ => format!("io_uring_setup: {cause}"),
    })
}

fn nanos(time: rustix::time::Timespec) -> u64 {
    u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).unwrap_or(0)
}

fn clock_resolution_ns() -> u64 {
    nanos(clock_getres(ClockId::Monotonic))
}

/// The median difference of two readings, one right after the other.
fn clock_overhead_ns() -> u64 {
    let readings: Vec<u64> = (0..=CLOCK_READINGS).map(|_| nanos(clock_gettime(ClockId::Monotonic))).collect();
    let mut costs: Vec<u64> = readings.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    costs.sort_unstable();
    costs[costs.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_in_force_stands_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(chosen("none"), "none");
    }

    #[test]
    fn this_machine_is_found() {
        let machine = Machine::probe();
        assert_eq!(machine.system.split(' ').count(), 2);
        assert!(!machine.kernel.is_empty());
        assert!(machine.cpus >= 1 && machine.memory_bytes > 0 && machine.page_bytes >= 4096);
        assert!(machine.clock_resolution_ns >= 1);
        assert_eq!(
            machine.max_turbo_ghz.is_some(),
            std::path::Path::new("/sys/devices/system/cpu/cpu0/cpufreq").exists()
        );
        #[cfg(target_arch = "x86_64")]
        assert!(machine.cpu_features.contains(&"sse2".to_owned()));
        let json = serde_json::to_string(&machine).unwrap();
        assert_eq!(serde_json::from_str::<Machine>(&json).unwrap(), machine);
    }

    #[test]
    fn processors_are_those_this_thread_may_use() {
        let counted = std::thread::spawn(|| {
            let mut one = rustix::thread::CpuSet::new();
            let all = rustix::thread::sched_getaffinity(None).unwrap();
            one.set((0..1024).find(|&cpu| all.is_set(cpu)).unwrap());
            rustix::thread::sched_setaffinity(None, &one).unwrap();
            cpus()
        });
        assert_eq!(counted.join().unwrap(), 1);
    }

    #[test]
    fn a_ring_that_is_refused_has_a_reason() {
        if let Some(reason) = io_uring_refused() {
            assert!(reason.contains("io_uring"), "{reason}");
        }
    }
}
