//! The methods `memmap2` and `rayon`: the whole file as mapped memory, visited at once, or in chunks
//! that Rayon distributes among the threads of its global pool, which is made before the first window.
//!
//! If another process truncates the file while it is mapped, SIGBUS ends this process.

use crate::methods::{CHUNK, THREADS};
use memmap2::Mmap;
use rayon::ThreadPoolBuilder;
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    Ok(Box::new(move || visit(&job)))
}

fn visit(job: &Job) -> Result<Reading, Refusal> {
    let map = map(Path::new(&job.target))?;
    let mut tally = Tally::new(job.work);
    tally.take(&map);
    Ok(tally.answer().into())
}

pub(crate) fn open_in_chunks(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    let pool = ThreadPoolBuilder::new().num_threads(job.settings.size(&THREADS));
    pool.build_global().map_err(|error| Refusal::failed(error.to_string()))?;
    let chunk_bytes = job.settings.size(&CHUNK);
    Ok(Box::new(move || visit_in_chunks(&job, chunk_bytes)))
}

fn visit_in_chunks(job: &Job, chunk_bytes: usize) -> Result<Reading, Refusal> {
    let map = map(Path::new(&job.target))?;
    let work = job.work;
    let none = || Tally::new(work);
    let tally = map.par_chunks(chunk_bytes).map(|chunk| {
        let mut tally = none();
        tally.take(chunk);
        tally
    });
    Ok(tally.reduce(none, Tally::merge).answer().into())
}

/// Maps the file. It is unmapped when the value is dropped.
fn map(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    // SAFETY: the bytes are only counted or summed. If another process changes the file meanwhile,
    // the answer is wrong and nothing else. If the file is truncated, SIGBUS ends the process.
    unsafe { Mmap::map(&file) }.map_err(|error| match error.raw_os_error() {
        // The error of mmap(2) for a folder does not name the cause.
        Some(libc::ENODEV) if path.is_dir() => ErrorKind::IsADirectory.into(),
        _ => error,
    })
}
