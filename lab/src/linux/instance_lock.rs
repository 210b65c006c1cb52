//! Labs that measure on one machine at the same time, of whichever users: each is told of the
//! others, for they spoil each other's numbers.
//!
//! A lab that measures holds a shared lock on the folder for temporary files, which everybody may
//! read; /proc/locks tells who else holds one. Nothing is written, so nothing is left behind,
//! however a lab ends. Labs that are given folders of their own (`TMPDIR`) do not see each other;
//! `readlab doctor` looks for other labs by their names.

use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeSet;
use std::fs::File;
use std::time::{Duration, Instant};

/// The kernel's list of locks.
const LOCKS: &str = "/proc/locks";

/// How often is looked at most: a look takes some ten microseconds, and who is there for less time
/// spoils nothing.
const INTERVAL: Duration = Duration::from_millis(100);

/// Being seen by other labs, until it is dropped.
#[derive(Debug)]
pub struct InstanceLock {
    /// Holds the lock as long as it is open; `None` where that cannot be.
    held: Option<File>,
    known: BTreeSet<u32>,
    looked: Option<Instant>,
}

impl InstanceLock {
    /// Begins to be seen. Where the folder cannot be locked, nobody sees anybody, and measuring
    /// goes on all the same.
    #[must_use]
    pub fn begin() -> InstanceLock {
        let folder = File::open(std::env::temp_dir()).ok();
        let held = folder.filter(|folder| flock(folder, FlockOperation::NonBlockingLockShared).is_ok());
        InstanceLock { held, known: BTreeSet::new(), looked: None }
    }

    /// The labs that were not told before and are there now, by process id. Looks only now and
    /// then.
    pub fn newcomers(&mut self) -> Vec<u32> {
        if self.held.is_none() || self.looked.is_some_and(|looked| looked.elapsed() < INTERVAL) {
            return Vec::new();
        }
        self.looked = Some(Instant::now());
        let locks = std::fs::read_to_string(LOCKS).unwrap_or_default();
        let others = sharers(&locks, std::process::id());
        others.into_iter().filter(|pid| self.known.insert(*pid)).collect()
    }
}

/// What is said of another lab, in the record and to the user.
#[must_use]
pub fn warning(pid: u32) -> String {
    format!(
        "another readlab (process {pid}) measured on this machine at the same time: both share its processors, caches and \
         device, and the numbers of both are spoiled"
    )
}

/// Who else holds a shared lock on the file on which `own` holds one, by the kernel's list: `1:
/// FLOCK  ADVISORY  READ  PID MAJOR:MINOR:INODE 0 EOF`.
fn sharers(locks: &str, own: u32) -> Vec<u32> {
    let shared = locks.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            [_, "FLOCK", _, "READ", pid, place, ..] => Some((pid.parse::<u32>().ok()?, place)),
            _ => None,
        }
    });
    let shared: Vec<(u32, &str)> = shared.collect();
    let Some((_, place)) = shared.iter().find(|(pid, _)| *pid == own) else { return Vec::new() };
    shared.iter().filter(|(pid, at)| *pid != own && at == place).map(|(pid, _)| *pid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shared_locks_on_the_same_folder_count() {
        let locks = "1: POSIX  ADVISORY  READ  10 fe:00:7 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 11 fe:00:7 0 EOF\n\
                     3: FLOCK  ADVISORY  READ  12 fe:00:8 0 EOF\n\
                     4: FLOCK  ADVISORY  READ  13 fe:00:7 0 EOF\n\
                     4: -> FLOCK  ADVISORY  WRITE 14 fe:00:7 0 EOF\n\
                     5: FLOCK  ADVISORY  READ  15 fe:00:7 0 EOF\n";
        assert_eq!(sharers(locks, 13), [15]);
        assert_eq!(sharers(locks, 15), [13]);
        assert!(sharers(locks, 99).is_empty() && sharers("", 1).is_empty());
    }
}
