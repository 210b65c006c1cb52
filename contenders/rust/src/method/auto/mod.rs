//! `auto`: a reader that examines the file and chooses the best strategy for it.
//!
//! A small file is read into one small buffer. A cached file is mapped, or copied if mapping is not
//! allowed. A file that is not cached is read past the cache with many reads in flight. Of a partly
//! cached file, the cached parts are visited while reads of the others are in flight. If the kernel
//! refuses a call, read(2) is used, which works everywhere.
//!
//! The choice lives in [`strategy`], what it rests on in [`file_context`], what a file has in the
//! page cache in [`residency`], and the reading in [`from_front`] and [`in_pieces`]; [`entry`]
//! makes it a method of the contender.

mod entry;
mod file_context;
mod from_front;
mod in_pieces;
mod pieces;
mod residency;
mod strategy;

pub(super) use entry::AUTO;
pub use strategy::Strategy;

use super::Fault;
use crate::reading::ReadError;
use crate::sink::Sink;
use file_context::FileContext;
use std::num::NonZero;
use std::path::Path;
use std::thread;

/// A reader that chooses its strategy by the file.
///
/// ```
/// use readlab_rust::Auto;
/// # let path = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
/// let mut bytes = 0;
/// Auto::new().read(path, |_offset: u64, piece: &[u8]| bytes += piece.len())?;
/// assert_eq!(bytes as u64, std::fs::metadata(path)?.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Auto {
    threads: NonZero<usize>,
    maps: bool,
}

impl Default for Auto {
    fn default() -> Auto {
        Auto::new()
    }
}

impl Auto {
    /// One that uses as many threads as there are processors, and maps no file.
    #[must_use]
    pub fn new() -> Auto {
        Auto { threads: thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN), maps: false }
    }

    /// Uses at most `threads` threads for [`Auto::read_parallel`].
    #[must_use]
    pub fn threads(self, threads: NonZero<usize>) -> Auto {
        Auto { threads, ..self }
    }

    /// Allows mapping, which is about twice as fast as copying where the file is cached.
    ///
    /// # Safety
    /// The file must not change or become shorter during the reading: a sink sees the bytes of the
    /// page cache itself, and SIGBUS ends the process if the file becomes shorter.
    #[must_use]
    pub unsafe fn mapping(self) -> Auto {
        Auto { maps: true, ..self }
    }

    /// Reads a file from front to back: the sink gets every byte once, in order, in pieces of no
    /// particular size. Returns the number of bytes.
    ///
    /// # Errors
    /// If a call fails; the sink has then seen a part of the file.
    pub fn read(&self, path: &Path, mut sink: impl Sink) -> Result<u64, ReadError> {
        let mut read = || from_front::read(&FileContext::of(path)?, self.maps, &mut sink);
        read().map_err(|fault| ReadError::new(path, fault))
    }

    /// Reads a file by several threads, each with its own sink. Together the sinks get every byte
    /// once, in any order and in pieces of no particular size. Returns the sinks, at least one.
    ///
    /// # Errors
    /// If a call fails; the sinks are lost then.
    pub fn read_parallel<S: Sink + Send>(
        &self,
        path: &Path,
        sink: impl Fn() -> S + Sync,
    ) -> Result<Vec<S>, ReadError> {
        let read = || in_pieces::read(&FileContext::of(path)?, self.maps, self.threads, &sink);
        read().map_err(|fault| ReadError::new(path, fault))
    }

    /// Which strategy a file would be read now.
    ///
    /// # Errors
    /// If the file cannot be examined.
    pub fn strategy(&self, path: &Path) -> Result<Strategy, ReadError> {
        let choose = || Ok::<Strategy, Fault>(FileContext::of(path)?.strategy(self.maps));
        choose().map_err(|fault| ReadError::new(path, fault))
    }
}
