//! Traces of the calls that bring a file's bytes inside one reading: the bytes requested, the bytes
//! returned, the offset, and the time of each. A library that is loaded into the contender in an
//! untimed run sees them and writes them to shared pages; it is
//! `linux/preload/libraries/tracing.rs`.
//!
//! The caller starts a process with [`Tracing::env`], brackets one reading with [`Tracing::begin`]
//! and [`Tracing::end`], and passes what it metered around it as a trace without calls. Calls that pass the C library are
//! seen; a program that is linked statically or calls the kernel by itself makes none, and the
//! trace says so.

use readlab_record::{Spread, Trace};
use readlab_system::preload::{PreloadedLibrary, SharedMemory, TRACING, Variable};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How calls are seen, for the record.
const HOW: &str = "read, pread, readv, preadv and mmap of this file by the process and its children, seen by a preloaded \
     library; a latency is what the C library's function took, looking at the clock included";

/// The largest number of calls; pages that are not used cost nothing.
const ROOM: u64 = 1 << 20;
/// Words at the front: device, inode, room, processes, calls.
const HEAD_WORDS: usize = 8;
const CALLS_AT: usize = 4;
const CALL_WORDS: usize = 8;
const PAGES_BYTES: u64 = (HEAD_WORDS as u64 + ROOM * CALL_WORDS as u64) * 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Pread,
    Readv,
    Preadv,
    Mmap,
}

