//! The threads that read in parallel: new ones, or those of a rayon pool (feature `rayon`).

use crate::ReadError;
use crate::crew::crew;
use std::num::NonZero;
use std::thread;

/// The number of threads and the pool that they come from.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Workers {
    /// Number of threads; if `None`, that of the processors or of the rayon pool.
    pub(crate) threads: Option<NonZero<usize>>,
    pub(crate) pool: Pool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Pool {
    /// Threads that are started for the reading.
    #[default]
    Own,
    /// The pool in which the reading is called, or rayon's global one.
    #[cfg(feature = "rayon")]
    Rayon,
}

impl Workers {
    /// The number of threads. Asking the system takes ten times as long as reading a small file.
    pub(crate) fn count(self) -> NonZero<usize> {
        self.threads.unwrap_or_else(|| match self.pool {
            Pool::Own => thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN),
            #[cfg(feature = "rayon")]
            Pool::Rayon => NonZero::new(rayon::current_num_threads()).unwrap_or(NonZero::<usize>::MIN),
        })
    }

    /// Runs `work` on this number of threads, the calling thread included. Returns the results. At
    /// the first error `stop` is called.
    pub(crate) fn run<T: Send>(
        self,
        threads: usize,
        work: impl Fn() -> Result<T, ReadError> + Sync,
        stop: impl Fn() + Sync,
    ) -> Result<Vec<T>, ReadError> {
        match self.pool {
            Pool::Own => crew(threads, work, stop),
            #[cfg(feature = "rayon")]
            Pool::Rayon => run_in_rayon(threads, work, stop),
        }
    }
}

/// A thread of a busy pool may come late and find nothing left to do.
#[cfg(feature = "rayon")]
fn run_in_rayon<T: Send>(
    threads: usize,
    work: impl Fn() -> Result<T, ReadError> + Sync,
    stop: impl Fn() + Sync,
) -> Result<Vec<T>, ReadError> {
    use std::sync::{Mutex, PoisonError};
    let others = Mutex::new(Vec::new());
    let worker = || work().inspect_err(|_| stop());
    let own = rayon::in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| {
                let part = worker();
                others.lock().unwrap_or_else(PoisonError::into_inner).push(part);
            });
        }
        worker()
    });
    [own].into_iter().chain(others.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}
