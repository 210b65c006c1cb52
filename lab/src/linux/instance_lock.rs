//! The lock by which labs of any user that measure on one machine at the same time see each other,
//! because they distort each other's numbers.
//!
//! A lab that measures holds a shared lock on the folder for temporary files, which every user may
//! read; /proc/locks lists who else holds one. Nothing is written, so nothing is left behind,
//! however a lab ends. Labs with folders of their own (`TMPDIR`) do not see each other; `readlab
//! doctor` searches for other labs by their names.

use std::collections::BTreeSet;
use std::fs::File;
use std::time::{Duration, Instant};

/// The kernel's list of locks.
const LOCKS: &str = "/proc/locks";

/// The time between two checks: a check takes some ten microseconds, and a lab that measures for a
/// shorter time distorts nothing.
const INTERVAL: Duration = Duration::from_millis(100);

/// Makes this lab visible to others, until it is dropped.
#[derive(Debug)]
pub struct InstanceLock {
    /// Holds the lock as long as it is open; `None` where that cannot be.
    held: Option<File>,
    known: BTreeSet<u32>,
    checked: Option<Instant>,
}

impl InstanceLock {
    /// Takes the lock. Where the folder cannot be locked, labs do not see each other.
    #[must_use]
    pub fn begin() -> InstanceLock {
        let folder = File::open(std::env::temp_dir()).ok();
        let held = folder.filter(|folder| folder.try_lock_shared().is_ok());
        InstanceLock { held, known: BTreeSet::new(), checked: None }
    }

    /// The process ids of labs that were not reported before. Checks at intervals only.
    pub fn newcomers(&mut self) -> Vec<u32> {
        if self.held.is_none() || self.checked.is_some_and(|checked| checked.elapsed() < INTERVAL) {
            return Vec::new();
        }
        self.checked = Some(Instant::now());
        let locks = std::fs::read_to_string(LOCKS).unwrap_or_default();
        let others = sharers(&locks, std::process::id());
        others.into_iter().filter(|pid| self.known.insert(*pid)).collect()
    }
}

/// The warning about another lab, for the record and the user.
#[must_use]
pub fn warning(pid: u32) -> String {
    format!(
        "another readlab (process {pid}) measured on this machine at the same time: both share its processors, caches and \
         device, and the numbers of both are spoiled"
    )
}

/// The other processes with a shared lock on the file on which `own` has one, by the kernel's list:
/// `1: FLOCK  ADVISORY  READ  PID MAJOR:MINOR:INODE 0 EOF`.
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
