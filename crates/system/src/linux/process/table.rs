//! The table of processes, from /proc/PID/stat of each process that this user can see.

use super::counters::tick_ns;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs;
use std::os::fd::OwnedFd;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessEntry {
    pub pid: u32,
    /// The program's name, at most 15 bytes long; the process can choose it.
    pub name: String,
    /// True if the process has ended and was not reaped.
    pub has_ended: bool,
    /// True if the process is running, runnable, or waiting for a device.
    pub is_busy: bool,
    pub parent: u32,
    pub group: u32,
    pub session: u32,
    /// CPU time used so far, rounded to whole clock ticks.
    pub cpu_ns: u64,
    /// Start time in clock ticks since boot. Together with the process id it identifies the process
    /// uniquely.
    pub started_ticks: u64,
}

/// All processes that this user can see. Processes that end during the call are left out.
pub fn all_processes() -> Vec<ProcessEntry> {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    folders.filter_map(|folder| process_entry(folder.file_name().to_str()?.parse().ok()?)).collect()
}

/// One process; `None` if there is none with this id or this user may not see it.
pub fn process_entry(pid: u32) -> Option<ProcessEntry> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    ProcessEntry::parse(pid, &String::from_utf8_lossy(&stat))
}

impl ProcessEntry {
    /// Parses a line by proc_pid_stat(5). The name is in parentheses and may contain parentheses
    /// itself; the first field after it is number three.
    fn parse(pid: u32, stat: &str) -> Option<ProcessEntry> {
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let ticks = |at: usize| fields.get(at - 3)?.parse::<u64>().ok();
        // The group and session of kernel threads, and of processes in other namespaces, are 0.
        let id = |at: usize| fields.get(at - 3)?.parse::<i32>().ok().map(|id| u32::try_from(id).unwrap_or(0));
        Some(ProcessEntry {
            pid,
            name: name.to_owned(),
            has_ended: matches!(*fields.first()?, "Z" | "X"),
            is_busy: matches!(*fields.first()?, "R" | "D"),
            parent: id(4)?,
            group: id(5)?,
            session: id(6)?,
            cpu_ns: (ticks(14)? + ticks(15)?) * tick_ns(),
            started_ticks: ticks(22)?,
        })
    }
}

/// A process held by a descriptor, so that a signal cannot reach another process that reused its
/// id.
#[derive(Debug)]
pub struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    /// Opens the process of an entry; `None` if it has ended, or the kernel has no process
    /// descriptors.
    pub fn open(entry: &ProcessEntry) -> Option<ProcessHandle> {
        let pid = Pid::from_raw(entry.pid.cast_signed())?;
        let handle = ProcessHandle(pidfd_open(pid, PidfdFlags::empty()).ok()?);
        // The id may have been reused for another process before it was opened.
        let now = process_entry(entry.pid)?;
        (now.started_ticks == entry.started_ticks).then_some(handle)
    }

    /// Kills the process. If it has ended meanwhile or belongs to another user, nothing happens.
    pub fn kill(&self) {
        let _ = pidfd_send_signal(&self.0, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ForkCommand, ForkedProcess};
    use super::*;
    use std::path::Path;

    #[test]
    fn a_process_name_cannot_forge_fields_of_stat() {
        let stat = "7 (a) b\u{1b}[31m (c) S 1 2 3 4 5 6 7 8 9 10 40 2 0 0 20 0 1 0 99";
        let entry = ProcessEntry::parse(7, stat).unwrap();
        assert_eq!(entry.name, "a) b\u{1b}[31m (c");
        assert_eq!((entry.parent, entry.group, entry.session), (1, 2, 3));
        assert_eq!((entry.has_ended, entry.is_busy, entry.cpu_ns), (false, false, 42 * tick_ns()));
        assert_eq!(entry.started_ticks, 99);
        assert_eq!(ProcessEntry::parse(7, "7 (a) S 1"), None);
    }

    #[test]
    fn this_process_is_in_the_process_table() {
        let own = std::process::id();
        assert!(all_processes().iter().any(|entry| entry.pid == own && !entry.has_ended));
        assert_eq!(process_entry(u32::MAX >> 1), None);
    }

    #[test]
    fn a_handle_kills_only_the_process_of_its_entry() {
        let mut process = ForkedProcess::start(Path::new("/dev/null"));
        let seen = super::process_entry(process.pid()).unwrap();
        let earlier = ProcessEntry { started_ticks: seen.started_ticks.wrapping_sub(1), ..seen.clone() };
        assert!(ProcessHandle::open(&earlier).is_none(), "another process had this number");
        process.execute(ForkCommand::Touch64MiB);
        let handle = ProcessHandle::open(&seen).unwrap();
        process.exit();
        process.kill_and_reap();
        handle.kill();
        assert!(ProcessHandle::open(&seen).is_none());
    }
}
