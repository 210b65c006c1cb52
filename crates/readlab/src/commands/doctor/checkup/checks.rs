//! The checks, in the order of their importance. Each checks one property.

use super::{CheckupFacts, Finding, FindingLevel};
use readlab_measure::busy::BusyProcess;
use readlab_model::target::TargetFacts;
use readlab_model::target::device::{IoQuota, ReadAhead};
use readlab_model::units::{Bytes, Nanos, Throughput};

/// A check returns no finding, one finding, or several.
type MachineCheck = fn(&CheckupFacts) -> Vec<Finding>;

/// Smallest share of a processor that makes another process a disturbance. Idle shells, editors and
/// daemons use less.
const BUSY_PROCESSOR_SHARE: f64 = 0.1;
/// Load per processor above which the machine counts as busy.
const BUSY_LOAD_PER_CPU: f64 = 0.25;
/// Largest number of busy processes that are named.
const NAMED_PROCESSES_MAX: usize = 3;
/// Longest time that reading the clock takes in user space; with a system call it takes longer.
const CLOCK_OVERHEAD_MAX_NS: u64 = 200;

pub(super) const ALL_CHECKS: [MachineCheck; 24] = [
    check_other_readlab,
    check_busy_processes,
    check_high_load,
    check_proactive_reclaim,
    check_frequency_governor,
    check_turbo_state,
    check_single_processor,
    check_processor_quota,
    check_io_quota,
    check_short_read_ahead,
    check_clock_precision,
    check_too_big_for_memory,
    check_memory_limit,
    check_swap_use,
    check_hypervisor,
    check_huge_page_setting,
    check_missing_meters,
    check_syscall_counts,
    check_right_to_drop_caches,
    check_right_to_bound_memory,
    check_residency_count_support,
    check_io_uring_support,
    check_unknown_turbo,
    check_target_cautions,
];

fn spoiling_finding(property: impl Into<String>, effect: &str, remedy: Option<&str>) -> Vec<Finding> {
    finding(FindingLevel::Spoils, property, effect, remedy)
}

fn limiting_finding(property: impl Into<String>, effect: &str, remedy: Option<&str>) -> Vec<Finding> {
    finding(FindingLevel::Note, property, effect, remedy)
}

fn helpful_finding(property: impl Into<String>, effect: &str) -> Vec<Finding> {
    finding(FindingLevel::Helps, property, effect, None)
}

fn finding(
    level: FindingLevel,
    property: impl Into<String>,
    effect: &str,
    remedy: Option<&str>,
) -> Vec<Finding> {
    vec![Finding {
        level,
        property: property.into(),
        effect: effect.to_owned(),
        remedy: remedy.map(str::to_owned),
    }]
}

fn check_other_readlab(facts: &CheckupFacts) -> Vec<Finding> {
    let Some(lab) = facts.busy_processes.iter().find(|process| process.name == env!("CARGO_PKG_NAME")) else {
        return Vec::new();
    };
    let mend = format!("wait until it has ended, or: kill -INT {}", lab.pid);
    let why =
        "two labs on one machine spoil each other's measurements: caches, processors and device are shared";
    spoiling_finding(format!("another readlab is measuring (process {})", lab.pid), why, Some(&mend))
}

