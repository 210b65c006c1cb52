//! Traces of the calls of one reading that fetch the file's bytes: for each call, the bytes
//! requested, the bytes returned, the offset, and the time. A library
//! (`linux/preload/libraries/tracing.rs`), preloaded into the contender in an untimed run, writes
//! each call to shared pages.
//!
//! The caller starts a process with [`Tracing::env`], brackets one reading with [`Tracing::begin`]
//! and [`Tracing::end`], and passes the meters around the reading as a trace without calls. Only
//! calls through the C library are seen. For a program that is linked statically or makes system
//! calls itself, the trace has no calls and gives the reason.

use readlab_record::{Distribution, Trace};
use readlab_system::preload::{EnvironmentVariable, PreloadedLibrary, SharedMemory, TRACING_LIBRARY};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Description for the record of how calls are seen.
const HOW_CALLS_ARE_SEEN: &str = "read, pread, readv, preadv and mmap of this file by the process and its children, seen by \
     a preloaded library; a latency is what the C library's function took, looking at the clock included";

/// The largest number of calls that the shared pages hold; unused pages take no memory.
const CALLS_MAX: u64 = 1 << 20;
/// Number of words of the header, which begins with the device, the inode, the largest number of
/// calls, the number of programs, and the number of calls made.
const HEADER_WORDS: usize = 8;
/// Index in the header of the number of calls made.
const CALL_COUNT_INDEX: usize = 4;
/// Number of words of one recorded call.
const WORDS_PER_CALL: usize = 8;
const PAGES_BYTES: u64 = (HEADER_WORDS as u64 + CALLS_MAX * WORDS_PER_CALL as u64) * 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallKind {
    Read,
    Pread,
    Readv,
    Preadv,
    Mmap,
}

