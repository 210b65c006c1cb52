//! The program `readlab-slowed`: a contender whose readings are slow for a known reason.
//!
//! After each reading, the method `busy` is busy for a share of the time that the reading took
//! (`added_percent`). So its difference from the same reader without added time is exact, whatever
//! the machine does. The parameter `copy` only distinguishes equal trials. In the method `locked`,
//! threads read and count under one lock, so that each thread always waits for the others.
//!
//! Usage: as a contender, the words of PROTOCOL.md. As a command, `readlab-slowed count PERCENT
//! FILE` prints the number of newlines.

use readlab_protocol::serve::{self, Contender, Refusal, Request};
use readlab_protocol::{MethodLine, ParamLine, SampleLine, TurnRequest};
use readlab_rust::{Reading, Work};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hint;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const BUFFER_BYTES: u64 = 256 << 10;
const PIECE_BYTES: usize = 1 << 20;
const BUSY_METHOD: &str = "busy";
const ADDED_PARAM: &str = "added_percent";
const COPY_PARAM: &str = "copy";
const LOCKED_METHOD: &str = "locked";
const THREADS_PARAM: &str = "threads";

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match &words[..] {
        [verb, percent, file] if verb == "count" => count(percent, file).unwrap_or_else(|error| {
            eprintln!("readlab-slowed: {error}");
            ExitCode::FAILURE
        }),
        _ => serve::main(&SlowedContender, words),
    }
}

fn count(percent: &OsStr, file: &OsStr) -> Result<ExitCode, Refusal> {
    let percent = percent.to_str().and_then(|word| word.parse().ok());
    let percent =
        percent.ok_or_else(|| Refusal::Failed("usage: readlab-slowed count PERCENT FILE".to_owned()))?;
    let counts = Method::busy(Path::new(file), percent)?.read_timed()?.1;
    println!("{}", counts.newlines);
    Ok(ExitCode::SUCCESS)
}

struct SlowedContender;

struct SlowedReading {
    method: Method,
    params: BTreeMap<String, u64>,
}

enum Method {
    Busy { reading: Reading, added_percent: u64 },
    Locked { file: PathBuf, threads: u64 },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    bytes: u64,
    newlines: u64,
}

impl Contender for SlowedContender {
    fn name(&self) -> &'static str {
        "slowed"
    }

    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn runtime(&self) -> String {
        "read(2) and memchr, then a busy loop; read(2) and a count under one lock".to_owned()
    }

    fn methods(&self) -> Vec<MethodLine> {
        let param =
            |name: &str, default, max| ParamLine { name: name.to_owned(), default, min: default, max };
        let line = |method: &str, about: &str, params| MethodLine {
            scans: BTreeMap::from([(Work::Newlines.word().to_owned(), vec!["-".to_owned()])]),
            params,
            ..MethodLine::plain(method, about)
        };
        vec![
            line(
                BUSY_METHOD,
                "read(2) into one buffer, then a busy loop for a share of that time",
                vec![param(ADDED_PARAM, 0, 1000), param(COPY_PARAM, 0, 100)],
            ),
            line(
                LOCKED_METHOD,
                "threads that read and count piece by piece under one lock",
                vec![param(THREADS_PARAM, 1, 64)],
            ),
        ]
    }

    fn open(&self, request: &Request) -> Result<Box<dyn serve::Reader>, Refusal> {
        let given = |name, default| {
            request.settings.iter().find(|(it, _)| *it == name).map_or(default, |(_, value)| *value)
        };
        let file = Path::new(request.target);
        let (method, params) = if request.method == LOCKED_METHOD {
            let threads = given(THREADS_PARAM, 1);
            (Method::Locked { file: file.to_owned(), threads }, vec![(THREADS_PARAM, threads)])
        } else {
            let added = given(ADDED_PARAM, 0);
            (Method::busy(file, added)?, vec![(ADDED_PARAM, added), (COPY_PARAM, given(COPY_PARAM, 0))])
        };
        let params = params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Box::new(SlowedReading { method, params }))
    }
}

impl Method {
    fn busy(file: &Path, added_percent: u64) -> Result<Method, Refusal> {
        let reading = Reading::new("read", "memchr", Work::Newlines, file, [("buffer_bytes", BUFFER_BYTES)]);
        Ok(Method::Busy { reading: reading.map_err(failed)?, added_percent })
    }

