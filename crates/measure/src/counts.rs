//! Counts of what a contender does inside, taken in an untimed run of its own: counting changes
//! speed, and the way of counting changes counts, so every number carries its `how`.
//!
//! The kernel counts system calls at a tracepoint. A library that is loaded into the process counts
//! calls of the allocator and of Swift's reference counting, in a shared page; it is
//! `linux/preload/libraries/counting.rs`. The caller starts a separate process of the trial with
//! [`Counting::env`], attaches when it is ready, and brackets one turn. The library makes its own
//! system calls when a program starts under it, so a contender that starts programs in its turns
//! gets a second process, with [`Counting::of_kernel`]. A turn contains, beside its readings, the
//! answer that goes back to the lab; the [`difference`] of two turns excludes it.

use readlab_record::Count;
use readlab_system::perf::SyscallCounter;
use readlab_system::preload::{COUNTING, PreloadedLibrary, SharedMemory, Variable};
use readlab_system::process::any_thread_runs;
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

const PAGE_BYTES: u64 = 4096;

/// The slots of the page, as the library has them.
const PROCESSES: usize = 0;
const OWN_ALLOCATOR: usize = 1;
const SWIFT: usize = 2;
const SWIFT_HOOKS: usize = 3;
const MALLOCS: usize = 4;
/// Releases are in the slot after the retains.
const RETAINS_AT_SYMBOLS: usize = 5;
const RETAINS_IN_HOOKS: usize = 7;
const SLOTS: usize = 9;

const HOW_SYSCALLS: &str = "kernel tracepoint raw_syscalls:sys_enter, all threads and their children, the answer to the lab included";
const HOW_MALLOCS: &str = "calls of malloc, calloc, realloc, memalign, aligned_alloc and posix_memalign, by the process \
     and its children, seen by a preloaded library";
const HOW_HOOKS: &str = "through the Swift runtime's hook variables, set by a preloaded library";
const HOW_SYMBOLS: &str =
    "calls of the Swift runtime's public symbols from outside it, seen by a preloaded library";

/// How long the contender may take after its answer until it waits for the next turn.
const SETTLE_MAX: Duration = Duration::from_secs(1);

type Counts = BTreeMap<String, Count>;

/// Where Swift's retains and releases are counted. The two ways give different numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArcWay {
    /// In the runtime's hook variables, which see calls from within the runtime too.
    Hooks,
    /// At the public symbols, in front of the runtime.
    Symbols,
}

#[derive(Debug)]
pub struct Counting {
    preload: Option<Result<Preload, String>>,
    syscalls: Result<SyscallCounter, String>,
    pid: u32,
    began: Option<CountPage>,
    began_syscalls: Result<u64, String>,
}

/// The library and its page, for one process and its children.
#[derive(Debug)]
struct Preload {
    library: PreloadedLibrary,
    page: SharedMemory,
    arc: ArcWay,
}

type CountPage = [u64; SLOTS];

impl ArcWay {
    /// The way that works with a runtime, by the first `Swift X.Y` in its receipt: hooks exist and
    /// work up to 6.2; 6.3 crashes on Linux once they are set (swiftlang/swift pull request 89796
    /// mends 6.4), so from there on, and where the version is unknown, the public symbols are
    /// counted.
    pub fn for_runtime(receipt: &str) -> ArcWay {
        let version = receipt.to_ascii_lowercase();
        let version = version.split("swift").skip(1).find_map(|rest| {
            let rest = rest.trim_start_matches([' ', '-']).trim_start_matches("version ");
            let mut numbers = rest.split(|c: char| !c.is_ascii_digit());
            Some((numbers.next()?.parse::<u32>().ok()?, numbers.next()?.parse::<u32>().ok()?))
        });
        match version {
            Some(version) if version < (6, 3) => ArcWay::Hooks,
            _ => ArcWay::Symbols,
        }
    }
}

impl Counting {
    /// Prepares the counting library for one process that is not yet started. A failure becomes the
    /// reason of the missing counts.
    pub fn prepare(arc: ArcWay) -> Counting {
        Counting { preload: Some(Preload::prepare(arc)), ..Counting::of_kernel() }
    }

    /// Counts system calls alone, with nothing loaded into the process.
    pub fn of_kernel() -> Counting {
        let unattached = "not attached to a process".to_owned();
        let (syscalls, began_syscalls) = (Err(unattached.clone()), Err(unattached));
        Counting { preload: None, syscalls, pid: 0, began: None, began_syscalls }
    }

    /// What the process must find in its environment.
    pub fn env(&self) -> Vec<Variable> {
        self.loaded().map(Preload::env).unwrap_or_default()
    }

    /// Attaches to the process, which was started with [`Counting::env`] and has reported that it
    /// is ready.
    pub fn attach(&mut self, pid: u32) {
        self.pid = pid;
        self.syscalls = SyscallCounter::open(pid);
    }

    pub fn begin(&mut self) {
        self.settle();
        self.began = self.page();
        self.began_syscalls = self.read_syscalls();
    }

