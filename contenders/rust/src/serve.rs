//! The contender's side of the protocol: words in, lines out. PROTOCOL.md at the root of the project is the contract.
//!
//! Input and output are parameters, so that a whole conversation can be had in a test. Nothing is printed within a turn.

use crate::clock::Sample;
use crate::heap;
use crate::method::{Method, registry};
use crate::reading::{ReadError, Reading, RequestError};
use crate::work::Work;
use readlab_protocol::{Ask, LINE_BYTES_MAX, MethodLine, ParamLine, SampleLine, Say, VERSION};
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

/// The name under which the lab knows this contender.
pub const NAME: &str = "rust";

/// Why a session ended before the end of its input.
#[derive(Debug, thiserror::Error)]
enum SessionError {
    /// The words make no session.
    #[error("{0}")]
    Words(String),
    /// They name no reading.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A reading came to nothing.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The lab cannot be talked to any more.
    #[error("the lab: {0}")]
    Lab(#[from] io::Error),
}

/// Serves one session on standard input and output. `words` are those behind the contender's name.
pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    heap::return_large_blocks();
    serve(words, &mut io::stdin().lock(), &mut io::stdout().lock())
}

/// Serves one session: 0 if it came to its end, 1 if something failed and was said.
pub fn serve(
    words: impl Iterator<Item = OsString>,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> ExitCode {
    let words: Vec<OsString> = words.collect();
    let Err(error) = session(&words, input, output) else { return ExitCode::SUCCESS };
    let reason = error.to_string();
    let last_word = match error {
        SessionError::Lab(_) => None,
        SessionError::Request(RequestError::Unavailable(_))
        | SessionError::Read(ReadError::Unavailable(_)) => Some(Say::Unavailable { reason: reason.clone() }),
        _ => Some(Say::Failed { reason: reason.clone() }),
    };
    if last_word.is_none_or(|say| tell(output, [say]).is_err()) {
        eprintln!("{NAME}: {reason}");
    }
    ExitCode::FAILURE
}

fn session(
    words: &[OsString],
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<(), SessionError> {
    tell(output, [hello()])?;
    let [verb, rest @ ..] = words else {
        return Err(SessionError::Words("no word of what to do".to_owned()));
    };
    match (verb.to_str(), rest) {
        (Some("hello"), []) => Ok(()),
        (Some("methods"), []) => Ok(tell(output, registry::ALL.iter().map(method_line))?),
        (Some("read"), rest) => turns(reading(rest)?, input, output),
        _ => Err(SessionError::Words(format!("unknown words {words:?}: expected hello, methods or read"))),
    }
}

/// The words behind `read`: METHOD SCAN WORK TARGET and settings. Only the target may be any bytes.
fn reading(words: &[OsString]) -> Result<Reading, SessionError> {
    let [method, scan, work, target, settings @ ..] = words else {
        return Err(SessionError::Words("read: expected METHOD SCAN WORK TARGET [name=value …]".to_owned()));
    };
    let work: Work = text(work)?.parse().map_err(|error| SessionError::Words(format!("read: {error}")))?;
    let settings: Vec<(&str, u64)> = settings.iter().map(|word| setting(word)).collect::<Result<_, _>>()?;
    Ok(Reading::new(text(method)?, text(scan)?, work, target.as_ref(), settings)?)
}

fn text(word: &OsStr) -> Result<&str, SessionError> {
    word.to_str().ok_or_else(|| SessionError::Words(format!("read: {word:?} is no UTF-8")))
}

fn setting(word: &OsStr) -> Result<(&str, u64), SessionError> {
    let pair = text(word)?.split_once('=');
    let pair = pair.and_then(|(name, value)| Some((name, value.parse().ok()?)));
    pair.ok_or_else(|| SessionError::Words(format!("read: {word:?} is no name=integer")))
}

/// Answers turns until the input ends.
fn turns(
    mut reading: Reading,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<(), SessionError> {
    let params = reading.settings().iter().map(|(name, value)| (name.to_owned(), value)).collect();
    tell(output, [Say::Ready { params }])?;
    while let Some(ask) = next_turn(input)? {
        let samples = turn(&mut reading, ask)?;
        let count = ask.count;
        tell(output, samples.iter().map(sample_line).chain([Say::Done { count }]))?;
    }
    Ok(())
}

/// All readings of one turn, back to back.
fn turn(reading: &mut Reading, ask: Ask) -> Result<Vec<Sample>, ReadError> {
    reading.prepare()?;
    for _ in 0..ask.lead {
        reading.read()?;
    }
    let samples = (0..ask.count).map(|_| Sample::take(reading)).collect();
    reading.release();
    samples
}

/// The next line of the lab, or `None` at the end.
fn next_turn(input: &mut impl BufRead) -> Result<Option<Ask>, SessionError> {
    let mut line = Vec::new();
    io::Read::take(input, LINE_BYTES_MAX as u64).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    let ask = String::from_utf8_lossy(&line).parse();
    ask.map(Some).map_err(|error: readlab_protocol::AskError| SessionError::Words(error.to_string()))
}

/// Says something, all of it with one write.
fn tell(output: &mut impl Write, says: impl IntoIterator<Item = Say>) -> io::Result<()> {
    let lines: String = says.into_iter().map(|say| say.line() + "\n").collect();
    output.write_all(lines.as_bytes())?;
    output.flush()
}

fn hello() -> Say {
    Say::Hello {
        protocol: VERSION,
        contender: NAME.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        runtime: env!("READLAB_RUST_RUNTIME").to_owned(),
    }
}

fn method_line(method: &Method) -> Say {
    let scans = Work::ALL.into_iter().map(|work| (work, method.scans(work)));
    let scans = scans.filter(|(_, scans)| !scans.is_empty());
    let owned = |scans: Vec<&str>| scans.into_iter().map(str::to_owned).collect();
    let params = method.params.iter().map(|param| ParamLine {
        name: param.name.to_owned(),
        default: param.default,
        min: param.min,
        max: param.max,
    });
    Say::Method(MethodLine {
        method: method.name.to_owned(),
        scans: scans.map(|(work, scans)| (work.word().to_owned(), owned(scans))).collect(),
        params: params.collect(),
        about: method.about.to_owned(),
        cache: method.cache,
        unavailable: method.available().err(),
    })
}

fn sample_line(sample: &Sample) -> Say {
    Say::Sample(SampleLine {
        wall_ns: sample.wall_ns,
        cpu_user_ns: Some(sample.cpu.user_ns),
        cpu_system_ns: Some(sample.cpu.system_ns),
        peak_rss_bytes: None,
        bytes: sample.answer.bytes,
        newlines: sample.answer.newlines,
        lines: sample.answer.lines,
        sum: sample.answer.sum.map(u64::from),
    })
}
