//! Runs the benchmark as a contender of readlab. Every reader is a method, timed around its
//! function.

use crate::{DeclaredReader, Harness, Work};
use readlab_protocol::serve::{self, Contender, Reader, Refusal, Request};
use readlab_protocol::{MethodLine, SampleLine, TurnRequest};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Runs one session with the lab.
pub(crate) fn main(harness: Harness, words: impl IntoIterator<Item = OsString>) -> ExitCode {
    serve::main(&harness, words)
}

/// A declared reader with the file that it reads.
struct DeclaredFileReader {
    declared: DeclaredReader,
    file: PathBuf,
}

impl Contender for Harness {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn runtime(&self) -> String {
        let profile = if cfg!(debug_assertions) { "with debug assertions" } else { "optimised" };
        format!("Rust, a benchmark of its own crate, {profile}")
    }

    fn methods(&self) -> Vec<MethodLine> {
        let method = |declared: &DeclaredReader| MethodLine {
            scans: BTreeMap::from([(declared.work.word().to_owned(), vec!["-".to_owned()])]),
            ..MethodLine::plain(declared.name, "a function of the crate that is measured")
        };
        self.readers.iter().map(method).collect()
    }

    fn open(&self, request: &Request) -> Result<Box<dyn Reader>, Refusal> {
        let declared = self.readers.iter().find(|declared| declared.name == request.method);
        let Some(declared) = declared.filter(|declared| declared.work.word() == request.work) else {
            let reason = format!("no reader '{}' for {}", request.method, request.work);
            return Err(Refusal::Failed(reason));
        };
        Ok(Box::new(DeclaredFileReader { declared: declared.clone(), file: request.target.into() }))
    }
}

impl Reader for DeclaredFileReader {
    fn params(&self) -> BTreeMap<String, u64> {
        BTreeMap::new()
    }

    fn turn(&mut self, request: TurnRequest) -> Result<Vec<SampleLine>, Refusal> {
        for _ in 0..request.lead {
            self.once()?;
        }
        (0..request.count).map(|_| self.once()).collect()
    }
}

impl DeclaredFileReader {
    fn once(&self) -> Result<SampleLine, Refusal> {
        let start = Instant::now();
        let answer = (self.declared.read)(&self.file);
        let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let answer = answer.map_err(|cause| Refusal::Failed(format!("{}: {cause}", self.file.display())))?;
        let mut sample = SampleLine { wall_ns, ..SampleLine::default() };
        *match self.declared.work {
            Work::Newlines => &mut sample.newlines,
            Work::Lines => &mut sample.lines,
            Work::Sum => &mut sample.sum,
            Work::Discard | Work::Stat => &mut sample.bytes,
            Work::Names => &mut sample.names,
        } = Some(answer);
        Ok(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_protocol::Message;

    fn messages_of(words: &[&str], input: &str) -> Vec<Message> {
        let harness = Harness::new("own", "unused")
            .reader("bytes", Work::Discard, |path| Ok(std::fs::read(path)?.len() as u64))
            .reader("fails", Work::Lines, |_| Err(std::io::ErrorKind::PermissionDenied.into()));
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let mut output = Vec::new();
        serve::serve(&harness, &words, &mut input.as_bytes(), &mut output);
        String::from_utf8(output).unwrap().lines().map(|line| Message::parse(line).unwrap()).collect()
    }

    #[test]
    fn each_reader_is_a_method_that_answers_its_work() {
        let methods = messages_of(&["methods"], "");
        let Message::Method(method) = &methods[1] else { panic!("{methods:?}") };
        assert_eq!(
            (method.method.as_str(), method.scans.keys().next().unwrap().as_str()),
            ("bytes", "discard")
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "1234567").unwrap();
        let turn = messages_of(&["read", "bytes", "-", "discard", file.path().to_str().unwrap()], "go 1 2\n");
        let samples = turn.iter().filter(|line| matches!(line, Message::Sample(it) if it.bytes == Some(7)));
        assert_eq!(samples.count(), 2, "{turn:?}");
    }

    #[test]
    fn a_failing_or_unknown_reader_is_reported_with_the_reason() {
        for words in [["read", "fails", "-", "lines", "/f"], ["read", "bytes", "-", "lines", "/f"]] {
            let turn = messages_of(&words, "go 0 1\n");
            assert!(matches!(turn.last(), Some(Message::Failed { .. })), "{turn:?}");
        }
    }
}
