//! The method `rayon`: the whole file as mapped memory, in chunks that Rayon distributes among the
//! threads of its global pool. The pool is made before the first window.

use super::map::map;
use crate::methods::{CHUNK, THREADS};
use rayon::ThreadPoolBuilder;
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;
use readlab_protocol::Work;
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;
use std::path::PathBuf;

struct ParallelMap {
    path: PathBuf,
    work: Work,
    chunk_bytes: usize,
}

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    let pool = ThreadPoolBuilder::new().num_threads(job.settings.size(&THREADS));
    pool.build_global().map_err(|error| Refusal::failed(error.to_string()))?;
    let chunk_bytes = job.settings.size(&CHUNK);
    Ok(Box::new(ParallelMap { path: job.target.into(), work: job.work, chunk_bytes }))
}

impl ReadTarget for ParallelMap {
    fn read(&mut self) -> Result<Reading, Refusal> {
        let map = map(&self.path)?;
        let none = || Tally::new(self.work);
        let tally = map.par_chunks(self.chunk_bytes).map(|chunk| {
            let mut tally = none();
            tally.take(chunk);
            tally
        });
        Ok(tally.reduce(none, Tally::merge).answer().into())
    }
}