    /// After the answer: what was counted since [`Counting::begin`], as `mallocs`, `syscalls`,
    /// `retains`, `releases`. Swift's two are left out where the process has no Swift in it.
    pub fn end(&self) -> Counts {
        self.settle();
        let mut counts = match (&self.preload, &self.began) {
            (None, _) => BTreeMap::new(),
            (Some(Ok(preload)), Some(began)) => preload.counts(began),
            (Some(Ok(_)), None) => no_mallocs("counting was not begun"),
            (Some(Err(why)), _) => no_mallocs(why),
        };
        let syscalls = self.calls().map_or_else(missing, |calls| counted(calls, HOW_SYSCALLS));
        counts.insert("syscalls".to_owned(), syscalls);
        counts
    }

    /// System calls since [`Counting::begin`], where they are the contender's alone.
    fn calls(&self) -> Result<u64, String> {
        let before = self.began_syscalls.clone()?;
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
        self.syscalls.as_ref().map_err(String::clone).and_then(SyscallCounter::read)
    }

    /// Whether programs were started under the library since [`Counting::begin`].
    pub fn programs_were_started(&self) -> bool {
        let started = |page: CountPage| page[PROCESSES];
        self.page().map(started) > self.began.map(started)
    }

    fn loaded(&self) -> Option<&Preload> {
        self.preload.as_ref()?.as_ref().ok()
    }

    fn page(&self) -> Option<CountPage> {
        self.loaded()?.read().ok()
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

impl Preload {
    fn prepare(arc: ArcWay) -> Result<Preload, String> {
        if COUNTING.is_empty() {
            return Err("this readlab was built without its counting library".to_owned());
        }
        let library = PreloadedLibrary::new("readlab-counting", COUNTING)
            .map_err(|cause| format!("counting library: {cause}"))?;
        let page = SharedMemory::zeroed("readlab-counts", PAGE_BYTES).map_err(of_page)?;
        Ok(Preload { library, page, arc })
    }

    fn env(&self) -> Vec<Variable> {
        let mut env = vec![self.library.variable(), self.page.variable("READLAB_COUNT_PAGE")];
        if self.arc == ArcWay::Hooks {
            env.push(("READLAB_COUNT_HOOKS".into(), "1".into()));
        }
        env
    }

    fn read(&self) -> io::Result<CountPage> {
        let mut bytes = [0; SLOTS * 8];
        self.page.read(&mut bytes, 0)?;
        let mut page = [0; SLOTS];
        for (slot, bytes) in page.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *slot = u64::from_ne_bytes(*bytes);
        }
        Ok(page)
    }

    /// What was counted since an earlier reading of the page.
    fn counts(&self, began: &CountPage) -> Counts {
        let page = match self.read() {
            Ok(page) => page,
            Err(cause) => return no_mallocs(&of_page(cause)),
        };
        if page[PROCESSES] == 0 {
            return no_mallocs(
                "the counting library was not loaded: the program is linked statically, or its loader takes none",
            );
        }
        let passed = |slot: usize, how| counted(page[slot] - began[slot], how);
        let mut counts = match page[OWN_ALLOCATOR] {
            0 => BTreeMap::from([("mallocs".to_owned(), passed(MALLOCS, HOW_MALLOCS))]),
            _ => no_mallocs("the program brings an allocator of its own, in front of any library"),
        };
        if page[SWIFT] > 0 {
            let (retains, how) = match page[SWIFT_HOOKS] {
                0 => (RETAINS_AT_SYMBOLS, HOW_SYMBOLS),
                _ => (RETAINS_IN_HOOKS, HOW_HOOKS),
            };
            counts.insert("retains".to_owned(), passed(retains, how));
            counts.insert("releases".to_owned(), passed(retains + 1, how));
        }
        counts
    }
}

fn of_page(cause: io::Error) -> String {
    format!("page of counts: {cause}")
}

fn counted(value: u64, how: &str) -> Count {
    Count { value: Some(value), how: how.to_owned() }
}

fn missing(why: String) -> Count {
    Count { value: None, how: why }
}

fn no_mallocs(why: &str) -> Counts {
    BTreeMap::from([("mallocs".to_owned(), missing(why.to_owned()))])
}

pub fn difference(turn: Counts, less: &Counts) -> Counts {
    let passed = |(name, count): (String, Count)| {
        let passed = count_difference(count, less.get(&name));
        (name, passed)
    };
    turn.into_iter().map(passed).collect()
}

fn count_difference(count: Count, less: Option<&Count>) -> Count {
    let missing = |how: &str| missing(how.to_owned());
    match (count.value, less) {
        (Some(value), Some(Count { value: Some(less), .. })) => match value.checked_sub(*less) {
            Some(passed) => counted(passed, &count.how),
            None => missing("a turn of two readings had less of it than a turn of one"),
        },
        (Some(_), Some(uncounted)) => missing(&uncounted.how),
        (Some(_), None) => missing("it was counted in one turn and not in the other"),
        (None, _) => count,
    }
}

pub fn can_count_syscalls() -> Result<(), String> {
    SyscallCounter::open(std::process::id()).map(drop)
}

/// Whether allocations can be counted here, in programs that are linked dynamically.
pub fn can_count_mallocs() -> Result<(), String> {
    Preload::prepare(ArcWay::Symbols).map(drop)
}

#[cfg(test)]
mod tests;
