//! Tests of the checks, on invented machines.

use super::*;
use readlab_model::target::device::Device;
use std::sync::LazyLock;

fn all_rights() -> Rights {
    Rights {
        count_syscalls: Ok(()),
        count_mallocs: Ok(()),
        reset_peak_memory: Ok(()),
        count_device_reads: Ok(()),
        drop_caches: Ok(()),
        bound_memory: Ok(()),
        count_residency: Ok(()),
        see_other_processes: Ok(()),
    }
}

/// A machine that measures without disturbances.
fn ideal_machine() -> Machine {
    Machine {
        cpu_count: 8,
        governor: Some("performance".into()),
        max_turbo_ghz: Some(5.0),
        memory_bytes: 16 << 30,
        memory_available_bytes: 12 << 30,
        transparent_huge_pages: Some("madvise".into()),
        load_1min: Some(0.01),
        clock_resolution_ns: 1,
        clock_overhead_ns: 25,
        ..Machine::default()
    }
}

fn ideal_facts() -> CheckupFacts<'static> {
    static MACHINE: LazyLock<Machine> = LazyLock::new(ideal_machine);
    static RIGHTS: LazyLock<Rights> = LazyLock::new(all_rights);
    CheckupFacts { machine: &MACHINE, target: None, rights: &RIGHTS, io_quotas: &[], busy_processes: &[] }
}

fn findings_of(machine: &Machine) -> Vec<Finding> {
    judge(&CheckupFacts { machine, ..ideal_facts() })
}

type MachineEdit = fn(&mut Machine);

/// The only finding that a change of the ideal machine adds.
fn added_finding(change: MachineEdit) -> Finding {
    let mut machine = ideal_machine();
    change(&mut machine);
    let before = findings_of(&ideal_machine());
    let new: Vec<Finding> =
        findings_of(&machine).into_iter().filter(|finding| !before.contains(finding)).collect();
    assert_eq!(new.len(), 1, "{new:?}");
    new[0].clone()
}

#[test]
fn an_ideal_machine_has_only_helpful_findings() {
    let findings = findings_of(&ideal_machine());
    assert!(findings.len() >= 5);
    assert!(findings.iter().all(|finding| finding.level == FindingLevel::Helps), "{findings:?}");
}

#[test]
fn each_disturbance_is_found_with_its_remedy() {
    let changes: [(MachineEdit, &str, &str); 7] = [
        (|m| m.governor = Some("powersave".into()), "powersave", "cpupower"),
        (|m| m.load_1min = Some(2.0), "load 2.00", "wait"),
        (|m| m.has_proactive_reclaim = true, "DAMON", "damon_reclaim/parameters/enabled"),
        (|m| m.cpu_count = 1, "one processor", "taskset"),
        (|m| m.cpu_quota = Some(0.5), "may use 0.50 processors", "cpu.max"),
        (|m| m.clock_overhead_ns = 900, "900 ns", "clocksource"),
        (|m| m.transparent_huge_pages = Some("never".into()), "never", "madvise"),
    ];
    for (change, what, mend) in changes {
        let machine = &mut ideal_machine();
        change(machine);
        let found =
            findings_of(machine).into_iter().find(|finding| finding.property.contains(what)).expect(what);
        assert_eq!(found.level, FindingLevel::Spoils, "{found:?}");
        assert!(found.remedy.as_ref().is_some_and(|text| text.contains(mend)), "{found:?}");
    }
}

#[test]
fn limits_are_notes_and_no_disturbances() {
    let changes: [(MachineEdit, &str); 6] = [
        (|m| m.is_turbo_allowed = Some(true), "turbo is on"),
        (|m| m.has_swap = true, "swap"),
        (|m| m.hypervisor = Some("kvm".into()), "kvm"),
        (|m| m.io_uring_refusal = Some("switched off".into()), "io_uring: switched off"),
        (|m| m.memory_limit_bytes = Some(1 << 30), "1.00 GiB"),
        (|m| m.max_turbo_ghz = None, "clock"),
    ];
    for (change, what) in changes {
        let found = added_finding(change);
        assert_eq!(found.level, FindingLevel::Note, "{found:?}");
        assert!(found.property.contains(what), "{found:?}");
    }
}

