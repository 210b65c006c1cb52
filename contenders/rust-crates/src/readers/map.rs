//! The method `memmap2`: the whole file as mapped memory.
//!
//! A file that others cut off while it is mapped ends the process with SIGBUS.

use memmap2::Mmap;
use readlab_protocol::Work;
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

struct Map {
    path: PathBuf,
    work: Work,
}

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    Ok(Box::new(Map { path: job.target.into(), work: job.work }))
}

impl ReadTarget for Map {
    fn read(&mut self) -> Result<Reading, Refusal> {
        let map = map(&self.path)?;
        let mut tally = Tally::new(self.work);
        tally.take(&map);
        Ok(tally.answer().into())
    }
}

/// The file, mapped; it is unmapped when the value is dropped.
pub(super) fn map(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    // SAFETY: the bytes are only counted or summed, so that a file which others change meanwhile
    // gives a wrong answer and no more; one that is cut off raises SIGBUS.
    unsafe { Mmap::map(&file) }.map_err(|error| match error.raw_os_error() {
        // What mmap(2) says of a folder names no cause.
        Some(libc::ENODEV) if path.is_dir() => ErrorKind::IsADirectory.into(),
        _ => error,
    })
}
