//! Compares the scheduling of a command at its end with that of this contender. The differences are
//! changes that the command made.

use readlab_protocol::Scheduling;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::fs;

/// The changes by a command that has ended and was not reaped; `None` if it changed nothing, or if
/// that is not known.
pub(crate) fn changed_by(command: u32) -> Option<Scheduling> {
    let (own, its) = (own_scheduling()?, scheduling_of(command)?);
    (its != own).then_some(its)
}

/// The scheduling of this contender, with which every command begins.
pub(crate) fn own_scheduling() -> Option<Scheduling> {
    scheduling_of(std::process::id())
}

fn scheduling_of(process: u32) -> Option<Scheduling> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let set = sched_getaffinity(Pid::from_raw(process.cast_signed())).ok()?;
    let processors = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    Scheduling::from_stat(&stat, processors.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}
