//! The program `readlab-slowed`: a reader that is slower than itself by a known share. After each
//! reading it is busy for that share of the time that the reading took, so that its difference from
//! the same reader without is exact, whatever the machine does.
//!
//! Usage: as a contender, the words of PROTOCOL.md, with the method `read` and its parameters
//! `added_percent` and `copy`, which only tells equal trials apart. As a command,
//! `readlab-slowed count PERCENT FILE` prints the number of newlines.

use readlab_protocol::serve::{self, Contender, Refusal, Request};
use readlab_protocol::{Cache, MethodLine, ParamLine, Reads, SampleLine, TurnRequest};
use readlab_rust::{Reading, Work};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::hint;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const BUFFER_BYTES: u64 = 256 << 10;
const ADDED: &str = "added_percent";
const COPY: &str = "copy";

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match &words[..] {
        [verb, percent, file] if verb == "count" => count(percent, file).unwrap_or_else(|error| {
            eprintln!("readlab-slowed: {error}");
            ExitCode::FAILURE
        }),
        _ => serve::main(&Slowed, words),
    }
}

/// Prints the number of newlines.
fn count(percent: &OsStr, file: &OsStr) -> Result<ExitCode, Refusal> {
    let percent = percent.to_str().and_then(|word| word.parse().ok());
    let percent =
        percent.ok_or_else(|| Refusal::Failed("usage: readlab-slowed count PERCENT FILE".to_owned()))?;
    let sample = SlowedReading::new(Path::new(file), percent)?.take()?;
    println!("{}", sample.newlines.unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}

/// The contender.
struct Slowed;

struct SlowedReading {
    reading: Reading,
    added_percent: u64,
    params: BTreeMap<String, u64>,
}

impl Contender for Slowed {
    fn name(&self) -> &'static str {
        "slowed"
    }

    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn runtime(&self) -> String {
        "read(2) and memchr, then a busy loop".to_owned()
    }

    fn methods(&self) -> Vec<MethodLine> {
        let param = |name: &str, max| ParamLine { name: name.to_owned(), default: 0, min: 0, max };
        vec![MethodLine {
            method: "read".to_owned(),
            scans: BTreeMap::from([(Work::Newlines.word().to_owned(), vec!["-".to_owned()])]),
            params: vec![param(ADDED, 1000), param(COPY, 100)],
            about: "read(2) into one buffer, then a busy loop for a share of that time".to_owned(),
            cache: Cache::Through,
            reads: Reads::File,
            decodes: Vec::new(),
            dictionary: false,
            parts: false,
            lists: false,
            tls: false,
            unavailable: None,
        }]
    }

    fn open(&self, request: &Request) -> Result<Box<dyn serve::Reader>, Refusal> {
        let given = |name| request.settings.iter().find(|(it, _)| *it == name).map_or(0, |(_, value)| *value);
        let mut reading = SlowedReading::new(Path::new(request.target), given(ADDED))?;
        reading.params.insert(COPY.to_owned(), given(COPY));
        Ok(Box::new(reading))
    }
}

impl SlowedReading {
    fn new(file: &Path, added_percent: u64) -> Result<SlowedReading, Refusal> {
        let reading = Reading::new("read", "memchr", Work::Newlines, file, [("buffer_bytes", BUFFER_BYTES)]);
        let reading = reading.map_err(|error| Refusal::Failed(error.to_string()))?;
        Ok(SlowedReading {
            reading,
            added_percent,
            params: BTreeMap::from([(ADDED.to_owned(), added_percent)]),
        })
    }

    /// Reads once, and is busy for its share of the time that this took.
    fn take(&mut self) -> Result<SampleLine, Refusal> {
        let start = Instant::now();
        let answer = self.reading.read().map_err(|error| Refusal::Failed(error.to_string()))?;
        let until = slowed(start.elapsed(), self.added_percent);
        while start.elapsed() < until {
            hint::spin_loop();
        }
        let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(SampleLine { wall_ns, bytes: answer.bytes, newlines: answer.newlines, ..SampleLine::default() })
    }
}

/// What a reading takes that is slowed by this share.
fn slowed(reading: Duration, added_percent: u64) -> Duration {
    #[expect(clippy::cast_precision_loss, reason = "at most a thousand")]
    reading.mul_f64(1.0 + added_percent as f64 / 100.0)
}

impl serve::Reader for SlowedReading {
    fn params(&self) -> BTreeMap<String, u64> {
        self.params.clone()
    }

    fn turn(&mut self, request: TurnRequest) -> Result<Vec<SampleLine>, Refusal> {
        for _ in 0..request.lead {
            self.take()?;
        }
        (0..request.count).map(|_| self.take()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_protocol::Message;

    fn file() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
    }

    #[test]
    fn a_share_is_added_to_the_time_of_the_reading() {
        let of = |percent| slowed(Duration::from_millis(40), percent);
        assert_eq!(of(0), Duration::from_millis(40));
        assert_eq!(of(5), Duration::from_millis(42));
        assert_eq!(of(100), Duration::from_millis(80));
    }

    #[test]
    fn it_speaks_the_protocol_and_counts_right() {
        let words = ["read", "read", "-", "newlines", file().to_str().unwrap(), "added_percent=20", "copy=3"];
        let words = words.map(OsString::from);
        let mut output = Vec::new();
        assert_eq!(serve::serve(&Slowed, &words, &mut "go 1 2\n".as_bytes(), &mut output), ExitCode::SUCCESS);
        let text = String::from_utf8(output).unwrap();
        let messages: Vec<Message> = text.lines().map(|line| Message::parse(line).unwrap()).collect();
        let params = BTreeMap::from([(ADDED.to_owned(), 20), (COPY.to_owned(), 3)]);
        assert_eq!(messages[1], Message::Ready { params });
        let newlines = std::fs::read(file()).unwrap().iter().filter(|byte| **byte == b'\n').count() as u64;
        let right =
            |message: &&Message| matches!(message, Message::Sample(it) if it.newlines == Some(newlines));
        assert_eq!(messages.iter().filter(right).count(), 2);
    }
}
