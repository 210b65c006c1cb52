//! Traces of the calls that bring a file's bytes inside one reading: the bytes requested, the bytes
//! returned, the offset, and the time of each. A library that is loaded into the contender in an
//! untimed run sees them.
//!
//! The caller starts a process with [`Tracing::env`], brackets one reading with [`Tracing::begin`]
//! and [`Tracing::end`], and passes what it metered around it. Calls that pass the C library are
//! seen; a program that is linked statically or calls the kernel by itself makes none, and the
//! trace says so.

mod pages;

use pages::{Call, Kind, TracePages, Written};
use readlab_record::{Spread, Trace};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// How calls are seen, for the record.
const HOW: &str = "read, pread, readv, preadv and mmap of this file by the process and its children, seen by a preloaded \
     library; a latency is what the C library's function took, looking at the clock included";

/// Tracing of one process and its children.
#[derive(Debug)]
pub struct Tracing {
    pages: TracePages,
}

/// What the lab metered around the traced reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MeteredReading {
    pub wall_ns: u64,
    /// Page faults served without the device.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for the device.
    pub major_faults: Option<u64>,
}

impl Tracing {
    /// Makes the library ready for one process that is still to be started, and one file.
    pub fn prepare(file: &Path) -> Result<Tracing, String> {
        Ok(Tracing { pages: TracePages::prepare(file)? })
    }

    /// What the process must find in its environment.
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        self.pages.env()
    }

    /// Begins the reading: earlier calls are discarded.
    pub fn begin(&self) -> Result<(), String> {
        self.pages.forget()
    }

    /// Ends the reading and returns its calls.
    pub fn end(&self, metered: MeteredReading) -> Trace {
        match self.pages.read() {
            Ok(written) => trace(&written, metered),
            Err(why) => untraced(why, metered),
        }
    }
}

/// A trace that is missing, with the reason.
pub fn untraced(why: impl Into<String>, metered: MeteredReading) -> Trace {
    let MeteredReading { wall_ns, minor_faults, major_faults } = metered;
    Trace {
        how: HOW.to_owned(),
        reason: Some(why.into()),
        wall_ns,
        minor_faults,
        major_faults,
        ..Trace::default()
    }
}

/// The summary of the calls.
fn trace(written: &Written, metered: MeteredReading) -> Trace {
    let (maps, reads): (Vec<Call>, Vec<Call>) =
        written.calls.iter().partition(|call| call.kind == Kind::Mmap);
    let mut calls = BTreeMap::<String, u64>::new();
    for call in &written.calls {
        *calls.entry(call.kind.word().to_owned()).or_default() += 1;
    }
    let reason = if reads.is_empty() { Some(why_no_reads(written, &maps, metered)) } else { None };
    let spread = |number: fn(&Call) -> u64| Spread::from_numbers(reads.iter().map(number).collect());
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
        brought_bytes: Some(Spread::from_numbers(
            reads.iter().map(got_bytes).filter(|&bytes| bytes > 0).collect(),
        )),
        latency_ns: spread(|call| call.wall_ns),
        sequential: paths.sequential,
        ahead_bytes: Spread::from_numbers(paths.ahead),
        back_bytes: Spread::from_numbers(paths.back),
        ..untraced("", metered)
    }
}

fn why_no_reads(written: &Written, maps: &[Call], metered: MeteredReading) -> String {
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
