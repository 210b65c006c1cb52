//! How the threads of a contender are scheduled, looked at from outside, and what was given to it:
//! that of its parent.

use readlab_protocol::Scheduling;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::fs;

/// How the first thread of a process is scheduled; `None` if it has gone or may not be seen.
pub(super) fn of_process(pid: u32) -> Option<Scheduling> {
    of_thread(pid, pid)
}

/// Every way in which threads of a process are scheduled that is not the given one.
pub(super) fn others_than(given: &Scheduling, pid: u32) -> Vec<Scheduling> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let threads = threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut others = Vec::new();
    for its in threads.filter_map(|thread| of_thread(pid, thread)) {
        if its != *given && !others.contains(&its) {
            others.push(its);
        }
    }
    others
}

fn of_thread(pid: u32, thread: u32) -> Option<Scheduling> {
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{thread}/stat")).ok()?;
    let set = sched_getaffinity(Pid::from_raw(thread.cast_signed())).ok()?;
    let processors = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    Scheduling::from_stat(&stat, processors.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn only_what_differs_from_what_was_given_is_another() {
        let given = of_process(std::process::id()).unwrap();
        let mut nicer = Command::new("nice").args(["-n", "2", "sleep", "600"]).spawn().unwrap();
        let changed = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            others_than(&given, nicer.id()) == [Scheduling { nice: given.nice + 2, ..given.clone() }]
        });
        nicer.kill().unwrap();
        nicer.wait().unwrap();
        assert!(changed, "{:?}", others_than(&given, nicer.id()));
        assert!(of_process(nicer.id()).is_none() && others_than(&given, nicer.id()).is_empty());
        let mut same = Command::new("sleep").arg("600").spawn().unwrap();
        let others = others_than(&given, same.id());
        same.kill().unwrap();
        same.wait().unwrap();
        assert!(others.is_empty(), "{others:?}");
    }
}