fn check_busy_processes(facts: &CheckupFacts) -> Vec<Finding> {
    let busy: Vec<&BusyProcess> = facts
        .busy_processes
        .iter()
        .filter(|process| process.processors_used >= BUSY_PROCESSOR_SHARE)
        .collect();
    let named = busy.iter().take(NAMED_PROCESSES_MAX).map(|process| {
        format!(
            "{} (process {}: {:.0} % of a processor)",
            process.name,
            process.pid,
            process.processors_used * 100.0
        )
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() {
        return Vec::new();
    }
    let more = match busy.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let why = "what runs beside a reader takes its processors, its caches and its share of memory bandwidth";
    spoiling_finding(
        format!("busy: {}{more}", named.join(", ")),
        why,
        Some("let it finish, or stop it while measuring"),
    )
}

fn check_high_load(facts: &CheckupFacts) -> Vec<Finding> {
    let cpus = facts.machine.cpu_count.max(1);
    match facts.machine.load_1min {
        Some(load) if load >= BUSY_LOAD_PER_CPU * cpus as f64 => {
            let why = "over the last minute other work waited for processors; rounds will differ more than they must";
            spoiling_finding(
                format!("load {load:.2} on {cpus} processors"),
                why,
                Some("wait until the load has fallen"),
            )
        }
        Some(load) => {
            helpful_finding(format!("load {load:.2} on {cpus} processors"), "nothing much else runs here")
        }
        None => Vec::new(),
    }
}

fn check_proactive_reclaim(facts: &CheckupFacts) -> Vec<Finding> {
    if !facts.machine.has_proactive_reclaim {
        return Vec::new();
    }
    let why = "the kernel takes pages that were not used for a while out of the cache: a warm file does not stay warm";
    let mend = "as root: echo N > /sys/module/damon_reclaim/parameters/enabled; \
                for state in /sys/kernel/mm/damon/admin/kdamonds/*/state; do echo off > $state; done";
    spoiling_finding("proactive reclaim (DAMON) is on", why, Some(mend))
}

fn check_frequency_governor(facts: &CheckupFacts) -> Vec<Finding> {
    match facts.machine.governor.as_deref() {
        Some("performance") => {
            helpful_finding("frequency governor: performance", "the clock does not fall between turns")
        }
        Some(other) => {
            let why = "the clock falls between turns and rises within them: short readings look slower than they are";
            let mend = "as root: cpupower frequency-set -g performance";
            spoiling_finding(format!("frequency governor: {other}"), why, Some(mend))
        }
        None => limiting_finding(
            "frequency governor: unknown",
            "who sets the clock cannot be seen from here, as usual in a guest; drift shows in the rounds",
            None,
        ),
    }
}

fn check_turbo_state(facts: &CheckupFacts) -> Vec<Finding> {
    match facts.machine.is_turbo_allowed {
        Some(true) => {
            let why = "a processor runs faster while it is cool and its neighbours rest: rounds drift with the warmth";
            let mend = "as root, while measuring: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo; \
                        elsewhere: echo 0 > /sys/devices/system/cpu/cpufreq/boost";
            limiting_finding("turbo is on", why, Some(mend))
        }
        Some(false) => helpful_finding("turbo is off", "the clock does not depend on the warmth"),
        None => Vec::new(),
    }
}

fn check_single_processor(facts: &CheckupFacts) -> Vec<Finding> {
    if facts.machine.cpu_count != 1 {
        return Vec::new();
    }
    let why = "the lab, the reader and the kernel's workers take turns on it, and methods with threads gain nothing";
    spoiling_finding("one processor only", why, Some("allow more: taskset, or the control group's cpuset"))
}

fn check_clock_precision(facts: &CheckupFacts) -> Vec<Finding> {
    let resolution = Nanos(facts.machine.clock_resolution_ns);
    let overhead = Nanos(facts.machine.clock_overhead_ns);
    if resolution.0 <= 1 && overhead.0 <= CLOCK_OVERHEAD_MAX_NS {
        return helpful_finding(format!("clock: {overhead} a look"), "fine enough for the shortest readings");
    }
    let why = "two looks at it stand in every window: files below a few kilobytes look slower than they are";
    let mend = "see /sys/devices/system/clocksource/clocksource0/: as root, echo tsc > current_clocksource where \
                available_clocksource lists it";
    spoiling_finding(format!("clock: steps of {resolution}, {overhead} a look"), why, Some(mend))
}

fn check_processor_quota(facts: &CheckupFacts) -> Vec<Finding> {
    let Some(quota) = facts.machine.effective_cpu_quota() else { return Vec::new() };
    let why = "a reader that has used its share of a period is stopped until the next, and its time includes the wait";
    let mend =
        "measure where cpu.max (cpu.cfs_quota_us) of this control group and of those around it has no quota";
    spoiling_finding(format!("this control group may use {quota:.2} processors"), why, Some(mend))
}

fn check_io_quota(facts: &CheckupFacts) -> Vec<Finding> {
    let one = |quota: &IoQuota| {
        let reads = quota.reads_per_s.map(|reads| format!("{reads} reads/s"));
        let bytes = quota.bytes_per_s.map(|bytes| Throughput(bytes as f64).to_string());
        let granted: Vec<String> = bytes.into_iter().chain(reads).collect();
        let what = format!("this control group may read {} of {}", granted.join(" and "), quota.device);
        let why = "a cold reading gets what the quota grants, and so does the control that shows the device's limit";
        let mend = format!(
            "measure where {} of this control group and of those around it has no quota for reads",
            quota.setting
        );
        spoiling_finding(what, why, Some(&mend))
    };
    facts.io_quotas.iter().flat_map(one).collect()
}

fn check_short_read_ahead(facts: &CheckupFacts) -> Vec<Finding> {
    let Some(ahead) = facts.target.and_then(TargetFacts::read_ahead).filter(ReadAhead::is_below_default)
    else {
        return Vec::new();
    };
    let why = "readers through the page cache wait for the device again and again, because the kernel fetches few bytes at a time";
    let mend = format!("as root: {}", ahead.command_to_set_default());
    limiting_finding(
        format!("read-ahead of {} ({})", Bytes(ahead.bytes).binary_text(), ahead.setting_path),
        why,
        Some(&mend),
    )
}

fn check_too_big_for_memory(facts: &CheckupFacts) -> Vec<Finding> {
    let Some(target) = facts.target else { return Vec::new() };
    let machine = facts.machine;
    let limit = machine.memory_limit_bytes.unwrap_or(u64::MAX);
    let room = machine.memory_available_bytes.min(limit);
    if target.size_bytes <= room {
        return Vec::new();
    }
    let (size, room) = (Bytes(target.size_bytes).binary_text(), Bytes(room).binary_text());
    let why =
        "it cannot be in the cache as a whole: warm samples will be refused, only cold ones can be proven";
    spoiling_finding(
        format!("the file ({size}) is larger than free memory ({room})"),
        why,
        Some("use --state cold"),
    )
}

fn check_memory_limit(facts: &CheckupFacts) -> Vec<Finding> {
    let machine = facts.machine;
    let Some(limit) = machine.memory_limit_bytes.filter(|limit| *limit < machine.memory_bytes) else {
        return Vec::new();
    };
    let why = "the page cache counts in it: files near this size are evicted while they are read";
    limiting_finding(format!("this control group may use {}", Bytes(limit).binary_text()), why, None)
}

fn check_swap_use(facts: &CheckupFacts) -> Vec<Finding> {
    if !facts.machine.has_swap {
        return Vec::new();
    }
    let why = "buffers of a waiting reader may be written out, and come back inside its window";
    limiting_finding("swap is on", why, Some("as root, while measuring: swapoff -a"))
}

fn check_hypervisor(facts: &CheckupFacts) -> Vec<Finding> {
    let Some(hypervisor) = &facts.machine.hypervisor else { return Vec::new() };
    let why = "cold means cold in this guest: its host may hold the file in memory, and neighbours share the device";
    let mend = "compare a second cold pass with the first; measure on the host where it matters";
    limiting_finding(format!("a virtual machine ({hypervisor})"), why, Some(mend))
}

fn check_huge_page_setting(facts: &CheckupFacts) -> Vec<Finding> {
    match facts.machine.transparent_huge_pages.as_deref() {
        Some("never") => {
            let why = "the memory limit is measured on pages of 4 KiB and comes out lower than the machine could do";
            let mend = "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
            spoiling_finding("transparent huge pages: never", why, Some(mend))
        }
        Some("always") => {
            let why = "every program gets them unasked: peak memory grows in steps of 2 MiB";
            limiting_finding("transparent huge pages: always", why, None)
        }
        Some(mode) => {
            helpful_finding(format!("transparent huge pages: {mode}"), "programs that ask get them")
        }
        None => Vec::new(),
    }
}

/// Checks the meters that every user has on an ordinary system.
fn check_missing_meters(facts: &CheckupFacts) -> Vec<Finding> {
    let rights = facts.rights;
    let missing = [
        (&rights.reset_peak_memory, "peak memory is not measured"),
        (
            &rights.count_device_reads,
            "bytes from the device are not measured, so a cold sample lacks half of its proof",
        ),
        (&rights.count_mallocs, "allocations are not counted"),
        (&rights.see_other_processes, "work of other users that disturbs is not seen"),
    ];
    let missing = missing.into_iter().filter_map(|(right, why)| Some((right.as_ref().err()?, why)));
    missing.flat_map(|(reason, why)| limiting_finding(reason.clone(), why, None)).collect()
}

fn check_syscall_counts(facts: &CheckupFacts) -> Vec<Finding> {
    let Err(reason) = &facts.rights.count_syscalls else {
        return helpful_finding("system calls can be counted", "by the kernel's own tracepoint");
    };
    let mend = "run as root, or as root, with the group of the user: sysctl kernel.perf_event_paranoid=1; \
                mount -t tracefs nodev /sys/kernel/tracing; mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing";
    limiting_finding(
        reason.clone(),
        "counts of system calls will be empty; nothing else needs them",
        Some(mend),
    )
}

fn check_right_to_drop_caches(facts: &CheckupFacts) -> Vec<Finding> {
    let Err(reason) = &facts.rights.drop_caches else {
        return helpful_finding("the page cache of the machine can be emptied", "with --drop-caches");
    };
    let why = "a file is made cold by posix_fadvise alone, which skips pages that another program has mapped";
    limiting_finding(
        reason.clone(),
        why,
        Some("run as root with --drop-caches, only if a file does not get cold"),
    )
}

fn check_right_to_bound_memory(facts: &CheckupFacts) -> Vec<Finding> {
    let Err(reason) = &facts.rights.bound_memory else {
        return helpful_finding(
            "control groups can bound memory",
            "--memory reads files as if they were larger than memory",
        );
    };
    limiting_finding(reason.clone(), "the state between cold and warm cannot be made (--memory)", None)
}

fn check_residency_count_support(facts: &CheckupFacts) -> Vec<Finding> {
    let Err(reason) = &facts.rights.count_residency else {
        return helpful_finding("cachestat is there", "what is cached is asked of the kernel in one call");
    };
    limiting_finding(
        reason.clone(),
        "what is cached is proven by mincore or by reads that must not wait, which takes longer",
        None,
    )
}

fn check_io_uring_support(facts: &CheckupFacts) -> Vec<Finding> {
    let Some(reason) = &facts.machine.io_uring_refusal else { return Vec::new() };
    let why = "methods on io_uring are unavailable; all others run";
    limiting_finding(format!("io_uring: {reason}"), why, Some("as root: sysctl kernel.io_uring_disabled=0"))
}

fn check_unknown_turbo(facts: &CheckupFacts) -> Vec<Finding> {
    if facts.machine.max_turbo_ghz.is_some() {
        return Vec::new();
    }
    let why = "comparing machines by their clock (compare --fit) leaves this one out";
    limiting_finding("the highest clock of the processor is unknown", why, None)
}

fn check_target_cautions(facts: &CheckupFacts) -> Vec<Finding> {
    let cautions = facts.target.into_iter().flat_map(|target| &target.cautions);
    cautions
        .flat_map(|caution| {
            limiting_finding(caution.clone(), "a fact of the file or of its file system", None)
        })
        .collect()
}
