//! Implements a contender in Rust from a list of its methods, for crates that enable the feature
//! `contender`.
//!
//! A method is an entry of the list and a [`ReadTarget`]: one function that opens the target,
//! visits its bytes and closes it, such as a closure. All other rules of PROTOCOL.md are implemented
//! here and in [`crate::serve`]:
//!
//! ```no_run
//! use readlab_protocol::contender::{Job, Method, MethodList, Reading, Tally};
//! use readlab_protocol::{Cache, Reads, Work, serve::Refusal};
//!
//! fn read(job: &Job) -> Result<Reading, Refusal> {
//!     let mut tally = Tally::new(job.work);
//!     tally.take(&std::fs::read(&job.target)?);
//!     Ok(tally.answer().into())
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     let whole = Method {
//!         name: "whole",
//!         about: "std::fs::read of the whole file",
//!         works: &Work::OF_BYTES,
//!         cache: Cache::Through,
//!         reads: Reads::File,
//!         ranges: false,
//!         tls: false,
//!         params: Vec::new(),
//!         available: || Ok(()),
//!         open: |job| Ok(Box::new(move || read(&job))),
//!     };
//!     MethodList { name: "mine", version: "1.0.0", runtime: "Rust", methods: vec![whole] }.main()
//! }
//! ```
//!
//! [`Window`] is the clock, [`Tally`] visits bytes, and [`heap`] keeps the allocator's behaviour
//! constant. A contender that needs other scans, parts or lists implements
//! [`crate::serve::Contender`] itself.

mod clock;
pub mod heap;
#[cfg(feature = "latencies")]
mod latencies;
mod tally;

pub use clock::{CpuTime, Window};
#[cfg(feature = "latencies")]
pub use latencies::Latencies;
pub use tally::Tally;

use crate::serve::{self, Contender, Reader, Refusal, Request};
use crate::setting::{Param, Settings};
use crate::{
    Answer, Cache, LatenciesLine, MethodLine, NO_SCAN, ParamLine, Places, Reads, SampleLine, TurnRequest,
    Work, remote,
};
use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;
use std::time::Instant;

/// A contender with its methods.
#[derive(Debug)]
pub struct MethodList {
    /// Name of the contender in the roster.
    pub name: &'static str,
    /// Version of the contender.
    pub version: &'static str,
    /// Compiler, runtime, flags.
    pub runtime: &'static str,
    /// Methods of the contender, in the order of reports.
    pub methods: Vec<Method>,
}

/// An entry of the list of methods. The method visits bytes in one fixed way, so it has no scan.
#[derive(Debug)]
pub struct Method {
    /// Name of the method.
    pub name: &'static str,
    /// One sentence: which calls read the bytes.
    pub about: &'static str,
    /// The works that the method can do with the bytes.
    pub works: &'static [Work],
    /// How the method uses the page cache.
    pub cache: Cache,
    /// The kinds of target that the method can read.
    pub reads: Reads,
    /// Whether the method reads the ranges of a list from a server, and nothing else.
    pub ranges: bool,
    /// Whether the method reads URLs with encryption too.
    pub tls: bool,
    /// Parameters of the method.
    pub params: Vec<Param>,
    /// Checks that the method works on this machine.
    pub available: fn() -> Result<(), Refusal>,
    /// Makes a reader, including everything that belongs to the program, such as a runtime.
    pub open: fn(Job) -> Result<Box<dyn ReadTarget>, Refusal>,
}

/// The task for which a reader is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The work to do with the bytes.
    pub work: Work,
    /// The target: a path of arbitrary bytes, a URL with its query, or an object.
    pub target: OsString,
    /// The target in messages. A URL has no query here, because the query may be a secret.
    pub shown: String,
    /// The ranges to read; `None` for a method that reads whole targets.
    pub ranges: Option<Places>,
    /// The value of every parameter of the method.
    pub settings: Settings,
}

/// A method with its settings, for any number of readings of one target.
pub trait ReadTarget {
    /// Does one whole reading. The timed window contains all of it.
    ///
    /// # Errors
    /// If the target cannot be read; the reason need not name it.
    fn read(&mut self) -> Result<Reading, Refusal>;

    /// The latencies of the single reads or requests of all readings since they were last taken, if
    /// the method measures them.
    fn take_latencies(&mut self) -> Option<LatenciesLine> {
        None
    }
}

impl<F: FnMut() -> Result<Reading, Refusal>> ReadTarget for F {
    fn read(&mut self) -> Result<Reading, Refusal> {
        self()
    }
}

