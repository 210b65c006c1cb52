//! Counts of system calls, allocations and reference counting in a contender. They are taken in a
//! separate untimed run, because counting changes the speed. The method of counting changes the
//! numbers, so the record has the method of every number (`how`).
//!
//! The kernel counts system calls at a tracepoint. A library preloaded into the process
//! (`linux/preload/libraries/counting.rs`) counts calls of the allocator and of Swift's reference
//! counting, in a shared page. The caller starts a separate process of the trial with
//! [`CallCounter::env`], attaches when the process is ready, and counts during one turn. The
//! library makes its own system calls when a program starts under it, so a contender that starts
//! programs in its turns gets a second process, with [`CallCounter::syscalls_only`]. A turn
//! contains, beside its readings, the answer to readlab; the [`difference`] of two turns excludes
//! the answer.

use readlab_record::UntimedCount;
use readlab_system::perf::SyscallCounter;
use readlab_system::preload::{COUNTING_LIBRARY, EnvironmentVariable, PreloadedLibrary, SharedMemory};
use readlab_system::process::any_thread_runs;
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

const PAGE_BYTES: u64 = 4096;

/// Indexes of the slots in the shared page, as the library defines them.
const PROCESSES_SLOT: usize = 0;
const OWN_ALLOCATOR_SLOT: usize = 1;
const SWIFT_SLOT: usize = 2;
const SWIFT_HOOKS_SLOT: usize = 3;
const MALLOCS_SLOT: usize = 4;
/// The slot after the retains counts releases.
const RETAINS_AT_SYMBOLS_SLOT: usize = 5;
const RETAINS_IN_HOOKS_SLOT: usize = 7;
const SLOT_COUNT: usize = 9;

const HOW_SYSCALLS: &str = "kernel tracepoint raw_syscalls:sys_enter, all threads and their children, the answer to the lab included";
const HOW_MALLOCS: &str = "calls of malloc, calloc, realloc, memalign, aligned_alloc and posix_memalign, by the process \
     and its children, seen by a preloaded library";
const HOW_HOOKS: &str = "through the Swift runtime's hook variables, set by a preloaded library";
const HOW_SYMBOLS: &str =
    "calls of the Swift runtime's public symbols from outside it, seen by a preloaded library";

/// Longest time from the answer of the contender until it waits for the next turn.
const IDLE_WAIT_MAX: Duration = Duration::from_secs(1);

/// Counts of a turn or of a reading, by their names.
pub type Counts = BTreeMap<String, UntimedCount>;

/// Where Swift's retains and releases are counted. The two methods give different numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwiftRetainCounting {
    /// In the runtime's hook variables, which also see calls from within the runtime.
    Hooks,
    /// At the public symbols, in front of the runtime.
    Symbols,
}

/// Counts what one process and its children do in a turn.
#[derive(Debug)]
pub struct CallCounter {
    preload: Option<Result<Preload, String>>,
    syscall_counter: Result<SyscallCounter, String>,
    pid: u32,
    page_at_begin: Option<CountPage>,
    syscalls_at_begin: Result<u64, String>,
}

/// The library and its page, for one process and its children.
#[derive(Debug)]
struct Preload {
    library: PreloadedLibrary,
    page: SharedMemory,
    retain_counting: SwiftRetainCounting,
}

type CountPage = [u64; SLOT_COUNT];

impl SwiftRetainCounting {
    /// Chooses the method for a runtime by the first `Swift X.Y` in its receipt. Hooks exist and
    /// work up to 6.2; 6.3 crashes on Linux once they are set (swiftlang/swift pull request 89796
    /// mends 6.4). From 6.3 on, and where the version is unknown, calls of the public symbols are
    /// counted.
    pub fn for_runtime(receipt: &str) -> SwiftRetainCounting {
        let version = receipt.to_ascii_lowercase();
        let version = version.split("swift").skip(1).find_map(|rest| {
            let rest = rest.trim_start_matches([' ', '-']).trim_start_matches("version ");
            let mut numbers = rest.split(|c: char| !c.is_ascii_digit());
            Some((numbers.next()?.parse::<u32>().ok()?, numbers.next()?.parse::<u32>().ok()?))
        });
        match version {
            Some(version) if version < (6, 3) => SwiftRetainCounting::Hooks,
            _ => SwiftRetainCounting::Symbols,
        }
    }
}

