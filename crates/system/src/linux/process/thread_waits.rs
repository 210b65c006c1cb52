//! The kernel's counters of each thread: the time for which it waited for a processor, and the
//! number of preemptions. A new counter is an entry in [`THREAD_COUNTERS`].
//!
//! Verified on Linux 6.18: the wait in `schedstat` and the switches in `status` belong to one
//! thread and are lost when it ends. No file has the sum over ended threads or children.

use super::proc_file::{CounterError, ProcFile, counter_error};
use crate::kernel_file::number_after;
use readlab_model::sample::Meter;
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// The words for the value that [`delay_ns`] parses, for messages.
const DELAY_NAME: &str = "time waited for a processor";

pub struct ThreadCounter {
    pub meter: Meter,
    /// The words for the counted value, for messages.
    name: &'static str,
    /// Reads the counter; `None` if this kernel does not count it.
    read: fn(&ThreadFiles) -> Option<u64>,
}

/// The counters that are read for every thread before and after every turn.
pub const THREAD_COUNTERS: &[ThreadCounter] = &[
    ThreadCounter {
        meter: Meter::DelayedNs,
        name: DELAY_NAME,
        read: |files| delay_ns(files.schedstat.as_deref()?),
    },
    ThreadCounter {
        meter: Meter::Preemptions,
        name: "count of involuntary context switches",
        read: |files| number_after(files.status.as_deref()?, "nonvoluntary_ctxt_switches:"),
    },
];

/// The counter files of one thread; `None` if the kernel does not show the file.
struct ThreadFiles {
    schedstat: Option<String>,
    status: Option<String>,
}

/// The counts of one thread so far.
#[derive(Debug, Clone, Copy)]
struct ThreadCounts {
    /// In the order of [`THREAD_COUNTERS`].
    counters: [Option<u64>; THREAD_COUNTERS.len()],
    /// Time for which the thread ran.
    ran_ns: Option<u64>,
}

/// The counts of all living threads of a process so far.
#[derive(Debug, Clone)]
pub struct CountsByThread {
    folder: String,
    by_thread: BTreeMap<u32, ThreadCounts>,
    /// The counts were read between these times.
    read_from: Instant,
    read_until: Instant,
}

/// Time that a thread has spent on a run queue.
#[derive(Debug)]
pub struct DelayCounter(ProcFile);

impl ThreadFiles {
    fn counts(&self) -> ThreadCounts {
        ThreadCounts {
            counters: std::array::from_fn(|at| (THREAD_COUNTERS[at].read)(self)),
            ran_ns: self.schedstat.as_deref().and_then(ran_ns),
        }
    }
}

impl CountsByThread {
    /// Reads the counts of all threads, because in several languages the first thread does not do
    /// the reading.
    pub fn read(pid: u32) -> Result<CountsByThread, CounterError> {
        let read_from = Instant::now();
        let folder = format!("/proc/{pid}/task");
        let threads = super::threads(pid).map_err(|cause| counter_error(&cause, pid, &folder))?;
        let counts = |thread: u32| {
            let text = |file: &str| fs::read_to_string(format!("{folder}/{thread}/{file}")).ok();
            ThreadFiles { schedstat: text("schedstat"), status: text("status") }.counts()
        };
        let by_thread = threads.into_iter().map(|thread| (thread, counts(thread))).collect();
        Ok(CountsByThread { folder, by_thread, read_from, read_until: Instant::now() })
    }

    /// The counts of the threads of two processes.
    pub(super) fn plus(mut self, other: CountsByThread) -> CountsByThread {
        self.by_thread.extend(other.by_thread);
        CountsByThread {
            folder: other.folder,
            by_thread: self.by_thread,
            read_from: self.read_from.min(other.read_from),
            read_until: self.read_until.max(other.read_until),
        }
    }

    /// For each counter of [`THREAD_COUNTERS`], the increase since an earlier reading, summed over
    /// all threads.
    pub fn since(&self, before: &CountsByThread) -> impl Iterator<Item = (Meter, Result<u64, CounterError>)> {
        let counters = THREAD_COUNTERS.iter().enumerate();
        counters.map(move |(at, counter)| (counter.meter, self.counted_since(before, at, counter)))
    }

    fn counted_since(
        &self,
        before: &CountsByThread,
        at: usize,
        counter: &ThreadCounter,
    ) -> Result<u64, CounterError> {
        let elapsed = self.read_until.saturating_duration_since(before.read_from);
        let of_one = |(thread, counts): (&u32, &ThreadCounts)| {
            let before = before.by_thread.get(thread);
            let counted = increase(counts.counters[at]?, before.and_then(|it| it.counters[at]));
            if counter.meter != Meter::DelayedNs {
                return Some(counted);
            }
            let ran_ns = counts.ran_ns.map(|ns| increase(ns, before.and_then(|it| it.ran_ns)));
            Some(counted.min(longest_wait_ns(elapsed, ran_ns.unwrap_or(0))))
        };
        let counted: Vec<u64> = self.by_thread.iter().filter_map(of_one).collect();
        match counted.is_empty() {
            true => Err(CounterError::NoField { file: self.folder.clone(), field: counter.name }),
            false => Ok(counted.into_iter().sum()),
        }
    }
}

