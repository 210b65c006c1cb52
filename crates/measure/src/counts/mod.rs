//! Counts of what a contender does inside, taken in an untimed run of its own: counting changes
//! speed, and the way of counting changes counts, so every number carries its `how`.
//!
//! The kernel counts system calls at a tracepoint. A library that is loaded into the process counts
//! calls of the allocator and of Swift's reference counting. The caller starts a separate process
//! of the trial with [`Counting::env`], attaches when it is ready, and brackets one turn. The
//! library makes its own system calls when a program starts under it, so a contender that starts
//! programs in its turns gets a second process, with [`Counting::of_kernel`]. A turn contains,
//! beside its readings, the answer that goes back to the lab; the [`difference`] of two turns
//! excludes it.

mod preload;

pub use preload::ArcWay;

use preload::Preload;
use readlab_record::Count;
use readlab_system::perf::SyscallCounter;
use readlab_system::process::any_thread_runs;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// How system calls are counted, for the record.
const HOW_SYSCALLS: &str = "kernel tracepoint raw_syscalls:sys_enter, all threads and their children, the answer to the lab included";

/// How long the contender may take after its answer until it waits for the next turn.
const SETTLE_MAX: Duration = Duration::from_secs(1);

/// Counters for one process of a contender.
#[derive(Debug)]
pub struct Counting {
    preload: Option<Result<Preload, String>>,
    syscalls: Result<SyscallCounter, String>,
    pid: u32,
    began: Option<preload::CountPage>,
    began_syscalls: Result<u64, String>,
}

impl Counting {
    /// Prepares the counting library for one process that is not yet started. A failure becomes the
    /// reason of the missing counts.
    pub fn prepare(arc: ArcWay) -> Counting {
        Counting::with(Some(Preload::prepare(arc)))
    }

    /// Counts system calls alone, with nothing loaded into the process.
    pub fn of_kernel() -> Counting {
        Counting::with(None)
    }

    fn with(preload: Option<Result<Preload, String>>) -> Counting {
        let unattached = "not attached to a process".to_owned();
        Counting {
            preload,
            syscalls: Err(unattached.clone()),
            pid: 0,
            began: None,
            began_syscalls: Err(unattached),
        }
    }

    /// What the process must find in its environment.
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        self.loaded().map(Preload::env).unwrap_or_default()
    }

    /// Attaches to the process, which was started with [`Counting::env`] and has reported that it
    /// is ready.
    pub fn attach(&mut self, pid: u32) {
        self.pid = pid;
        self.syscalls = SyscallCounter::open(pid);
    }

    /// Before the turn.
    pub fn begin(&mut self) {
        self.settle();
        self.began = self.loaded().and_then(|preload| preload.read().ok());
        self.began_syscalls = self.syscalls.as_ref().map_err(String::clone).and_then(SyscallCounter::read);
    }

    /// After the answer: what was counted since [`Counting::begin`], as `mallocs`, `syscalls`,
    /// `retains`, `releases`. Swift's two are left out where the process has no Swift in it.
    pub fn end(&self) -> BTreeMap<String, Count> {
        self.settle();
        let mut counts = match (&self.preload, &self.began) {
            (None, _) => BTreeMap::new(),
            (Some(Ok(preload)), Some(began)) => preload.counts(began),
            (Some(Ok(_)), None) => preload::no_mallocs("counting was not begun"),
            (Some(Err(why)), _) => preload::no_mallocs(why),
        };
        let count = match self.calls() {
            Ok(calls) => Count { value: Some(calls), how: HOW_SYSCALLS.to_owned() },
            Err(why) => Count { value: None, how: why },
        };
        counts.insert("syscalls".to_owned(), count);
        counts
    }

    /// System calls since [`Counting::begin`], where they are the contender's alone.
    fn calls(&self) -> Result<u64, String> {
        let before = self.began_syscalls.clone()?;
        let now = self.syscalls.as_ref().map_err(String::clone).and_then(SyscallCounter::read)?;
        if self.programs_were_started() {
            return Err(
                "the turn started programs, and loading the counting library into them makes system calls \
                        of its own"
                    .to_owned(),
            );
        }
        Ok(now.saturating_sub(before))
    }

    /// Whether programs were started under the library since [`Counting::begin`].
    pub fn programs_were_started(&self) -> bool {
        let started = |page: preload::CountPage| page.processes();
        let now = self.loaded().and_then(|preload| preload.read().ok());
        now.map(started) > self.began.map(started)
    }

    fn loaded(&self) -> Option<&Preload> {
        self.preload.as_ref()?.as_ref().ok()
    }

    /// Waits until the process waits for us, so that its own last and first calls of a turn always
    /// fall on the same side of the bracket.
    fn settle(&self) {
        let deadline = Instant::now() + SETTLE_MAX;
        while Instant::now() < deadline && any_thread_runs(self.pid) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The difference between the counts of two turns.
pub fn difference(turn: BTreeMap<String, Count>, less: &BTreeMap<String, Count>) -> BTreeMap<String, Count> {
    let mut passed = BTreeMap::new();
    for (name, count) in turn {
        let less = less.get(&name);
        passed.insert(name, count_difference(count, less));
    }
    passed
}

fn count_difference(count: Count, less: Option<&Count>) -> Count {
    let missing = |how: &str| Count { value: None, how: how.to_owned() };
    match (count.value, less) {
        (Some(value), Some(Count { value: Some(less), .. })) => match value.checked_sub(*less) {
            Some(passed) => Count { value: Some(passed), how: count.how },
            None => missing("a turn of two readings had less of it than a turn of one"),
        },
        (Some(_), Some(uncounted)) => missing(&uncounted.how),
        (Some(_), None) => missing("it was counted in one turn and not in the other"),
        (None, _) => count,
    }
}

/// Whether system calls can be counted here.
pub fn can_count_syscalls() -> Result<(), String> {
    SyscallCounter::open(std::process::id()).map(drop)
}

/// Whether allocations can be counted here, in programs that are linked dynamically.
pub fn can_count_mallocs() -> Result<(), String> {
    Preload::prepare(ArcWay::Symbols).map(drop)
}

#[cfg(test)]
mod tests;
