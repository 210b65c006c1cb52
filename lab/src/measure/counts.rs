//! What a contender does inside, counted in a run of its own that nobody times: counting changes speed, and the way of
//! counting changes counts, so every number carries its `how`.
//!
//! System calls come from a tracepoint of the kernel, calls of the allocator and of Swift's reference counting from a
//! library loaded into the process. The caller starts a separate process of the trial with [`Counting::env`], attaches
//! when it is ready, and brackets one turn. A turn holds, besides its readings, the answers that go back to the lab:
//! the difference between a turn of n + 1 readings and one of 1, divided by n, is free of them.

mod preload;
mod tracepoint;

pub use preload::ArcWay;

use crate::record::Count;
use preload::Preload;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};
use tracepoint::Syscalls;

/// How long the contender may take after its answer until it waits for the next turn.
const SETTLE_MAX: Duration = Duration::from_secs(1);

/// Counters for one process of a contender.
#[derive(Debug)]
pub struct Counting {
    preload: Result<Preload, String>,
    syscalls: Result<Syscalls, String>,
    pid: u32,
    began: Option<preload::Page>,
    began_syscalls: Result<u64, String>,
}

impl Counting {
    /// Makes the counting library ready for one process that is still to be started. What cannot be had becomes the
    /// reason of its counts.
    #[must_use]
    pub fn prepare(arc: ArcWay) -> Counting {
        let unattached = "not attached to a process".to_owned();
        Counting {
            preload: Preload::prepare(arc),
            syscalls: Err(unattached.clone()),
            pid: 0,
            began: None,
            began_syscalls: Err(unattached),
        }
    }

    /// What the process must find in its environment.
    #[must_use]
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        self.preload.as_ref().map(Preload::env).unwrap_or_default()
    }

    /// Attaches to the process, which was started with [`Counting::env`] and has said that it is ready.
    pub fn attach(&mut self, pid: u32) {
        self.pid = pid;
        self.syscalls = Syscalls::open(pid);
    }

    /// Before the turn.
    pub fn begin(&mut self) {
        self.settle();
        self.began = self.preload.as_ref().ok().and_then(|preload| preload.read().ok());
        self.began_syscalls = self.syscalls.as_ref().map_err(String::clone).and_then(Syscalls::read);
    }

    /// After the answer: what was counted since [`Counting::begin`], as `mallocs`, `syscalls`, `retains`, `releases`.
    /// Swift's two are left out where the process has no Swift in it.
    #[must_use]
    pub fn end(&self) -> BTreeMap<String, Count> {
        self.settle();
        let mut counts = match (&self.preload, &self.began) {
            (Ok(preload), Some(began)) => preload.counts(began),
            (Ok(_), None) => preload::no_mallocs("counting was not begun"),
            (Err(why), _) => preload::no_mallocs(why),
        };
        let after = self.syscalls.as_ref().map_err(String::clone).and_then(Syscalls::read);
        let calls = self.began_syscalls.clone().and_then(|before| Ok(after?.saturating_sub(before)));
        counts.insert(
            "syscalls".to_owned(),
            match calls {
                Ok(calls) => Count { value: Some(calls), how: tracepoint::HOW.to_owned() },
                Err(why) => Count { value: None, how: why },
            },
        );
        counts
    }

    /// Waits until the process waits for us, so that its own last and first calls of a turn always fall on the same
    /// side of the bracket.
    fn settle(&self) {
        let deadline = Instant::now() + SETTLE_MAX;
        while Instant::now() < deadline && runs(self.pid) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Whether system calls can be counted here.
///
/// # Errors
/// The reason why not, in one line.
pub fn can_count_syscalls() -> Result<(), String> {
    Syscalls::open(std::process::id()).map(drop)
}

/// Whether allocations can be counted here, in programs that are linked dynamically.
///
/// # Errors
/// The reason why not, in one line.
pub fn can_count_mallocs() -> Result<(), String> {
    Preload::prepare(ArcWay::Symbols).map(drop)
}

/// Whether any thread of a process is running or about to.
fn runs(pid: u32) -> bool {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    tasks.flatten().any(|task| {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'))
    })
}

#[cfg(test)]
mod tests;