    /// Does one reading from open to close, and returns the time that it took.
    fn read_timed(&mut self) -> Result<(Duration, Counts), Refusal> {
        let start = Instant::now();
        let counts = match self {
            Method::Busy { reading, added_percent } => {
                let answer = reading.read().map_err(failed)?;
                let until = with_added(start.elapsed(), *added_percent);
                while start.elapsed() < until {
                    hint::spin_loop();
                }
                let (bytes, newlines) = (answer.bytes, answer.newlines);
                Counts { bytes: bytes.unwrap_or_default(), newlines: newlines.unwrap_or_default() }
            }
            Method::Locked { file, threads } => read_locked(file, *threads).map_err(failed)?,
        };
        Ok((start.elapsed(), counts))
    }
}

fn failed(error: impl ToString) -> Refusal {
    Refusal::Failed(error.to_string())
}

fn with_added(reading: Duration, percent: u64) -> Duration {
    #[expect(clippy::cast_precision_loss, reason = "at most a thousand")]
    reading.mul_f64(1.0 + percent as f64 / 100.0)
}

/// Reads with several threads, which share the position in the file, the buffer and the counts.
fn read_locked(path: &Path, threads: u64) -> io::Result<Counts> {
    let shared = Mutex::new((File::open(path)?, vec![0; PIECE_BYTES], Counts::default()));
    let work = || -> io::Result<()> {
        loop {
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let (file, piece, counts) = &mut *shared;
            let count = file.read(piece)?;
            counts.bytes += count as u64;
            counts.newlines += piece[..count].iter().filter(|byte| **byte == b'\n').count() as u64;
            drop(shared);
            if count == 0 {
                return Ok(());
            }
            // Lets another thread get the lock.
            thread::yield_now();
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("counting does not panic"))
    })?;
    Ok(shared.into_inner().unwrap_or_else(PoisonError::into_inner).2)
}

impl serve::Reader for SlowedReading {
    fn params(&self) -> BTreeMap<String, u64> {
        self.params.clone()
    }

    fn turn(&mut self, request: TurnRequest) -> Result<Vec<SampleLine>, Refusal> {
        for _ in 0..request.lead {
            self.method.read_timed()?;
        }
        let mut sample = |_| {
            let (wall, counts) = self.method.read_timed()?;
            let wall_ns = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
            let (bytes, newlines) = (Some(counts.bytes), Some(counts.newlines));
            Ok(SampleLine { wall_ns, bytes, newlines, ..SampleLine::default() })
        };
        (0..request.count).map(&mut sample).collect()
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
        let of = |percent| with_added(Duration::from_millis(40), percent);
        let ms = [40, 42, 80].map(Duration::from_millis);
        assert_eq!([of(0), of(5), of(100)], ms);
    }

    #[test]
    fn both_methods_follow_the_protocol_and_count_correctly() {
        let newlines = std::fs::read(file()).unwrap().iter().filter(|byte| **byte == b'\n').count() as u64;
        let busy =
            (&["busy", "added_percent=20", "copy=3"][..], [(ADDED_PARAM, 20), (COPY_PARAM, 3)].to_vec());
        let locked = |word: &'static str, threads| {
            ([LOCKED_METHOD, word].to_vec(), [(THREADS_PARAM, threads)].to_vec())
        };
        for (words, params) in [(busy.0.to_vec(), busy.1), locked("threads=2", 2), locked("threads=5", 5)] {
            let mut all = vec!["read", words[0], "-", "newlines", file().to_str().unwrap()];
            all.extend(&words[1..]);
            let all: Vec<OsString> = all.into_iter().map(OsString::from).collect();
            let mut output = Vec::new();
            assert_eq!(
                serve::serve(&SlowedContender, &all, &mut "go 1 2\n".as_bytes(), &mut output),
                ExitCode::SUCCESS
            );
            let text = String::from_utf8(output).unwrap();
            let messages: Vec<Message> = text.lines().map(|line| Message::parse(line).unwrap()).collect();
            let params = params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            assert_eq!(messages[1], Message::Ready { params });
            let right =
                |message: &&Message| matches!(message, Message::Sample(it) if it.newlines == Some(newlines));
            assert_eq!(messages.iter().filter(right).count(), 2, "{words:?}");
        }
    }
}
