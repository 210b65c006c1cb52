//! Ends all processes below a process, whatever their session, group or parent.
//!
//! A process that ends its own leftovers is a *subreaper* (prctl(2), `PR_SET_CHILD_SUBREAPER`): it
//! becomes the parent of processes whose parent ends. Only children are killed. The id of a child
//! is not reused until it is reaped, so no other process can be hit, and the children of a killed
//! process become children of the subreaper. [`super::supervisor`] and [`super::launcher`] are
//! subreapers.

use super::running::LeftoverCounts;
use crate::process::{all_processes, process_entry};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

/// The first wait before a killed child is checked; each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_micros(200);

const WAIT_MAX: Duration = Duration::from_millis(10);

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct EndedProcesses {
    /// Counts of the processes below this one, without the spared child.
    pub(super) leftovers: LeftoverCounts,
    /// The exit status of the watched child; `None` if it has not ended, or none was watched.
    pub(super) status: Option<i32>,
}

pub(super) fn children_of(pid: u32) -> Vec<u32> {
    match fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")) {
        Ok(children) => children.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect(),
        // The kernel lacks this list, or the process has ended.
        Err(error) if error.kind() == io::ErrorKind::NotFound => children_by_parent(pid),
        Err(_) => Vec::new(),
    }
}

fn children_by_parent(pid: u32) -> Vec<u32> {
    all_processes().into_iter().filter(|process| process.parent == pid).map(|process| process.pid).collect()
}

/// True if a process is running; false for a zombie.
pub(super) fn is_running(pid: u32) -> bool {
    process_entry(pid).is_some_and(|process| !process.has_ended)
}

/// Reaps the children of this process that have ended, except `spared`; returns the children that
/// are left.
pub(super) fn reap_and_list_running(spared: Option<u32>) -> Vec<u32> {
    let children = children_of(std::process::id()).into_iter().filter(|&child| Some(child) != spared);
    children.filter(|&child| !matches!(try_reap(child), ChildState::Ended(_))).collect()
}

enum ChildState {
    Running,
    /// The child has ended; with its status, unless it was reaped before.
    Ended(Option<i32>),
}

fn try_reap(child: u32) -> ChildState {
    let Some(pid) = Pid::from_raw(child.cast_signed()) else { return ChildState::Ended(None) };
    match waitpid(Some(pid), WaitOptions::NOHANG) {
        Ok(None) | Err(rustix::io::Errno::INTR) => ChildState::Running,
        Ok(Some((_, status))) => ChildState::Ended(Some(status.as_raw())),
        Err(_) => ChildState::Ended(None),
    }
}

/// Kills and reaps all children of this process except `spared`, including children that it
/// inherits meanwhile, until none is left or `time_limit` is over. The status is that of `watched`,
/// which must be a child.
pub(super) fn end_children(
    spared: Option<u32>,
    watched: Option<u32>,
    time_limit: Duration,
) -> EndedProcesses {
    let (mut outcome, mut killed) = (EndedProcesses::default(), BTreeSet::new());
    let deadline = Instant::now() + time_limit;
    let (mut open, mut step) = (watched, FIRST_WAIT);
    loop {
        let mut children = children_of(std::process::id());
        children.extend(open.filter(|pid| !children.contains(pid)));
        children.retain(|&child| Some(child) != spared);
        for &child in &children {
            if let ChildState::Ended(status) = kill_and_reap(child, &mut killed) {
                open = open.filter(|&pid| pid != child);
                outcome.status = status.filter(|_| Some(child) == watched).or(outcome.status);
            }
        }
        outcome.leftovers.ended = u32::try_from(killed.len()).unwrap_or(u32::MAX);
        if children.is_empty() {
            return outcome;
        }
        if Instant::now() >= deadline {
            outcome.leftovers.remaining =
                u32::try_from(reap_and_list_running(spared).len()).unwrap_or(u32::MAX);
            return outcome;
        }
        std::thread::sleep(step);
        step = WAIT_MAX.min(step * 2);
    }
}

/// Kills the children of this process, which must not reap them meanwhile.
pub(super) fn kill_children() {
    for pid in children_of(std::process::id()).into_iter().filter_map(|it| Pid::from_raw(it.cast_signed())) {
        // A process of another user cannot be killed.
        let _ = kill_process(pid, Signal::KILL);
    }
}

pub(super) fn kill_group(leader: u32) {
    if let Some(group) = Pid::from_raw(leader.cast_signed()) {
        // An empty group is not a failure, and no other error is possible for a group of our own
        // children.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Kills a child unless it has ended, and adds it to `killed` if it was running.
fn kill_and_reap(child: u32, killed: &mut BTreeSet<u32>) -> ChildState {
    let first = try_reap(child);
    if let (ChildState::Running, Some(pid)) = (&first, Pid::from_raw(child.cast_signed())) {
        killed.insert(child);
        // A process of another user cannot be killed; it is counted as remaining.
        let _ = kill_process(pid, Signal::KILL);
        return try_reap(child);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn children_are_found_with_and_without_the_kernels_list() {
        let mut child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
        let (own, pid) = (std::process::id(), child.id());
        // The kernel lists the children of the first thread of a process, but a test runs in
        // another thread.
        let by_list = fs::read_dir("/proc/self/task").unwrap().flatten().any(|task| {
            let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            list.split_ascii_whitespace().any(|word| word == pid.to_string())
        });
        assert!(by_list || !std::path::Path::new("/proc/thread-self/children").exists());
        assert!(children_by_parent(own).contains(&pid) && is_running(pid));
        child.kill().unwrap();
        let ended = (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            !is_running(pid)
        });
        assert!(ended, "a process that was killed does not run");
        child.wait().unwrap();
        assert!(!children_by_parent(own).contains(&pid) && !is_running(pid));
    }
}