/// The result of a reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading {
    /// Proof of work.
    pub answer: Answer,
    /// The time at which the first byte from a server arrived; `None` without content, and for a
    /// file.
    pub first_byte: Option<Instant>,
    /// Number of requests to a server, repeated ones included; `None` for a file.
    pub requests: Option<u64>,
    /// Number of requests that were repeated after a failure; `None` if the client does not report
    /// it.
    pub retries: Option<u64>,
    /// Number of bytes that the reading got for the ranges of a list; `None` for a whole target.
    pub read_bytes: Option<u64>,
}

/// A reader in a session.
struct Session {
    reader: Box<dyn ReadTarget>,
    shown: String,
    params: BTreeMap<String, u64>,
}

impl From<Answer> for Reading {
    /// The result of reading a file, which has no requests.
    fn from(answer: Answer) -> Reading {
        Reading { answer, ..Reading::default() }
    }
}

impl MethodList {
    /// Runs one session with the arguments, standard input and standard output of this process.
    #[must_use]
    pub fn main(&self) -> ExitCode {
        serve::main(self, env::args_os().skip(1))
    }

    fn find(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|method| method.name == name)
    }

    fn session(&self, request: &Request) -> Result<Session, Refusal> {
        let method = self.find(request.method);
        let method =
            method.ok_or_else(|| Refusal::failed(format!("there is no method {:?}", request.method)))?;
        let job = method.job(request)?;
        let (shown, params) = (job.shown.clone(), job.settings.params());
        Ok(Session { reader: (method.open)(job)?, shown, params })
    }
}

impl Contender for MethodList {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> &'static str {
        self.version
    }

    fn runtime(&self) -> String {
        self.runtime.to_owned()
    }

    fn methods(&self) -> Vec<MethodLine> {
        let line = |method: &Method| {
            let unavailable = (method.available)().err().map(|why| why.in_one_line().to_string());
            MethodLine { unavailable, ..method.line() }
        };
        self.methods.iter().map(line).collect()
    }

    /// Finds the line without the check for availability, which may start what the reading starts.
    fn method(&self, name: &str) -> Option<MethodLine> {
        self.find(name).map(Method::line)
    }

    fn open(&self, request: &Request) -> Result<Box<dyn Reader>, Refusal> {
        Ok(Box::new(self.session(request).map_err(Refusal::in_one_line)?))
    }
}

impl Method {
    fn line(&self) -> MethodLine {
        let works = Work::ALL.into_iter().filter(|work| self.works.contains(work));
        MethodLine {
            scans: works.map(|work| (work.word().to_owned(), vec![NO_SCAN.to_owned()])).collect(),
            params: self.params.iter().map(ParamLine::from).collect(),
            cache: self.cache,
            reads: self.reads,
            ranges: self.ranges,
            tls: self.tls,
            ..MethodLine::plain(self.name, self.about)
        }
    }

    /// Checks the request against the method.
    fn job(&self, request: &Request) -> Result<Job, Refusal> {
        let refused = |why: String| Refusal::failed(format!("{} {why}", self.name));
        let work = self.works.iter().copied().find(|work| work.word() == request.work);
        let work = work.ok_or_else(|| refused("does not do this work".to_owned()))?;
        if request.scan != NO_SCAN {
            return Err(refused(format!("has no scan {:?}", request.scan)));
        }
        let settings = Settings::resolve(&self.params, request.settings.iter().copied());
        let settings = settings.map_err(|error| refused(format!("takes no such settings: {error}")))?;
        let target = remote::target(request.target);
        let ranges = self.ranges.then(Places::of_environment).transpose()?;
        Ok(Job { work, shown: shown(self.reads, &target), target, ranges, settings })
    }
}

/// The target for messages. Only a URL loses its query: in a path and in the key of an object, a
/// question mark is an ordinary character.
fn shown(reads: Reads, target: &OsStr) -> String {
    let text = target.to_string_lossy();
    match reads {
        Reads::Url | Reads::Both => remote::url_without_query(&text).to_owned(),
        _ => text.into_owned(),
    }
}

impl Session {
    fn samples(&mut self, request: TurnRequest) -> Result<Vec<SampleLine>, Refusal> {
        for _ in 0..request.lead {
            self.reader.read()?;
        }
        drop(self.reader.take_latencies());
        (0..request.count).map(|_| self.sample()).collect()
    }

    fn sample(&mut self) -> Result<SampleLine, Refusal> {
        let (reading, window) = Window::around(|| self.reader.read())?;
        let first_byte_ns = reading.first_byte.map(|at| window.until_ns(at));
        let Reading { requests, retries, read_bytes, .. } = reading;
        Ok(SampleLine { first_byte_ns, requests, retries, read_bytes, ..window.sample(reading.answer) })
    }
}

impl Reader for Session {
    fn params(&self) -> BTreeMap<String, u64> {
        self.params.clone()
    }

