//! A process that is held by a descriptor, so that what is done to it cannot hit another one that
//! got its number.

use super::table::{self, ProcessEntry};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;

/// A process of the table of processes.
#[derive(Debug)]
pub struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    /// Of the process that an entry was read of; `None` if it has ended since, or the kernel is
    /// older than such descriptors.
    pub fn open(entry: &ProcessEntry) -> Option<ProcessHandle> {
        let pid = Pid::from_raw(entry.pid.cast_signed())?;
        let handle = ProcessHandle(pidfd_open(pid, PidfdFlags::empty()).ok()?);
        // The number may have come to mean another process before it was opened.
        let now = table::process(entry.pid)?;
        (now.started_ticks == entry.started_ticks).then_some(handle)
    }

    /// Kills it. One that has ended meanwhile needs no killing, and one of another user stays.
    pub fn kill(&self) {
        let _ = pidfd_send_signal(&self.0, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Deed, ForkedProcess};
    use super::*;
    use std::path::Path;

    #[test]
    fn only_the_process_that_was_seen_is_killed() {
        let mut process = ForkedProcess::start(Path::new("/dev/null"));
        let seen = table::process(process.pid()).unwrap();
        let earlier = ProcessEntry { started_ticks: seen.started_ticks.wrapping_sub(1), ..seen.clone() };
        assert!(ProcessHandle::open(&earlier).is_none(), "another process had this number");
        process.does(Deed::Touch64MiB);
        let handle = ProcessHandle::open(&seen).unwrap();
        process.dies();
        process.reap();
        handle.kill();
        assert!(ProcessHandle::open(&seen).is_none());
    }
}
