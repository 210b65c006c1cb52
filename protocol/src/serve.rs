//! The contender's side of a session, for contenders in Rust. It takes arguments and prints lines.
//!
//! A contender describes itself and its methods, and opens a reader for a request; all other rules
//! of PROTOCOL.md are implemented here. Input and output are parameters, so that a test can run a
//! session.

use crate::files::{LIST_SETTING, take_setting};
use crate::places::PLACES_SETTING;
use crate::remote::VariableError;
use crate::{
    LINE_BYTES_MAX, LatenciesLine, Message, MethodLine, Part, Reads, SampleLine, TurnRequest, VERSION,
};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

/// A program whose methods read targets.
pub trait Contender {
    /// Name of the contender in the roster.
    fn name(&self) -> &'static str;

    /// Version of the contender.
    fn version(&self) -> &'static str;

    /// Compiler, runtime, flags.
    fn runtime(&self) -> String;

    /// The methods that the contender offers.
    fn methods(&self) -> Vec<MethodLine>;

    /// The method of this name, if the contender offers it. A request is checked against it.
    fn method(&self, name: &str) -> Option<MethodLine> {
        self.methods().into_iter().find(|line| line.method == name)
    }

    /// Makes a reader that is ready for turns.
    ///
    /// # Errors
    /// If the request names something that the contender does not offer, or this machine cannot do
    /// it.
    fn open(&self, request: &Request) -> Result<Box<dyn Reader>, Refusal>;
}

/// A method for one target, ready for turns.
pub trait Reader {
    /// The value of every parameter.
    fn params(&self) -> BTreeMap<String, u64>;

    /// Does all readings of one turn, back to back. Prints nothing.
    ///
    /// # Errors
    /// If a reading fails.
    fn turn(&mut self, request: TurnRequest) -> Result<Vec<SampleLine>, Refusal>;

    /// The latencies of single reads in the timed readings of the last turn, if the reader measures
    /// them.
    fn latencies(&mut self) -> Option<LatenciesLine> {
        None
    }
}

/// The request, parsed from the arguments after `read`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<'a> {
    /// Name of the method.
    pub method: &'a str,
    /// Name of the scan; `-` for none.
    pub scan: &'a str,
    /// Name of the work.
    pub work: &'a str,
    /// The target to read.
    pub target: &'a OsStr,
    /// The part of the target that is read; `None` for the whole target.
    pub part: Option<Part>,
    /// Whether the target is a list of files.
    pub is_list: bool,
    /// Whether the target is a list of places.
    pub is_places: bool,
    /// Values of settings by their names.
    pub settings: Vec<(&'a str, u64)>,
}

/// The reason why a reading is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The kernel, the processor or the file system lacks a required feature.
    #[error("{0}")]
    Unavailable(String),
    /// Any other failure.
    #[error("{0}")]
    Failed(String),
}

impl Refusal {
    /// The refusal for a call that failed, or for a wrong request.
    #[must_use]
    pub fn failed(reason: impl Into<String>) -> Refusal {
        Refusal::Failed(reason.into())
    }

    /// The refusal for a read that failed at this byte of the target.
    #[must_use]
    pub fn at(at_byte: u64, cause: &io::Error) -> Refusal {
        Refusal::Failed(format!("{cause} at byte {at_byte}"))
    }

    /// Puts the name of the affected thing before the reason.
    #[must_use]
    pub fn about(self, what: &str) -> Refusal {
        self.map_reason(|reason| format!("{what}: {reason}"))
    }

    /// Removes line ends from the reason. A path or the text of a library may contain them.
    #[must_use]
    pub fn in_one_line(self) -> Refusal {
        self.map_reason(|reason| reason.replace(['\n', '\r'], " "))
    }