/// In the order of the library's numbers, which begin at one.
const KINDS: [(Kind, &str); 5] = [
    (Kind::Read, "read"),
    (Kind::Pread, "pread"),
    (Kind::Readv, "readv"),
    (Kind::Preadv, "preadv"),
    (Kind::Mmap, "mmap"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Call {
    kind: Kind,
    thread: u64,
    /// By the monotonic clock.
    start_ns: u64,
    wall_ns: u64,
    offset: u64,
    requested_bytes: u64,
    /// Bytes, or a negative number where it failed; of a mapping, its address.
    got: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Written {
    /// Programs that have started with the library in them.
    processes: u64,
    /// Calls that were made, those without room included.
    made: u64,
    /// The calls, in the order in which they ended.
    calls: Vec<Call>,
}

/// Tracing of one process and its children: the library and the pages, about one file.
#[derive(Debug)]
pub struct Tracing {
    library: PreloadedLibrary,
    pages: SharedMemory,
}

impl Tracing {
    /// Makes the library and empty pages ready for one process that is still to be started, and one file.
    pub fn prepare(file: &Path) -> Result<Tracing, String> {
        if TRACING.is_empty() {
            return Err("this readlab was built without its tracing library".to_owned());
        }
        let facts = file.metadata().map_err(|cause| format!("{}: {cause}", file.display()))?;
        let head = [facts.dev(), facts.ino(), ROOM].map(u64::to_ne_bytes).concat();
        let prepared = || -> io::Result<Tracing> {
            let library = PreloadedLibrary::new("readlab-tracing", TRACING)?;
            let pages = SharedMemory::zeroed("readlab-calls", PAGES_BYTES)?;
            pages.write(&head, 0)?;
            Ok(Tracing { library, pages })
        };
        prepared().map_err(|cause| format!("tracing library: {cause}"))
    }

    /// What the process must find in its environment.
    pub fn env(&self) -> Vec<Variable> {
        vec![self.library.variable(), self.pages.variable("READLAB_TRACE_PAGES")]
    }

    /// Begins the reading: earlier calls are discarded. No program may be calling meanwhile.
    pub fn begin(&self) -> Result<(), String> {
        let discarded = self
            .pages
            .erase(HEAD_WORDS as u64 * 8..PAGES_BYTES)
            .and_then(|()| self.pages.write(&0_u64.to_ne_bytes(), CALLS_AT as u64 * 8));
        discarded.map_err(of_pages)
    }

    pub fn end(&self, metered: Trace) -> Trace {
        match self.read() {
            Ok(written) => trace(&written, metered),
            Err(cause) => untraced(of_pages(cause), metered),
        }
    }

    fn read(&self) -> io::Result<Written> {
        let mut head = [0; HEAD_WORDS * 8];
        self.pages.read(&mut head, 0)?;
        let made = words(&head)[CALLS_AT];
        let kept = usize::try_from(made.min(ROOM)).expect("at most a million calls");
        let mut bytes = vec![0; kept * CALL_WORDS * 8];
        self.pages.read(&mut bytes, HEAD_WORDS as u64 * 8)?;
        Ok(Written { processes: words(&head)[3], made, calls: calls(&bytes) })
    }
}

fn of_pages(cause: io::Error) -> String {
    format!("pages of calls: {cause}")
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect()
}

/// The calls that are whole: one whose writer was killed half-way has no kind.
fn calls(bytes: &[u8]) -> Vec<Call> {
    let call = |fields: &[u64]| {
        let (kind, _) = *KINDS.get(usize::try_from(fields[0]).ok()?.checked_sub(1)?)?;
        Some(Call {
            kind,
            thread: fields[1],
            start_ns: fields[2],
            wall_ns: fields[3],
            offset: fields[4],
            requested_bytes: fields[5],
            got: fields[6].cast_signed(),
        })
    };
    words(bytes).chunks_exact(CALL_WORDS).filter_map(call).collect()
}

/// A trace of which only is known what the lab metered around the reading, and the reason.
pub fn untraced(why: impl Into<String>, metered: Trace) -> Trace {
    Trace { how: HOW.to_owned(), reason: Some(why.into()), ..metered }
}

fn trace(written: &Written, metered: Trace) -> Trace {
    let (maps, reads): (Vec<Call>, Vec<Call>) =
        written.calls.iter().partition(|call| call.kind == Kind::Mmap);
    let mut calls = BTreeMap::<String, u64>::new();
    for call in &written.calls {
        let (_, word) = KINDS[call.kind as usize];
        *calls.entry(word.to_owned()).or_default() += 1;
    }
    let reason = if reads.is_empty() { Some(why_no_reads(written, &maps, &metered)) } else { None };
    let spread = |number: fn(&Call) -> u64| Spread::from_numbers(reads.iter().map(number).collect());
    let brought = reads.iter().map(got_bytes).filter(|&bytes| bytes > 0);
    let paths = Paths::from_calls(&reads);
    Trace {
        reason,
        calls,
        unrecorded: written.made - written.calls.len() as u64,
        threads: paths.threads,
        in_calls_ns: reads.iter().map(|call| call.wall_ns).sum(),
        bytes: reads.iter().map(got_bytes).sum(),
        requested_bytes: spread(|call| call.requested_bytes),
        got_bytes: spread(got_bytes),
        brought_bytes: Spread::from_numbers(brought.collect()),
        latency_ns: spread(|call| call.wall_ns),
        sequential: paths.sequential,
        ahead_bytes: Spread::from_numbers(paths.ahead),
        back_bytes: Spread::from_numbers(paths.back),
        ..untraced("", metered)
    }
}

fn why_no_reads(written: &Written, maps: &[Call], metered: &Trace) -> String {
    if written.processes == 0 {
        "the tracing library was not loaded: the program is linked statically, or its loader takes none"
            .to_owned()
    } else if maps.is_empty() {
        "no read call of the file passed the C library: io_uring has none, and Go's runtime, the C library's own \
         stdio and programs that call the kernel by themselves do not pass it"
            .to_owned()
    } else {
        let bytes: u64 = maps.iter().map(|call| call.requested_bytes).sum();
        format!(
            "it makes no read calls: mmap of {bytes} bytes; {} minor and {} major page faults brought them",
            number_of(metered.minor_faults),
            number_of(metered.major_faults)
        )
    }
}

fn number_of(count: Option<u64>) -> String {
    count.map_or_else(|| "an unknown number of".to_owned(), |count| count.to_string())
}

fn got_bytes(call: &Call) -> u64 {
    u64::try_from(call.got).unwrap_or(0)
}

/// In what order threads read the file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Paths {
    threads: u64,
    sequential: u64,
    ahead: Vec<u64>,
    back: Vec<u64>,
}

impl Paths {
    fn from_calls(reads: &[Call]) -> Paths {
        let mut in_order = reads.to_vec();
        in_order.sort_by_key(|call| call.start_ns);
        let mut paths = Paths::default();
        let mut ends = BTreeMap::<u64, u64>::new();
        for call in in_order {
            let end = call.offset.saturating_add(got_bytes(&call));
            match ends.insert(call.thread, end) {
                None => paths.threads += 1,
                Some(before) if before == call.offset => paths.sequential += 1,
                Some(before) if before < call.offset => paths.ahead.push(call.offset - before),
                Some(before) => paths.back.push(before - call.offset),
            }
        }
        paths
    }
}

#[cfg(test)]
mod tests;