#[test]
fn a_missing_right_is_reported_with_its_reason_and_the_exact_command() {
    let refused = Err("tracefs: permission denied".to_owned());
    let rights = Rights { count_syscalls: refused, reset_peak_memory: Err("no peak".into()), ..all_rights() };
    let findings = judge(&CheckupFacts { rights: &rights, ..ideal_facts() });
    let found = findings.iter().find(|finding| finding.property == "tracefs: permission denied").unwrap();
    assert!(found.remedy.as_ref().unwrap().contains("kernel.perf_event_paranoid=1"));
    assert!(
        findings.iter().any(|finding| finding.property == "no peak" && finding.level == FindingLevel::Note)
    );
}

#[test]
fn busy_processes_are_named_and_idle_ones_are_not() {
    let process =
        |pid, name: &str, processors| BusyProcess { pid, name: name.into(), processors_used: processors };
    let busy = [process(1, "make", 1.0), process(2, "readlab", 0.9), process(3, "sshd", 0.04)];
    let findings = judge(&CheckupFacts { busy_processes: &busy, ..ideal_facts() });
    assert!(findings[0].property.contains("another readlab") && findings[0].property.contains('2'));
    assert!(
        findings[1].property.contains("make (process 1: 100 % of a processor)"),
        "{}",
        findings[1].property
    );
    assert!(!findings[1].property.contains("sshd"));
}

#[test]
fn a_file_that_no_cache_can_hold_is_reported_before_it_is_raced() {
    let target =
        |size_bytes| TargetFacts { size_bytes, cautions: vec!["sparse".into()], ..TargetFacts::default() };
    let findings_of = |target: &TargetFacts| judge(&CheckupFacts { target: Some(target), ..ideal_facts() });
    assert!(findings_of(&target(13 << 30))[0].property.contains("larger than free memory"));
    let small = findings_of(&target(1 << 30));
    assert_eq!((small[0].level, small[0].property.as_str()), (FindingLevel::Note, "sparse"));
}

#[test]
fn a_quota_of_reads_is_found_with_its_setting() {
    let (device, setting) = ("vda".to_owned(), "blkio.throttle.read_bps_device".to_owned());
    let io_quotas = [IoQuota { device, bytes_per_s: Some(52_428_800), reads_per_s: None, setting }];
    let found = judge(&CheckupFacts { io_quotas: &io_quotas, ..ideal_facts() }).remove(0);
    assert_eq!(
        (found.level, found.property.as_str()),
        (FindingLevel::Spoils, "this control group may read 52.4 MB/s of vda")
    );
    assert!(found.remedy.unwrap().contains("blkio.throttle.read_bps_device"));
}

#[test]
fn a_short_read_ahead_is_named_with_the_command_that_sets_it() {
    let found = |read_ahead_bytes| {
        let device = Device { name: "vda".into(), read_ahead_bytes, ..Device::default() };
        let target = TargetFacts { device: Some(device), ..TargetFacts::default() };
        let findings = judge(&CheckupFacts { target: Some(&target), ..ideal_facts() });
        findings.into_iter().find(|finding| finding.property.contains("read-ahead"))
    };
    let short = found(Some(16 << 10)).unwrap();
    assert_eq!(short.property, "read-ahead of 16.0 KiB (/dev/vda)");
    assert_eq!(short.remedy.as_deref(), Some("as root: blockdev --setra 256 /dev/vda"));
    assert_eq!((found(Some(128 << 10)), found(None)), (None, None));
}

#[test]
fn the_worst_findings_come_first() {
    let machine = Machine { governor: Some("powersave".into()), has_swap: true, ..ideal_machine() };
    let levels: Vec<FindingLevel> = findings_of(&machine).iter().map(|finding| finding.level).collect();
    assert!(levels.is_sorted());
    assert_eq!((levels[0], levels[1]), (FindingLevel::Spoils, FindingLevel::Note));
}
