//! The meters on a process that does exactly what it is commanded to do: a fork of the test that
//! only makes system calls.

use super::*;
use crate::testing::disk_file;
use readlab_system::process;
use readlab_system::process::testing::{ForkCommand, ForkedProcess};
use readlab_targets::target::filesystem::Backing;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const MIB: u64 = 1 << 20;

/// A file of 8 MiB on a device, none of it in the page cache; `None` without a device.
fn cold_file() -> Option<(TempDir, PathBuf)> {
    disk_file(&vec![0x41; 8 << 20], |backing| backing != Backing::Memory)
}

fn metered_process(file: &Path) -> (ForkedProcess, Meters) {
    let process = ForkedProcess::start(file);
    let meters = Meters::open(process.pid(), None);
    (process, meters)
}

#[test]
fn peak_memory_and_page_faults_are_of_this_turn_and_not_of_an_earlier_one() {
    // The process begins as large as the test that it was forked from, so peaks are compared with
    // each other; the margin covers the kernel's approximate counters.
    let (mut process, mut meters) = metered_process(Path::new("/dev/null"));
    let idle = meters.end().peak_rss_bytes.unwrap();
    process.execute(ForkCommand::Touch64MiB);
    let touched = meters.end();
    // Page faults that need no device are minor.
    assert!(touched.minor_faults.unwrap() >= 32, "64 MiB are at least 32 huge pages");
    assert_eq!((touched.major_faults, touched.device_read_bytes), (Ok(0), Ok(0)));
    let busy = touched.peak_rss_bytes.unwrap();
    assert!(idle > 0 && busy >= idle + 63 * MIB, "{busy} after {idle}");
    meters.begin();
    let again = meters.end();
    let again_bytes = again.peak_rss_bytes.unwrap();
    assert!(again_bytes < idle + 16 * MIB, "{again_bytes} after {busy}");
    assert_eq!(again.minor_faults, Ok(0), "nothing happened in this turn");
}

#[test]
fn bytes_from_the_device_are_counted_once_and_cached_bytes_are_not_counted() {
    let Some((_folder, path)) = cold_file() else { return };
    let (mut process, mut meters) = metered_process(&path);
    process.execute(ForkCommand::ReadFile);
    let cold = meters.end().device_read_bytes.unwrap();
    assert!((8 * MIB..9 * MIB).contains(&cold), "{cold}");
    meters.begin();
    process.execute(ForkCommand::ReadFile);
    assert_eq!(meters.end().device_read_bytes, Ok(0));
}

#[test]
fn a_reaped_child_counts_in_bytes_and_page_faults_and_other_meters_are_missing() {
    let Some((_folder, path)) = cold_file() else { return };
    let (mut process, mut meters) = metered_process(&path);
    process.execute(ForkCommand::ReadFileInChild);
    let metered = meters.end();
    assert!(metered.device_read_bytes.unwrap() >= 8 * MIB);
    assert!(metered.minor_faults.unwrap() > 0);
    assert_eq!(metered.cpu_split, Err(MeterError::OtherPrograms));
    assert_eq!(metered.peak_rss_bytes, Err(MeterError::OtherPrograms));
    for meter in [Meter::DelayedNs, Meter::Preemptions] {
        assert_eq!(metered.other_meters[&meter], Err(MeterError::OtherPrograms));
    }
    assert!(metered.whole_turn.read_call_bytes.unwrap() >= 8 * MIB, "what it read passed through calls");
    assert!(metered.whole_turn.cpu_ns.is_ok(), "and its CPU time is known, in ticks");
    assert_eq!((metered.whole_turn.cpu_error_ns, metered.whole_turn.was_alone), (2 * tick_ns(), false));
}

#[test]
fn reads_page_faults_and_memory_of_a_living_child_count_for_the_contender() {
    let Some((_folder, path)) = cold_file() else { return };
    let mut process = ForkedProcess::start(&path);
    process.execute(ForkCommand::Fork);
    let mut meters = Meters::open(process.pid(), None);
    let idle = meters.end();
    meters.begin();
    process.execute(ForkCommand::Touch64MiB);
    let touched = meters.end();
    assert!(touched.minor_faults.unwrap() >= 32, "64 MiB are at least 32 huge pages");
    let (busy, idle) = (touched.peak_rss_bytes.unwrap(), idle.peak_rss_bytes.unwrap());
    assert!(busy >= idle + 63 * MIB, "{busy} after {idle}");
    meters.begin();
    process.execute(ForkCommand::ReadFile);
    let cold = meters.end();
    assert!((8 * MIB..9 * MIB).contains(cold.device_read_bytes.as_ref().unwrap()), "{cold:?}");
    assert!(
        cold.whole_turn.read_call_bytes.clone().unwrap() >= 8 * MIB && !cold.whole_turn.was_alone,
        "{cold:?}"
    );
    assert!(cold.other_meters[&Meter::DelayedNs].is_ok());
    meters.begin();
    process.execute(ForkCommand::Burn);
    let burnt = meters.end();
    assert!((250_000_000..500_000_000).contains(burnt.whole_turn.cpu_ns.as_ref().unwrap()), "{burnt:?}");
}

