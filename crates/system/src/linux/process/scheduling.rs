//! How a thread of a process is scheduled, seen from outside.

use readlab_protocol::Scheduling;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::fs;

/// How a thread is scheduled; `None` if it has ended or may not be seen.
pub fn scheduling_of_thread(pid: u32, thread: u32) -> Option<Scheduling> {
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{thread}/stat")).ok()?;
    let set = sched_getaffinity(Pid::from_raw(thread.cast_signed())).ok()?;
    let processors = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    Scheduling::from_stat(&stat, processors.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}
