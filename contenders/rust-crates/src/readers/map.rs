//! The method `memmap2`: the whole file as mapped memory.
//!
//! If another process truncates the file while it is mapped, SIGBUS ends this process.

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

/// Maps the file. It is unmapped when the value is dropped.
pub(super) fn map(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    // SAFETY: the bytes are only counted or summed. If another process changes the file meanwhile,
    // the answer is wrong and nothing else. If the file is truncated, SIGBUS ends the process.
    unsafe { Mmap::map(&file) }.map_err(|error| match error.raw_os_error() {
        // The error of mmap(2) for a folder does not name the cause.
        Some(libc::ENODEV) if path.is_dir() => ErrorKind::IsADirectory.into(),
        _ => error,
    })
}