/// Kinds in the order of the library's numbers, which begin at one.
const CALL_KINDS: [(CallKind, &str); 5] = [
    (CallKind::Read, "read"),
    (CallKind::Pread, "pread"),
    (CallKind::Readv, "readv"),
    (CallKind::Preadv, "preadv"),
    (CallKind::Mmap, "mmap"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TracedCall {
    kind: CallKind,
    thread: u64,
    /// Start by the monotonic clock.
    start_ns: u64,
    wall_ns: u64,
    offset: u64,
    requested_bytes: u64,
    /// Bytes returned, or a negative number if the call failed; for mmap, the address of the
    /// mapping.
    return_value: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct RecordedCalls {
    /// Programs that have started with the library loaded.
    program_count: u64,
    /// Calls that were made, including those that the pages had no room for.
    made_count: u64,
    /// The recorded calls, in the order in which they ended.
    calls: Vec<TracedCall>,
}

/// Tracing of one process and its children for one file: the library and the shared pages.
#[derive(Debug)]
pub struct Tracing {
    library: PreloadedLibrary,
    pages: SharedMemory,
}

impl Tracing {
    /// Prepares the library and empty pages for one file and one process that is not yet started.
    pub fn prepare(file: &Path) -> Result<Tracing, String> {
        if TRACING_LIBRARY.is_empty() {
            return Err("this readlab was built without its tracing library".to_owned());
        }
        let facts = file.metadata().map_err(|cause| format!("{}: {cause}", file.display()))?;
        let head = [facts.dev(), facts.ino(), CALLS_MAX].map(u64::to_ne_bytes).concat();
        let prepared = || -> io::Result<Tracing> {
            let library = PreloadedLibrary::new("readlab-tracing", TRACING_LIBRARY)?;
            let pages = SharedMemory::zeroed("readlab-calls", PAGES_BYTES)?;
            pages.write(&head, 0)?;
            Ok(Tracing { library, pages })
        };
        prepared().map_err(|cause| format!("tracing library: {cause}"))
    }

    /// Variables that the process must be started with.
    pub fn env(&self) -> Vec<EnvironmentVariable> {
        vec![self.library.variable(), self.pages.variable("READLAB_TRACE_PAGES")]
    }

    /// Begins the reading: discards earlier calls. No program may make calls meanwhile.
    pub fn begin(&self) -> Result<(), String> {
        let discarded = self
            .pages
            .erase(HEADER_WORDS as u64 * 8..PAGES_BYTES)
            .and_then(|()| self.pages.write(&0_u64.to_ne_bytes(), CALL_COUNT_INDEX as u64 * 8));
        discarded.map_err(pages_error)
    }

    pub fn end(&self, metered: Trace) -> Trace {
        match self.read() {
            Ok(written) => trace_from_calls(&written, metered),
            Err(cause) => trace_without_calls(pages_error(cause), metered),
        }
    }

    fn read(&self) -> io::Result<RecordedCalls> {
        let mut head = [0; HEADER_WORDS * 8];
        self.pages.read(&mut head, 0)?;
        let made = parse_words(&head)[CALL_COUNT_INDEX];
        let kept = usize::try_from(made.min(CALLS_MAX)).expect("at most a million calls");
        let mut bytes = vec![0; kept * WORDS_PER_CALL * 8];
        self.pages.read(&mut bytes, HEADER_WORDS as u64 * 8)?;
        Ok(RecordedCalls {
            program_count: parse_words(&head)[3],
            made_count: made,
            calls: parse_calls(&bytes),
        })
    }
}

fn pages_error(cause: io::Error) -> String {
    format!("pages of calls: {cause}")
}

fn parse_words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect()
}

/// The complete calls. A call whose writer was killed before the end has no kind and is left out.
fn parse_calls(bytes: &[u8]) -> Vec<TracedCall> {
    let call = |fields: &[u64]| {
        let (kind, _) = *CALL_KINDS.get(usize::try_from(fields[0]).ok()?.checked_sub(1)?)?;
        Some(TracedCall {
            kind,
            thread: fields[1],
            start_ns: fields[2],
            wall_ns: fields[3],
            offset: fields[4],
            requested_bytes: fields[5],
            return_value: fields[6].cast_signed(),
        })
    };
    parse_words(bytes).chunks_exact(WORDS_PER_CALL).filter_map(call).collect()
}

/// A trace without calls, with the reason; it has only the meters of the reading.
pub fn trace_without_calls(why: impl Into<String>, metered: Trace) -> Trace {
    Trace { how_traced: HOW_CALLS_ARE_SEEN.to_owned(), reason: Some(why.into()), ..metered }
}

fn trace_from_calls(written: &RecordedCalls, metered: Trace) -> Trace {
    let (maps, reads): (Vec<TracedCall>, Vec<TracedCall>) =
        written.calls.iter().partition(|call| call.kind == CallKind::Mmap);
    let mut calls = BTreeMap::<String, u64>::new();
    for call in &written.calls {
        let (_, word) = CALL_KINDS[call.kind as usize];
        *calls.entry(word.to_owned()).or_default() += 1;
    }
    let reason = if reads.is_empty() { Some(why_no_reads(written, &maps, &metered)) } else { None };
    let spread =
        |number: fn(&TracedCall) -> u64| Distribution::from_numbers(reads.iter().map(number).collect());
    let brought = reads.iter().map(returned_bytes).filter(|&bytes| bytes > 0);
    let paths = AccessPatterns::from_calls(&reads);
    Trace {
        reason,
        call_counts: calls,
        unrecorded: written.made_count - written.calls.len() as u64,
        threads: paths.thread_count,
        in_calls_ns: reads.iter().map(|call| call.wall_ns).sum(),
        bytes: reads.iter().map(returned_bytes).sum(),
        requested_bytes: spread(|call| call.requested_bytes),
        returned_bytes: spread(returned_bytes),
        nonempty_returned_bytes: Distribution::from_numbers(brought.collect()),
        latency_ns: spread(|call| call.wall_ns),
        sequential_calls: paths.sequential_reads,
        ahead_bytes: Distribution::from_numbers(paths.ahead_bytes),
        back_bytes: Distribution::from_numbers(paths.back_bytes),
        ..trace_without_calls("", metered)
    }
}

fn why_no_reads(written: &RecordedCalls, maps: &[TracedCall], metered: &Trace) -> String {
    if written.program_count == 0 {
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
            count_text(metered.minor_faults),
            count_text(metered.major_faults)
        )
    }
}

fn count_text(count: Option<u64>) -> String {
    count.map_or_else(|| "an unknown number of".to_owned(), |count| count.to_string())
}

fn returned_bytes(call: &TracedCall) -> u64 {
    u64::try_from(call.return_value).unwrap_or(0)
}

/// The order in which threads read the file.
#[derive(Debug, Default, PartialEq, Eq)]
struct AccessPatterns {
    thread_count: u64,
    sequential_reads: u64,
    ahead_bytes: Vec<u64>,
    back_bytes: Vec<u64>,
}

impl AccessPatterns {
    fn from_calls(reads: &[TracedCall]) -> AccessPatterns {
        let mut in_order = reads.to_vec();
        in_order.sort_by_key(|call| call.start_ns);
        let mut paths = AccessPatterns::default();
        let mut ends = BTreeMap::<u64, u64>::new();
        for call in in_order {
            let end = call.offset.saturating_add(returned_bytes(&call));
            match ends.insert(call.thread, end) {
                None => paths.thread_count += 1,
                Some(before) if before == call.offset => paths.sequential_reads += 1,
                Some(before) if before < call.offset => paths.ahead_bytes.push(call.offset - before),
                Some(before) => paths.back_bytes.push(before - call.offset),
            }
        }
        paths
    }
}

#[cfg(test)]
mod tests;
