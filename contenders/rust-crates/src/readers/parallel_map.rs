//! The method `rayon`: the whole file as mapped memory, in chunks that Rayon shares out among its
//! threads. They are those of the global pool, made before the first window.

use super::map::map;
use crate::failure::Failure;
use crate::method::{CHUNK, Reader, THREADS};
use crate::request::{Request, Work};
use crate::tally::{Answer, Tally};
use rayon::ThreadPoolBuilder;
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;
use std::path::PathBuf;

struct ParallelMap {
    path: PathBuf,
    work: Work,
    chunk_bytes: usize,
}

pub(crate) fn open(request: &Request) -> Result<Box<dyn Reader>, Failure> {
    let pool = ThreadPoolBuilder::new().num_threads(request.size(&THREADS));
    pool.build_global().map_err(|error| Failure::new(error.to_string()))?;
    let chunk_bytes = request.size(&CHUNK);
    Ok(Box::new(ParallelMap { path: request.path.clone(), work: request.work, chunk_bytes }))
}

impl Reader for ParallelMap {
    fn read(&mut self) -> Result<Answer, Failure> {
        let map = map(&self.path)?;
        let none = || Tally::new(self.work);
        let tally = map.par_chunks(self.chunk_bytes).map(|chunk| {
            let mut tally = none();
            tally.take(chunk);
            tally
        });
        Ok(tally.reduce(none, Tally::merge).answer())
    }
}