impl CallCounter {
    /// Prepares the counting library for one process that is not yet started. On failure, the
    /// counts are missing and give the cause as the reason.
    pub fn prepare(retain_counting: SwiftRetainCounting) -> CallCounter {
        CallCounter { preload: Some(Preload::prepare(retain_counting)), ..CallCounter::syscalls_only() }
    }

    /// Counts system calls alone, with nothing loaded into the process.
    pub fn syscalls_only() -> CallCounter {
        let unattached = "not attached to a process".to_owned();
        let (syscalls, syscalls_at_begin) = (Err(unattached.clone()), Err(unattached));
        CallCounter {
            preload: None,
            syscall_counter: syscalls,
            pid: 0,
            page_at_begin: None,
            syscalls_at_begin,
        }
    }

    /// Variables that the process must be started with.
    pub fn env(&self) -> Vec<EnvironmentVariable> {
        self.loaded_preload().map(Preload::env).unwrap_or_default()
    }

    /// Attaches to the process, which was started with [`CallCounter::env`] and has reported that
    /// it is ready.
    pub fn attach(&mut self, pid: u32) {
        self.pid = pid;
        self.syscall_counter = SyscallCounter::open(pid);
    }

    pub fn begin(&mut self) {
        self.wait_until_idle();
        self.page_at_begin = self.read_page();
        self.syscalls_at_begin = self.read_syscalls();
    }

    /// Counts since [`CallCounter::begin`], read after the answer: `mallocs`, `syscalls`,
    /// `retains`, `releases`. The last two are left out if the process contains no Swift.
    pub fn end(&self) -> Counts {
        self.wait_until_idle();
        let mut counts = match (&self.preload, &self.page_at_begin) {
            (None, _) => BTreeMap::new(),
            (Some(Ok(preload)), Some(page_at_begin)) => preload.counts(page_at_begin),
            (Some(Ok(_)), None) => missing_malloc_counts("counting was not begun"),
            (Some(Err(why)), _) => missing_malloc_counts(why),
        };
        let syscalls =
            self.contender_syscalls().map_or_else(missing_count, |calls| known_count(calls, HOW_SYSCALLS));
        counts.insert("syscalls".to_owned(), syscalls);
        counts
    }

    /// System calls since [`CallCounter::begin`]; an error if the counting library made some of
    /// them.
    fn contender_syscalls(&self) -> Result<u64, String> {
        let before = self.syscalls_at_begin.clone()?;
        let now = self.read_syscalls()?;
        if self.programs_were_started() {
            return Err(
                "the turn started programs, and loading the counting library into them makes system calls \
                        of its own"
                    .to_owned(),
            );
        }
        Ok(now.saturating_sub(before))
    }

    fn read_syscalls(&self) -> Result<u64, String> {
        self.syscall_counter.as_ref().map_err(String::clone).and_then(SyscallCounter::read)
    }

    /// Whether programs were started under the library since [`CallCounter::begin`].
    pub fn programs_were_started(&self) -> bool {
        let started = |page: CountPage| page[PROCESSES_SLOT];
        self.read_page().map(started) > self.page_at_begin.map(started)
    }

    fn loaded_preload(&self) -> Option<&Preload> {
        self.preload.as_ref()?.as_ref().ok()
    }

    fn read_page(&self) -> Option<CountPage> {
        self.loaded_preload()?.read().ok()
    }

