//! How long the threads of a process waited for a processor, and how often one was taken from them.
//!
//! Verified on Linux 6.18: the wait in `schedstat` and the switches in `status` are of one thread
//! and lost with it: no file holds those of ended threads or of children.

use super::proc_file::{ProcFile, Unavailable, unavailable};
use crate::kernel_file::field;
use std::collections::BTreeMap;
use std::fs;

/// What [`delay_ns`] finds, for messages.
const DELAY: &str = "time waited for a processor";

/// What [`preemptions`] finds, for messages.
const PREEMPTIONS: &str = "count of involuntary context switches";

/// The waits of every living thread of a process so far.
#[derive(Debug, Clone)]
pub struct ThreadWaits {
    folder: String,
    by_thread: BTreeMap<u32, Waits>,
}

/// The waits of one thread; `None` is what this kernel does not count.
#[derive(Debug, Clone, Copy, Default)]
struct Waits {
    delay_ns: Option<u64>,
    preemptions: Option<u64>,
}

/// Time that the first thread of a process has spent on a run queue.
#[derive(Debug)]
pub struct DelayCounter(ProcFile);

impl ThreadWaits {
    /// Reads the waits of every thread: in several languages it is not the first that reads.
    pub fn read(pid: u32) -> Result<ThreadWaits, Unavailable> {
        let folder = format!("/proc/{pid}/task");
        let threads = super::threads(pid).map_err(|cause| unavailable(&cause, pid, &folder))?;
        let waits = |thread: u32| {
            let text = |file: &str| fs::read_to_string(format!("{folder}/{thread}/{file}")).ok();
            Waits {
                delay_ns: text("schedstat").and_then(|text| delay_ns(&text)),
                preemptions: text("status").and_then(|text| preemptions(&text)),
            }
        };
        let by_thread = threads.into_iter().map(|thread| (thread, waits(thread))).collect();
        Ok(ThreadWaits { folder, by_thread })
    }

    /// The threads of both processes.
    pub(super) fn and(mut self, other: ThreadWaits) -> ThreadWaits {
        self.by_thread.extend(other.by_thread);
        ThreadWaits { folder: other.folder, by_thread: self.by_thread }
    }

    /// Nanoseconds on a run queue since an earlier reading, all threads together.
    pub fn delay_ns_since(&self, before: &ThreadWaits) -> Result<u64, Unavailable> {
        self.since(before, |waits| waits.delay_ns, DELAY)
    }

    /// Involuntary context switches since an earlier reading, all threads together.
    pub fn preemptions_since(&self, before: &ThreadWaits) -> Result<u64, Unavailable> {
        self.since(before, |waits| waits.preemptions, PREEMPTIONS)
    }

    fn since(
        &self,
        before: &ThreadWaits,
        count: impl Fn(&Waits) -> Option<u64>,
        what: &'static str,
    ) -> Result<u64, Unavailable> {
        let counted_before = |thread: &u32| before.by_thread.get(thread).and_then(&count).unwrap_or(0);
        let of_one =
            |(thread, waits): (&u32, &Waits)| Some(count(waits)?.saturating_sub(counted_before(thread)));
        let counted: Vec<u64> = self.by_thread.iter().filter_map(of_one).collect();
        match counted.is_empty() {
            true => Err(Unavailable::NoField { file: self.folder.clone(), field: what }),
            false => Ok(counted.into_iter().sum()),
        }
    }
}

impl DelayCounter {
    pub fn open(pid: u32) -> DelayCounter {
        DelayCounter(ProcFile::open(pid, "schedstat"))
    }

    pub fn read(&self) -> Result<u64, Unavailable> {
        self.0.read(delay_ns, DELAY)
    }
}

/// The second number of a schedstat: nanoseconds on a run queue.
fn delay_ns(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn preemptions(status: &str) -> Option<u64> {
    field(status, "nonvoluntary_ctxt_switches:")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Deed, ForkedProcess};
    use super::*;
    use std::path::Path;

    /// Lets a process use the first of our processors only.
    fn use_one_processor(pid: u32) {
        let allowed = rustix::thread::sched_getaffinity(None).unwrap();
        let mut one = rustix::thread::CpuSet::new();
        one.set((0..1024).find(|&cpu| allowed.is_set(cpu)).unwrap());
        rustix::thread::sched_setaffinity(rustix::process::Pid::from_raw(pid.cast_signed()), &one).unwrap();
    }

    #[test]
    fn a_process_that_shares_its_processor_waits_and_is_preempted() {
        let mut process = ForkedProcess::start(Path::new("/dev/null"));
        let mut neighbour = ForkedProcess::start(Path::new("/dev/null"));
        [&process, &neighbour].iter().for_each(|it| use_one_processor(it.pid()));
        let before = ThreadWaits::read(process.pid()).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| neighbour.does(Deed::Burn));
            process.does(Deed::Burn);
        });
        let after = ThreadWaits::read(process.pid()).unwrap();
        // Each burns for 250 ms, so they are in each other's way unless one had to wait that long
        // for its beginning, in which case it waited too.
        let waited = after.delay_ns_since(&before).unwrap();
        assert!(waited > 1_000_000, "{waited}");
        assert!(after.preemptions_since(&before).unwrap() > 0);
    }

    #[test]
    fn waits_are_parsed() {
        assert_eq!(delay_ns("120 340 5\n"), Some(340));
        assert_eq!(delay_ns(""), None);
        let status = "Threads:\t1\nvoluntary_ctxt_switches:\t9\nnonvoluntary_ctxt_switches:\t4\n";
        assert_eq!(preemptions(status), Some(4));
    }

    #[test]
    fn threads_are_added_up_and_new_ones_count_from_their_start() {
        let waits = |threads: &[(u32, Option<u64>)]| ThreadWaits {
            folder: "/proc/7/task".to_owned(),
            by_thread: threads
                .iter()
                .map(|&(thread, delay_ns)| (thread, Waits { delay_ns, preemptions: None }))
                .collect(),
        };
        let before = waits(&[(7, Some(10)), (8, Some(5))]);
        let after = waits(&[(7, Some(14)), (9, Some(3))]);
        assert_eq!(after.delay_ns_since(&before), Ok(7));
        let reason = after.preemptions_since(&before).unwrap_err().to_string();
        assert_eq!(reason, "/proc/7/task has no count of involuntary context switches on this kernel");
    }
}
