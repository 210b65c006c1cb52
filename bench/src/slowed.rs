//! The program `readlab-slowed`: a contender whose readings are slow for a known reason.
//!
//! After each reading, the method `busy` is busy for a share of the time that the reading took
//! (`added_percent`). So its difference from the same reader without added time is exact, whatever
//! the machine does. The parameter `copy` only distinguishes equal trials. In the method `locked`,
//! threads read and count under one lock, so that each thread always waits for the others.
//!
//! Usage: as a contender, the words of PROTOCOL.md. As a command, `readlab-slowed count PERCENT
//! FILE` prints the number of newlines.

use readlab_protocol::contender::{self, Job, Method, MethodList, ReadTarget};
use readlab_protocol::serve::{self, Refusal};
use readlab_protocol::setting::Param;
use readlab_protocol::{Answer, Cache, Reads};
use readlab_rust::{Reading, Work};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hint;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const BUFFER_BYTES: u64 = 256 << 10;
const PIECE_BYTES: usize = 1 << 20;
const WORKS: &[Work] = &[Work::Newlines];
const ADDED_PERCENT: Param = Param::new("added_percent", 0, 0, 1000);
const COPY: Param = Param::new("copy", 0, 0, 100);
const THREADS: Param = Param::new("threads", 1, 1, 64);

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match &words[..] {
        [verb, percent, file] if verb == "count" => count(percent, file).unwrap_or_else(|error| {
            eprintln!("readlab-slowed: {error}");
            ExitCode::FAILURE
        }),
        _ => serve::main(&slowed(), words),
    }
}

fn count(percent: &OsStr, file: &OsStr) -> Result<ExitCode, Refusal> {
    let percent = percent.to_str().and_then(|word| word.parse().ok());
    let percent =
        percent.ok_or_else(|| Refusal::Failed("usage: readlab-slowed count PERCENT FILE".to_owned()))?;
    let found = read_and_be_busy(&mut open_reading(Path::new(file))?, percent)?;
    println!("{}", found.answer.newlines.unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}

fn slowed() -> MethodList {
    let busy = method(
        "busy",
        "read(2) into one buffer, then a busy loop for a share of that time",
        vec![ADDED_PERCENT, COPY],
        |job| {
            let mut reading = open_reading(Path::new(&job.target))?;
            let added_percent = job.settings.get(&ADDED_PERCENT);
            Ok(Box::new(move || read_and_be_busy(&mut reading, added_percent)))
        },
    );
    let locked =
        method("locked", "threads that read and count piece by piece under one lock", vec![THREADS], |job| {
            let threads = job.settings.get(&THREADS);
            Ok(Box::new(move || read_locked(Path::new(&job.target), threads)))
        });
    let runtime = "read(2) and memchr, then a busy loop; read(2) and a count under one lock";
    MethodList { name: "slowed", version: env!("CARGO_PKG_VERSION"), runtime, methods: vec![busy, locked] }
}

fn method(
    name: &'static str,
    about: &'static str,
    params: Vec<Param>,
    open: fn(Job) -> Result<Box<dyn ReadTarget>, Refusal>,
) -> Method {
    let (cache, reads) = (Cache::Through, Reads::File);
    Method {
        name,
        about,
        works: WORKS,
        cache,
        reads,
        ranges: false,
        tls: false,
        params,
        available: || Ok(()),
        open,
    }
}

fn open_reading(file: &Path) -> Result<Reading, Refusal> {
    let reading = Reading::new("read", "memchr", Work::Newlines, file, [("buffer_bytes", BUFFER_BYTES)]);
    reading.map_err(failed)
}

fn read_and_be_busy(reading: &mut Reading, added_percent: u64) -> Result<contender::Reading, Refusal> {
    let start = Instant::now();
    let answer = reading.read().map_err(failed)?;
    let until = with_added(start.elapsed(), added_percent);
    while start.elapsed() < until {
        hint::spin_loop();
    }
    Ok(answer.into())
}

fn failed(error: impl ToString) -> Refusal {
    Refusal::Failed(error.to_string())
}

fn with_added(reading: Duration, percent: u64) -> Duration {
    reading.mul_f64(1.0 + percent as f64 / 100.0)
}

/// Reads with several threads, which share the position in the file, the buffer and the counts.
fn read_locked(path: &Path, threads: u64) -> Result<contender::Reading, Refusal> {
    let shared = Mutex::new((File::open(path)?, vec![0; PIECE_BYTES], (0, 0)));
    let work = || -> io::Result<()> {
        loop {
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let (file, piece, (bytes, newlines)) = &mut *shared;
            let count = file.read(piece)?;
            *bytes += count as u64;
            *newlines += piece[..count].iter().filter(|byte| **byte == b'\n').count() as u64;
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
    let (_, _, (bytes, newlines)) = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Answer { bytes: Some(bytes), newlines: Some(newlines), ..Answer::default() }.into())
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
            (&["busy", "added_percent=20", "copy=3"][..], [("added_percent", 20), ("copy", 3)].to_vec());
        let locked =
            |word: &'static str, threads| (["locked", word].to_vec(), [("threads", threads)].to_vec());
        for (words, params) in [(busy.0.to_vec(), busy.1), locked("threads=2", 2), locked("threads=5", 5)] {
            let mut all = vec!["read", words[0], "-", "newlines", file().to_str().unwrap()];
            all.extend(&words[1..]);
            let all: Vec<OsString> = all.into_iter().map(OsString::from).collect();
            let mut output = Vec::new();
            assert_eq!(
                serve::serve(&slowed(), &all, &mut "go 1 2\n".as_bytes(), &mut output),
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