impl DelayCounter {
    /// Opens the counter of a thread by its id; a process id means its first thread.
    pub fn open(thread: u32) -> DelayCounter {
        DelayCounter(ProcFile::open(thread, "schedstat"))
    }

    pub fn of_this_thread() -> DelayCounter {
        DelayCounter::open(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs())
    }

    pub fn read(&self) -> Result<u64, CounterError> {
        self.0.read(delay_ns, DELAY_NAME)
    }
}

/// The increase of a count. A thread without an earlier count began since then.
fn increase(after: u64, before: Option<u64>) -> u64 {
    after.saturating_sub(before.unwrap_or(0))
}

/// The longest time that a thread can have waited: it waits or runs. The kernel counts a wait when it
/// ends, and so also a part from before the time in question; on Linux 6.18 a count of 2.3 s was seen
/// in 0.25 s.
fn longest_wait_ns(elapsed: Duration, ran_ns: u64) -> u64 {
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX).saturating_sub(ran_ns)
}

/// The first number in schedstat: nanoseconds for which the thread ran.
fn ran_ns(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().next()?.parse().ok()
}

/// The second number in schedstat: nanoseconds spent on a run queue.
fn delay_ns(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ForkCommand, ForkedProcess, use_one_processor};
    use super::*;
    use rustix::process::Pid;
    use std::path::Path;

    #[test]
    fn a_process_that_shares_its_processor_waits_and_is_preempted() {
        let mut process = ForkedProcess::start(Path::new("/dev/null"));
        let mut neighbour = ForkedProcess::start(Path::new("/dev/null"));
        let ids = [&process, &neighbour].map(|it| Pid::from_raw(it.pid().cast_signed()));
        ids.into_iter().for_each(use_one_processor);
        let before = CountsByThread::read(process.pid()).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| neighbour.execute(ForkCommand::Burn));
            process.execute(ForkCommand::Burn);
        });
        let after = CountsByThread::read(process.pid()).unwrap();
        // Each process uses 250 ms of CPU time, so they wait for each other. If one started so late
        // that they did not overlap, it waited for a processor at its start.
        let counted: BTreeMap<Meter, _> = after.since(&before).collect();
        let waited = counted[&Meter::DelayedNs].clone().unwrap();
        assert!(waited > 1_000_000, "{waited}");
        assert!(counted[&Meter::Preemptions].clone().unwrap() > 0);
    }

    #[test]
    fn counters_of_threads_are_parsed() {
        assert_eq!(delay_ns("120 340 5\n"), Some(340));
        assert_eq!(delay_ns(""), None);
        let status = "Threads:\t1\nvoluntary_ctxt_switches:\t9\nnonvoluntary_ctxt_switches:\t4\n";
        let files = ThreadFiles { schedstat: None, status: Some(status.to_owned()) };
        let counts: BTreeMap<Meter, _> =
            THREAD_COUNTERS.iter().map(|it| it.meter).zip(files.counts().counters).collect();
        assert_eq!((counts[&Meter::DelayedNs], counts[&Meter::Preemptions]), (None, Some(4)));
    }

    /// The counts of threads, read at this time. Each thread has its id, the time for which it ran,
    /// and the time for which it waited.
    fn waits(read_at: Instant, threads: &[(u32, u64, u64)]) -> CountsByThread {
        let counts = |ran_ns: u64, delay_ns: u64| {
            ThreadFiles { schedstat: Some(format!("{ran_ns} {delay_ns} 5\n")), status: None }.counts()
        };
        CountsByThread {
            folder: "/proc/7/task".to_owned(),
            by_thread: threads.iter().map(|&(thread, ran, waited)| (thread, counts(ran, waited))).collect(),
            read_from: read_at,
            read_until: read_at,
        }
    }

    #[test]
    fn counts_are_summed_over_threads_and_new_threads_count_from_their_start() {
        let now = Instant::now();
        let before = waits(now, &[(7, 120, 10), (8, 120, 5)]);
        let after = waits(now + Duration::from_secs(1), &[(7, 120, 14), (9, 120, 3)]);
        let counted: BTreeMap<Meter, _> = after.since(&before).collect();
        assert_eq!(counted[&Meter::DelayedNs], Ok(7));
        let reason = counted[&Meter::Preemptions].clone().unwrap_err().to_string();
        assert_eq!(reason, "/proc/7/task has no count of involuntary context switches on this kernel");
    }

    #[test]
    fn a_thread_waits_no_longer_than_it_did_not_run() {
        let now = Instant::now();
        let before = waits(now, &[(7, 1_000, 10), (8, 0, 0)]);
        // Thread 7 ran for 600 ns of 1,000, and a wait of 5,000 ns ended.
        let after =
            waits(now + Duration::from_nanos(1_000), &[(7, 1_600, 5_010), (8, 1_200, 9), (9, 0, 9_999)]);
        let counted: BTreeMap<Meter, _> = after.since(&before).collect();
        assert_eq!(counted[&Meter::DelayedNs], Ok(1_400), "400, 0 and 1,000");
    }
}
