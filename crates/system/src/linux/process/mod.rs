//! Information from the kernel about processes: counters, the files that they use, threads and
//! their scheduling, and the table of all processes.

mod counters;
mod family;
mod file_use;
mod mappings;
mod proc_file;
mod table;
pub mod testing;
mod thread_waits;

use super::kernel_file;
pub use counters::{FaultsAndTicks, IoBytes, ProcessCounters, tick_ns};
pub use family::{FamilyCounts, FamilyError, ProcessFamily};
pub use file_use::{FileId, UsedFile, has_mapped, has_open, mapped_files, may_be_inspected, open_files};
pub use mappings::{CodeMapping, VDSO, code_mappings};
pub use proc_file::CounterError;
use readlab_protocol::Scheduling;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::fs::{self, File};
use std::io;
pub use table::{ProcessEntry, ProcessHandle, all_processes, process_entry};
pub use thread_waits::{CountsByThread, DelayCounter, THREAD_COUNTERS};

pub fn threads(pid: u32) -> io::Result<Vec<u32>> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))?;
    Ok(tasks.flatten().filter_map(|task| task.file_name().to_str()?.parse().ok()).collect())
}

/// The name of a thread; `None` if it has ended.
pub fn thread_name(pid: u32, thread: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm")).ok()?;
    Some(name.trim_end_matches('\n').to_owned())
}

/// The scheduling of a thread; `None` if it has ended or must not be inspected.
pub fn scheduling_of_thread(pid: u32, thread: u32) -> Option<Scheduling> {
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{thread}/stat")).ok()?;
    let set = sched_getaffinity(Pid::from_raw(thread.cast_signed())).ok()?;
    let processors = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    Scheduling::from_stat(&stat, processors.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

/// True if any thread of the process is running or runnable.
pub fn any_thread_runs(pid: u32) -> bool {
    let runs = |thread: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/task/{thread}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'))
    };
    threads(pid).unwrap_or_default().into_iter().any(runs)
}

/// Anonymous resident memory of a process, in bytes; `None` if it has ended.
pub fn anonymous_bytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(kernel_file::number_after(&status, "RssAnon:")? * 1024)
}

/// Bytes that a process and its reaped children have read and written so far.
pub fn process_io_bytes(pid: u32) -> Result<IoBytes, CounterError> {
    proc_file::ProcFile::open(pid, "io").read(IoBytes::parse, "read_bytes")
}

/// Checks whether this user may reset the high-water mark of memory of an own process.
pub fn may_reset_peak() -> Result<(), String> {
    // Opening the file changes nothing; only a write would.
    let path = "/proc/self/clear_refs";
    File::options().write(true).open(path).map(drop).map_err(|cause| format!("{path}: {cause}"))
}

/// Checks whether this kernel counts the bytes that a process reads from devices.
pub fn may_count_device_reads() -> Result<(), String> {
    let path = "/proc/self/io";
    fs::read(path).map(drop).map_err(|cause| format!("{path}: {cause}"))
}

/// Checks whether this user can see processes of other users, by the first process, which is
/// root's.
pub fn may_see_processes_of_others() -> Result<(), String> {
    let hidden = |_| "proc is mounted with hidepid: other users' processes are not seen".to_owned();
    fs::read("/proc/1/stat").map(drop).map_err(hidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_threads_of_this_process_are_found() {
        let own = std::process::id();
        assert!(anonymous_bytes(own).is_some_and(|bytes| bytes > 0));
        assert!(threads(own).unwrap().contains(&own) && thread_name(own, own).is_some());
        assert!(any_thread_runs(own), "this thread runs");
        assert!(!any_thread_runs(u32::MAX >> 1) && anonymous_bytes(u32::MAX >> 1).is_none());
    }
}