#[test]
fn the_cpu_time_of_a_contender_behind_a_script_is_counted() {
    let work = "read go; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; read end";
    let mut script = std::process::Command::new("sh");
    script.args(["-c", "sh -c \"$1\"; :", "sh", work]);
    let piped = std::process::Stdio::piped;
    let mut script = script.stdin(piped()).stdout(piped()).spawn().unwrap();
    let (mut go, mut done) = (script.stdin.take().unwrap(), script.stdout.take().unwrap());
    let has_child = || process::all_processes().iter().any(|process| process.parent == script.id());
    while !has_child() {
        std::thread::yield_now();
    }
    let mut meters = Meters::open(script.id(), None);
    meters.begin();
    go.write_all(b"go\n").unwrap();
    done.read_exact(&mut [0; 5]).unwrap();
    let whole = meters.end().whole_turn;
    go.write_all(b"end\n").unwrap();
    script.wait().unwrap();
    assert!(!whole.was_alone);
    // The script itself only waits; a shell needs more than 30 ns to add 1.
    assert!(whole.cpu_ns.clone().unwrap() > 10_000_000, "{:?}", whole.cpu_ns);
    assert_eq!(whole.cpu_error_ns, 0, "of one that lives it is exact");
}

#[test]
fn a_process_that_runs_nothing_else_is_alone_and_its_calls_are_counted() {
    let program = std::env::current_exe().unwrap();
    let (mut process, mut meters) = metered_process(&program);
    process.execute(ForkCommand::ReadFile);
    let whole = meters.end().whole_turn;
    let size = std::fs::metadata(&program).unwrap().len();
    assert!(whole.was_alone);
    assert!(whole.read_call_bytes.clone().unwrap() >= size, "{:?} of {size}", whole.read_call_bytes);
}

#[test]
fn cpu_time_is_exact_and_user_and_system_time_add_up_to_it() {
    let (mut process, mut meters) = metered_process(Path::new("/dev/null"));
    assert!(matches!(meters.end().cpu_split, Err(MeterError::TooFewTicks { .. })));
    meters.begin();
    process.execute(ForkCommand::Burn);
    let metered = meters.end();
    let total = metered.whole_turn.cpu_ns.unwrap();
    assert!((250_000_000..500_000_000).contains(&total), "{total}");
    let split = metered.cpu_split.unwrap();
    assert_eq!(split.user_ns + split.system_ns, total);
    assert!(split.user_ns > 0);
}

#[test]
fn time_taken_by_other_work_is_metered_or_has_a_reason() {
    let (mut process, mut meters) = metered_process(Path::new("/dev/null"));
    process.execute(ForkCommand::Burn);
    let others = meters.end().other_meters;
    let counted = [Meter::DelayedNs, Meter::LabDelayedNs, Meter::Preemptions, Meter::StealNs];
    assert!(counted.iter().all(|meter| others[meter].is_ok()), "{others:?}");
    // Some kernels do not have pressure stall information.
    let is_counted = std::fs::read("/proc/pressure/cpu").is_ok();
    assert_eq!(meters.end().other_meters[&Meter::CpuPressureNs].is_ok(), is_counted);
    process.exit();
    process.kill_and_reap();
    let ended = meters.end().other_meters;
    assert!(ended[&Meter::DelayedNs].is_err() && ended[&Meter::Preemptions].is_err());
    assert!(ended[&Meter::StealNs].is_ok());
}

#[test]
fn meters_of_a_process_that_ended_give_reasons_and_not_zeros() {
    let (mut process, mut meters) = metered_process(Path::new("/dev/null"));
    let pid = process.pid();
    process.exit();
    let zombie = meters.end();
    assert_eq!(zombie.peak_rss_bytes, Err(CounterError::Ended { pid }.into()));
    assert!(zombie.device_read_bytes.is_ok(), "a zombie's input is still known");
    process.kill_and_reap();
    meters.begin();
    let ended = meters.end();
    for reading in [ended.whole_turn.cpu_ns, ended.minor_faults, ended.major_faults, ended.device_read_bytes]
    {
        assert_eq!(reading, Err(CounterError::Ended { pid }.into()));
    }
    assert_eq!(Meters::open(pid, None).end().minor_faults, Err(CounterError::Ended { pid }.into()));
}

#[test]
fn the_split_of_cpu_time_needs_ticks_and_never_overflows() {
    let idle =
        process::ProcessFamily::of_program(std::process::id(), None).counts().faults_and_ticks.unwrap();
    let ticks = |user_ticks, system_ticks| FaultsAndTicks { user_ticks, system_ticks, ..idle };
    assert_eq!(split_cpu_time(90, &ticks(4, 5)), Err(MeterError::TooFewTicks { ticks: 9 }));
    assert_eq!(split_cpu_time(1001, &ticks(9, 1)), Ok(CpuSplit { user_ns: 900, system_ns: 101 }));
    assert_eq!(
        split_cpu_time(u64::MAX, &ticks(1 << 40, 0)),
        Ok(CpuSplit { user_ns: u64::MAX, system_ns: 0 })
    );
}
