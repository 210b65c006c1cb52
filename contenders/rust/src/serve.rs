//! This crate as a contender: its description, and how a request becomes a [`Reading`] for turns.
//!
//! [`readlab_protocol::serve`] implements the protocol, for every contender in Rust.

use crate::heap;
use crate::method::{Method, registry};
use crate::reading::{ReadError, Reading, RequestError};
#[cfg(target_arch = "x86_64")]
use crate::scan::levels::Level;
use readlab_protocol::serve::{self, Contender, Reader, Refusal, Request};
use readlab_protocol::{
    Archive, DICTIONARY_VARIABLE, LatenciesLine, MethodLine, ParamLine, Places, SampleLine, TurnRequest,
    Work, remote,
};
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

/// Runs one session on standard input and output. `words` are the arguments after the contender's
/// name.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    heap::return_large_blocks();
    serve::main(&Rust, words)
}

/// Runs one session: 0 if it ended normally, 1 after an error that was reported.
pub fn serve(
    words: impl IntoIterator<Item = OsString>,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> ExitCode {
    serve::serve(&Rust, &words.into_iter().collect::<Vec<_>>(), input, output)
}

struct Rust;

impl Contender for Rust {
    fn name(&self) -> &'static str {
        "rust"
    }

    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn runtime(&self) -> String {
        let compiled = env!("READLAB_RUST_RUNTIME");
        #[cfg(target_arch = "x86_64")]
        return format!("{compiled}; iterator-native is {}", Level::of_processor());
        #[cfg(not(target_arch = "x86_64"))]
        return compiled.to_owned();
    }

    fn methods(&self) -> Vec<MethodLine> {
        registry::ALL.iter().map(method_line).collect()
    }

    fn method(&self, name: &str) -> Option<MethodLine> {
        registry::find(name).map(method_line)
    }

    fn open(&self, request: &Request) -> Result<Box<dyn Reader>, Refusal> {
        let work: Work = request.work.parse().map_err(|error| Refusal::Failed(format!("read: {error}")))?;
        let settings = request.settings.iter().copied();
        let target = remote::target(request.target);
        let reading = Reading::new(request.method, request.scan, work, target.as_ref(), settings);
        let reading = reading.and_then(|reading| match request.part {
            Some(part) => reading.part(part),
            None if request.is_list => reading.list(),
            None => Ok(reading),
        });
        let reading = reading.map_err(request_refusal)?.ranges(ranges(request.method)?);
        Ok(Box::new(reading.dictionary(dictionary(request.method)?)))
    }
}

/// The ranges of the session, if the method reads the ranges of a list.
fn ranges(method: &str) -> Result<Option<Places>, Refusal> {
    let reads_ranges = registry::find(method).is_some_and(|method| method.ranges);
    let ranges = reads_ranges.then(Places::of_environment).transpose();
    ranges.map_err(|cause| Refusal::Failed(format!("{method}: {cause}")))
}

/// The dictionary of the session, if there is one and the method decodes with it. For other methods
/// it would only add to the memory.
fn dictionary(method: &str) -> Result<Option<Vec<u8>>, Refusal> {
    let named = env::var_os(DICTIONARY_VARIABLE);
    let Some(path) = named.filter(|_| registry::find(method).is_some_and(takes_dictionary)) else {
        return Ok(None);
    };
    let failed = |cause| Refusal::Failed(format!("{}: {cause}", Path::new(&path).display()));
    fs::read(&path).map(Some).map_err(failed)
}

fn takes_dictionary(method: &Method) -> bool {
    method.decodes.contains(&Archive::Zstd)
}

impl Reader for Reading {
    fn params(&self) -> BTreeMap<String, u64> {
        self.settings().params()
    }

    fn turn(&mut self, request: TurnRequest) -> Result<Vec<SampleLine>, Refusal> {
        self.prepare().map_err(refusal_of)?;
        for _ in 0..request.lead {
            self.read().map_err(refusal_of)?;
        }
        drop(self.take_latencies());
        let samples: Result<_, ReadError> = (0..request.count).map(|_| self.sample()).collect();
        self.release();
        samples.map_err(refusal_of)
    }

    fn latencies(&mut self) -> Option<LatenciesLine> {
        self.take_latencies().map(|latencies| LatenciesLine { histogram: latencies.encoded() })
    }
}

fn request_refusal(error: RequestError) -> Refusal {
    match error {
        RequestError::Unavailable(reason) => Refusal::Unavailable(reason),
        error => Refusal::Failed(error.to_string()),
    }
}

fn refusal_of(error: ReadError) -> Refusal {
    match error {
        ReadError::Unavailable(reason) => Refusal::Unavailable(reason),
        error => Refusal::Failed(error.to_string()),
    }
}

fn method_line(method: &Method) -> MethodLine {
    let scans = Work::ALL.into_iter().map(|work| (work, method.scans(work)));
    let scans = scans.filter(|(_, scans)| !scans.is_empty());
    let owned = |scans: Vec<&str>| scans.into_iter().map(str::to_owned).collect();
    MethodLine {
        method: method.name.to_owned(),
        scans: scans.map(|(work, scans)| (work.word().to_owned(), owned(scans))).collect(),
        params: method.params.iter().map(ParamLine::from).collect(),
        about: method.about.to_owned(),
        cache: method.cache,
        reads: method.reads,
        decodes: method.decodes.to_vec(),
        dictionary: takes_dictionary(method),
        parts: method.parts,
        ranges: method.ranges,
        lists: method.lists,
        tls: method.tls,
        unavailable: method.available().err(),
    }
}