    /// Waits until the process waits for the next turn. Otherwise its first and last system calls
    /// of a turn could be counted in one turn and not in another.
    fn wait_until_idle(&self) {
        let deadline = Instant::now() + IDLE_WAIT_MAX;
        while Instant::now() < deadline && any_thread_runs(self.pid) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Preload {
    fn prepare(retain_counting: SwiftRetainCounting) -> Result<Preload, String> {
        if COUNTING_LIBRARY.is_empty() {
            return Err("this readlab was built without its counting library".to_owned());
        }
        let library = PreloadedLibrary::new("readlab-counting", COUNTING_LIBRARY)
            .map_err(|cause| format!("counting library: {cause}"))?;
        let page = SharedMemory::zeroed("readlab-counts", PAGE_BYTES).map_err(page_error)?;
        Ok(Preload { library, page, retain_counting })
    }

    fn env(&self) -> Vec<EnvironmentVariable> {
        let mut env = vec![self.library.variable(), self.page.variable("READLAB_COUNT_PAGE")];
        if self.retain_counting == SwiftRetainCounting::Hooks {
            env.push(("READLAB_COUNT_HOOKS".into(), "1".into()));
        }
        env
    }

    fn read(&self) -> io::Result<CountPage> {
        let mut bytes = [0; SLOT_COUNT * 8];
        self.page.read(&mut bytes, 0)?;
        let mut page = [0; SLOT_COUNT];
        for (slot, bytes) in page.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *slot = u64::from_ne_bytes(*bytes);
        }
        Ok(page)
    }

    /// Counts since `page_at_begin`, an earlier reading of the page.
    fn counts(&self, page_at_begin: &CountPage) -> Counts {
        let page = match self.read() {
            Ok(page) => page,
            Err(cause) => return missing_malloc_counts(&page_error(cause)),
        };
        if page[PROCESSES_SLOT] == 0 {
            return missing_malloc_counts(
                "the counting library was not loaded: the program is linked statically, or its loader takes none",
            );
        }
        let passed = |slot: usize, how| known_count(page[slot] - page_at_begin[slot], how);
        let mut counts = match page[OWN_ALLOCATOR_SLOT] {
            0 => BTreeMap::from([("mallocs".to_owned(), passed(MALLOCS_SLOT, HOW_MALLOCS))]),
            _ => missing_malloc_counts("the program brings an allocator of its own, in front of any library"),
        };
        if page[SWIFT_SLOT] > 0 {
            let (retains, how) = match page[SWIFT_HOOKS_SLOT] {
                0 => (RETAINS_AT_SYMBOLS_SLOT, HOW_SYMBOLS),
                _ => (RETAINS_IN_HOOKS_SLOT, HOW_HOOKS),
            };
            counts.insert("retains".to_owned(), passed(retains, how));
            counts.insert("releases".to_owned(), passed(retains + 1, how));
        }
        counts
    }
}

fn page_error(cause: io::Error) -> String {
    format!("page of counts: {cause}")
}

fn known_count(value: u64, how: &str) -> UntimedCount {
    UntimedCount { value: Some(value), how: how.to_owned() }
}

fn missing_count(why: String) -> UntimedCount {
    UntimedCount { value: None, how: why }
}

fn missing_malloc_counts(why: &str) -> Counts {
    BTreeMap::from([("mallocs".to_owned(), missing_count(why.to_owned()))])
}

/// The counts of `turn` minus those of `less`. A count that is missing in one of them is missing in
/// the result, with the reason.
pub fn difference(turn: Counts, less: &Counts) -> Counts {
    let passed = |(name, count): (String, UntimedCount)| {
        let passed = count_difference(count, less.get(&name));
        (name, passed)
    };
    turn.into_iter().map(passed).collect()
}

fn count_difference(count: UntimedCount, less: Option<&UntimedCount>) -> UntimedCount {
    let missing_count = |how: &str| missing_count(how.to_owned());
    match (count.value, less) {
        (Some(value), Some(UntimedCount { value: Some(less), .. })) => match value.checked_sub(*less) {
            Some(passed) => known_count(passed, &count.how),
            None => missing_count("a turn of two readings had less of it than a turn of one"),
        },
        (Some(_), Some(uncounted)) => missing_count(&uncounted.how),
        (Some(_), None) => missing_count("it was counted in one turn and not in the other"),
        (None, _) => count,
    }
}

pub fn can_count_syscalls() -> Result<(), String> {
    SyscallCounter::open(std::process::id()).map(drop)
}

/// Whether allocations can be counted here, in programs that are linked dynamically.
pub fn can_count_mallocs() -> Result<(), String> {
    Preload::prepare(SwiftRetainCounting::Symbols).map(drop)
}

#[cfg(test)]
mod tests;
