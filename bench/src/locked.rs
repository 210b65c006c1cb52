//! The program `readlab-locked`: a contender whose threads read and count under one lock, so that
//! one always waits for the others. That its reading is stopped by a lock is therefore known.
//!
//! Usage: the words of PROTOCOL.md, with the method `read` and its parameter `threads`.

use readlab_protocol::serve::{self, Contender, Refusal, Request};
use readlab_protocol::{Cache, MethodLine, ParamLine, Reads, SampleLine, TurnRequest};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

const PIECE_BYTES: usize = 1 << 20;
const THREADS: &str = "threads";

fn main() -> ExitCode {
    serve::main(&Locked, std::env::args_os().skip(1).collect::<Vec<OsString>>())
}

/// The contender.
struct Locked;

/// A reading by threads.
struct LockedReading {
    file: PathBuf,
    threads: u64,
}

/// What threads share: the file at its place, and what was counted.
struct Shared {
    file: File,
    piece: Vec<u8>,
    bytes: u64,
    newlines: u64,
}

impl Contender for Locked {
    fn name(&self) -> &'static str {
        "locked"
    }

    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn runtime(&self) -> String {
        "read(2) and a count of newlines under one lock".to_owned()
    }

    fn methods(&self) -> Vec<MethodLine> {
        vec![MethodLine {
            method: "read".to_owned(),
            scans: BTreeMap::from([("newlines".to_owned(), vec!["-".to_owned()])]),
            params: vec![ParamLine { name: THREADS.to_owned(), default: 1, min: 1, max: 64 }],
            about: "threads that read and count piece by piece under one lock".to_owned(),
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
        let given = request.settings.iter().find(|(it, _)| *it == THREADS);
        let threads = given.map_or(1, |(_, value)| *value);
        Ok(Box::new(LockedReading { file: PathBuf::from(request.target), threads }))
    }
}

impl LockedReading {
    fn take(&self) -> Result<SampleLine, Refusal> {
        let start = Instant::now();
        let shared = self.read(&self.file).map_err(|error| Refusal::Failed(error.to_string()))?;
        let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let (bytes, newlines) = (Some(shared.bytes), Some(shared.newlines));
        Ok(SampleLine { wall_ns, bytes, newlines, ..SampleLine::default() })
    }

    fn read(&self, path: &Path) -> io::Result<Shared> {
        let shared = Shared { file: File::open(path)?, piece: vec![0; PIECE_BYTES], bytes: 0, newlines: 0 };
        let shared = Mutex::new(shared);
        let work = || -> io::Result<()> {
            // The lock is let go between pieces, and another thread gets it then.
            while shared.lock().unwrap_or_else(PoisonError::into_inner).take_piece()? {
                thread::yield_now();
            }
            Ok(())
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("counting does not panic"))
        })?;
        Ok(shared.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shared {
    /// Reads and counts the next piece; whether there was one.
    fn take_piece(&mut self) -> io::Result<bool> {
        let count = self.file.read(&mut self.piece)?;
        self.bytes += count as u64;
        self.newlines += self.piece[..count].iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(count > 0)
    }
}

impl serve::Reader for LockedReading {
    fn params(&self) -> BTreeMap<String, u64> {
        BTreeMap::from([(THREADS.to_owned(), self.threads)])
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

    #[test]
    fn however_many_threads_count_right() {
        let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        let text = std::fs::read(&file).unwrap();
        let right = text.iter().filter(|byte| **byte == b'\n').count() as u64;
        for threads in [1, 2, 5] {
            let sample = LockedReading { file: file.clone(), threads }.take().unwrap();
            assert_eq!((sample.bytes, sample.newlines), (Some(text.len() as u64), Some(right)));
        }
    }
}