    fn turn(&mut self, request: TurnRequest) -> Result<Vec<SampleLine>, Refusal> {
        self.samples(request).map_err(|why| why.about(&self.shown).in_one_line())
    }

    fn latencies(&mut self) -> Option<LatenciesLine> {
        self.reader.take_latencies()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    /// Answers the depth, and fails if the depth is 9.
    fn read(job: &Job) -> Result<Reading, Refusal> {
        match job.settings.get(&DEPTH) {
            9 => Err(Refusal::failed("too\ndeep")),
            depth => Ok(Answer { lines: Some(depth), ..Answer::default() }.into()),
        }
    }

    const DEPTH: Param = Param::new("depth", 2, 1, 9);

    fn method(name: &'static str, reads: Reads, available: fn() -> Result<(), Refusal>) -> Method {
        Method {
            name,
            about: "",
            works: &[Work::Lines],
            cache: Cache::Through,
            reads,
            ranges: false,
            tls: false,
            params: vec![DEPTH],
            available,
            open: |job| Ok(Box::new(move || read(&job))),
        }
    }

    fn messages_of(words: &[&str], input: &str) -> Vec<Message> {
        let absent = || Err(Refusal::Unavailable("not\nhere".to_owned()));
        let methods = vec![method("file", Reads::File, || Ok(())), method("url", Reads::Url, absent)];
        let list = MethodList { name: "list", version: "1", runtime: "test", methods };
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let mut output = Vec::new();
        serve::serve(&list, &words, &mut input.as_bytes(), &mut output);
        String::from_utf8(output).unwrap().lines().map(|line| Message::parse(line).unwrap()).collect()
    }

    #[test]
    fn a_method_is_listed_with_its_works_its_params_and_why_it_is_unavailable() {
        let methods = messages_of(&["methods"], "");
        let [Message::Hello { .. }, Message::Method(file), Message::Method(url)] = &methods[..] else {
            panic!("{methods:?}")
        };
        assert_eq!(file.scans, BTreeMap::from([("lines".to_owned(), vec!["-".to_owned()])]));
        assert_eq!((file.params[0].default, file.params[0].max, &file.unavailable), (2, 9, &None));
        assert_eq!((url.reads, url.unavailable.as_deref()), (Reads::Url, Some("not here")));
    }

    #[test]
    fn a_reading_is_timed_and_has_every_parameter() {
        let turn = messages_of(&["read", "file", "-", "lines", "/f", "depth=3"], "go 1 2\n");
        let [
            _,
            Message::Ready { params },
            Message::Sample(sample),
            Message::Sample(_),
            Message::Done { count: 2 },
        ] = &turn[..]
        else {
            panic!("{turn:?}")
        };
        assert_eq!((params["depth"], sample.lines, sample.requests), (3, Some(3), None));
        assert!(sample.cpu_user_ns.is_some() && sample.cpu_system_ns.is_some());
    }

    /// Its latencies are the number of its readings since they were last taken.
    struct CountedTarget(u64);

    impl ReadTarget for CountedTarget {
        fn read(&mut self) -> Result<Reading, Refusal> {
            self.0 += 1;
            Ok(Reading::default())
        }

        fn take_latencies(&mut self) -> Option<LatenciesLine> {
            Some(LatenciesLine { histogram: std::mem::take(&mut self.0).to_string() })
        }
    }

    #[test]
    fn latencies_are_of_timed_readings_alone() {
        let (reader, shown) = (Box::new(CountedTarget(0)), "/f".to_owned());
        let mut session = Session { reader, shown, params: BTreeMap::new() };
        for _ in 0..2 {
            let samples = session.turn(TurnRequest { lead: 2, count: 3 }).unwrap();
            assert_eq!(samples.len(), 3);
            assert_eq!(session.latencies().unwrap().histogram, "3");
        }
    }

    #[test]
    fn a_failure_names_the_target_in_one_line_and_no_query() {
        let reason = |method, target| match messages_of(
            &["read", method, "-", "lines", target, "depth=9"],
            "go 0 1\n",
        )
        .pop()
        {
            Some(Message::Failed { reason }) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(reason("file", "/a?b\nc"), "/a?b c: too deep");
        assert_eq!(reason("url", "http://h/o?secret"), "http://h/o: too deep");
    }

    #[test]
    fn a_method_or_work_that_is_not_offered_is_refused() {
        for words in [
            "fetch - lines f",
            "file - sum f",
            "file x lines f",
            "file - lines f width=1",
            "file - lines f depth=0",
            "file - lines f list=1",
        ] {
            let words: Vec<&str> = ["read"].into_iter().chain(words.split(' ')).collect();
            assert!(matches!(messages_of(&words, "").last(), Some(Message::Failed { .. })), "{words:?}");
        }
    }
}