    fn map_reason(self, change: impl FnOnce(String) -> String) -> Refusal {
        match self {
            Refusal::Unavailable(reason) => Refusal::Unavailable(change(reason)),
            Refusal::Failed(reason) => Refusal::Failed(change(reason)),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::Failed(error.to_string())
    }
}

impl From<VariableError> for Refusal {
    fn from(error: VariableError) -> Refusal {
        Refusal::Failed(error.to_string())
    }
}

/// The reason why a session ended before the end of its input.
#[derive(Debug, thiserror::Error)]
enum SessionFailure {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    LabIo(#[from] io::Error),
}

/// Runs one session on standard input and output. `words` are the arguments after the contender's
/// name.
pub fn main(contender: &dyn Contender, words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.into_iter().collect();
    serve(contender, &words, &mut io::stdin().lock(), &mut io::stdout().lock())
}

/// Runs one session: 0 if it ended normally, 1 after an error that was reported.
pub fn serve(
    contender: &dyn Contender,
    words: &[OsString],
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> ExitCode {
    let last_word = match run_session(contender, words, input, output) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(SessionFailure::Refused(Refusal::Unavailable(reason))) => Ok(Message::Unavailable { reason }),
        Err(SessionFailure::Refused(Refusal::Failed(reason))) => Ok(Message::Failed { reason }),
        Err(SessionFailure::LabIo(error)) => Err(error),
    };
    if let Err(error) = last_word.and_then(|say| send(output, [say])) {
        eprintln!("{}: the lab: {error}", contender.name());
    }
    ExitCode::FAILURE
}

fn run_session(
    contender: &dyn Contender,
    words: &[OsString],
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<(), SessionFailure> {
    send(output, [hello(contender)])?;
    let (verb, rest) = words.split_first().map_or((None, words), |(verb, rest)| (verb.to_str(), rest));
    match (verb, rest) {
        (Some("hello"), []) => Ok(()),
        (Some("methods"), []) => Ok(send(output, contender.methods().into_iter().map(Message::Method))?),
        (Some("read"), rest) => {
            answer_turns(&mut *open_reader(contender, &Request::parse(rest)?)?, input, output)
        }
        _ => Err(Refusal::Failed(format!("unknown words {words:?}: expected hello, methods or read")).into()),
    }
}

/// Opens the reader for a request. A part or a list is refused for methods that do not read it. A
/// method that reads places is refused any other target.
fn open_reader(contender: &dyn Contender, request: &Request) -> Result<Box<dyn Reader>, Refusal> {
    let line = contender.method(request.method);
    let can = |does: fn(&MethodLine) -> bool| line.as_ref().is_some_and(does);
    if request.part.is_some() && !can(|line| line.parts) {
        return Err(Refusal::Failed(format!("{} reads no part of a target", request.method)));
    }
    if request.is_list && !can(|line| line.lists || line.reads == Reads::List) {
        return Err(Refusal::Failed(format!("{} reads no list of files", request.method)));
    }
    if request.is_places != can(|line| line.reads == Reads::Places) {
        let what = if request.is_places { "no places" } else { "places, and the target is no list of them" };
        return Err(Refusal::Failed(format!("{} reads {what}", request.method)));
    }
    contender.open(request)
}

/// Answers turns until the input ends.
fn answer_turns(
    reader: &mut dyn Reader,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<(), SessionFailure> {
    send(output, [Message::Ready { params: reader.params() }])?;
    while let Some(request) = next_turn(input)? {
        let samples = reader.turn(request)?.into_iter().map(Message::Sample);
        let latencies = reader.latencies().map(Message::Latencies);
        send(output, samples.chain(latencies).chain([Message::Done { count: request.count }]))?;
    }
    Ok(())
}

impl<'a> Request<'a> {
    /// Parses METHOD SCAN WORK TARGET and settings. Only the target may contain any bytes.
    fn parse(words: &'a [OsString]) -> Result<Request<'a>, Refusal> {
        let [method, scan, work, target, settings @ ..] = words else {
            return Err(Refusal::Failed("read: expected METHOD SCAN WORK TARGET [name=value …]".to_owned()));
        };
        let mut settings = settings.iter().map(|word| parse_setting(word)).collect::<Result<_, _>>()?;
        let part = Part::take_from(&mut settings).map_err(|why| Refusal::Failed(format!("read: {why}")))?;
        let mut is_set = |name| take_setting(&mut settings, name) == Some(1);
        let (is_list, is_places) = (is_set(LIST_SETTING), is_set(PLACES_SETTING));
        let (method, scan, work) = (utf8_word(method)?, utf8_word(scan)?, utf8_word(work)?);
        Ok(Request { method, scan, work, target, part, is_list, is_places, settings })
    }
}

fn utf8_word(word: &OsStr) -> Result<&str, Refusal> {
    word.to_str().ok_or_else(|| Refusal::Failed(format!("read: {word:?} is not UTF-8")))
}

fn parse_setting(word: &OsStr) -> Result<(&str, u64), Refusal> {
    let pair = utf8_word(word)?.split_once('=');
    let pair = pair.and_then(|(name, value)| Some((name, value.parse().ok()?)));
    pair.ok_or_else(|| Refusal::Failed(format!("read: {word:?} is no name=integer")))
}

/// The next line from the lab, or `None` at the end of the input.
fn next_turn(input: &mut dyn BufRead) -> Result<Option<TurnRequest>, SessionFailure> {
    let mut line = Vec::new();
    io::Read::take(input, LINE_BYTES_MAX as u64).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    let request = String::from_utf8_lossy(&line).parse::<TurnRequest>();
    request.map(Some).map_err(|error| Refusal::Failed(error.to_string()).into())
}

/// Sends messages with one write.
fn send(output: &mut dyn Write, messages: impl IntoIterator<Item = Message>) -> io::Result<()> {
    let lines: String = messages.into_iter().map(|message| message.line() + "\n").collect();
    output.write_all(lines.as_bytes())?;
    output.flush()
}

fn hello(contender: &dyn Contender) -> Message {
    Message::Hello {
        protocol: VERSION,
        contender: contender.name().to_owned(),
        version: contender.version().to_owned(),
        runtime: contender.runtime(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A contender whose readers answer with the number of the reading and fail at the third turn.
    struct Counter;
    struct CountingReader(u32);

    impl Contender for Counter {
        fn name(&self) -> &'static str {
            "counter"
        }
        fn version(&self) -> &'static str {
            "1"
        }
        fn runtime(&self) -> String {
            "test".to_owned()
        }
        fn methods(&self) -> Vec<MethodLine> {
            Vec::new()
        }
        fn open(&self, request: &Request) -> Result<Box<dyn Reader>, Refusal> {
            match request.method {
                "absent" => Err(Refusal::Unavailable("not here".to_owned())),
                _ => Ok(Box::new(CountingReader(0))),
            }
        }
    }

    impl Reader for CountingReader {
        fn params(&self) -> BTreeMap<String, u64> {
            BTreeMap::from([("depth".to_owned(), 1)])
        }
        fn turn(&mut self, request: TurnRequest) -> Result<Vec<SampleLine>, Refusal> {
            self.0 += 1;
            if self.0 == 3 {
                return Err(Refusal::Failed("third".to_owned()));
            }
            Ok((0..request.count)
                .map(|n| SampleLine { wall_ns: u64::from(n), ..SampleLine::default() })
                .collect())
        }
    }

    fn run_session(words: &str, input: &str) -> (Vec<Message>, ExitCode) {
        let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        let mut output = Vec::new();
        let code = serve(&Counter, &words, &mut input.as_bytes(), &mut output);
        let text = String::from_utf8(output).unwrap();
        (text.lines().map(|line| Message::parse(line).unwrap()).collect(), code)
    }

    #[test]
    fn a_turn_is_answered_with_its_samples_and_done() {
        let (messages, code) = run_session("read m - sum /f depth=1", "go 1 2\n");
        assert!(matches!(
            messages[..],
            [
                Message::Hello { .. },
                Message::Ready { .. },
                Message::Sample(_),
                Message::Sample(_),
                Message::Done { count: 2 }
            ]
        ));
        assert_eq!(code, ExitCode::SUCCESS);
    }

    #[test]
    fn the_failure_of_a_turn_is_the_last_message() {
        let (messages, code) = run_session("read m - sum /f", "go 0 1\ngo 0 1\ngo 0 1\ngo 0 1\n");
        assert_eq!(messages.last(), Some(&Message::Failed { reason: "third".to_owned() }));
        assert_eq!(code, ExitCode::FAILURE);
    }

    #[test]
    fn an_unavailable_method_is_reported_instead_of_ready() {
        let (messages, _) = run_session("read absent - sum /f", "");
        assert!(matches!(messages[..], [Message::Hello { .. }, Message::Unavailable { .. }]));
    }

    #[test]
    fn parts_lists_and_places_are_asked_only_of_methods_that_read_them() {
        for (asked, reason) in [
            ("start_bytes=0 length_bytes=1", "m reads no part of a target"),
            ("list=1", "m reads no list of files"),
            ("places=1", "m reads no places"),
        ] {
            let (messages, code) = run_session(&format!("read m - sum /f {asked}"), "");
            let reason = reason.to_owned();
            assert_eq!((messages.last(), code), (Some(&Message::Failed { reason }), ExitCode::FAILURE));
        }
    }

    #[test]
    fn a_reason_names_the_target_the_cause_and_the_offset_in_one_line() {
        let why = Refusal::at(7, &io::Error::other("broken")).about("/a\nb").in_one_line();
        assert_eq!(why, Refusal::failed("/a b: broken at byte 7"));
        let why = Refusal::Unavailable("no ring".to_owned()).about("/a");
        assert_eq!(why, Refusal::Unavailable("/a: no ring".to_owned()));
    }

    #[test]
    fn unknown_words_and_lines_are_refused() {
        for (words, input) in
            [("", ""), ("bye", ""), ("read", ""), ("read m - sum /f x", ""), ("read m - sum /f", "stop\n")]
        {
            let (messages, code) = run_session(words, input);
            assert!(matches!(messages.last(), Some(Message::Failed { .. })), "{words:?} {input:?}");
            assert_eq!(code, ExitCode::FAILURE);
        }
    }
}
