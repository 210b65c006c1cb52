//! The order in which ranks that share a page cache do what must not happen twice at once: one
//! evicts, another must not read. Ranks with a cache of their own are first in theirs, so that all
//! caches are worked on side by side.

use super::job::{Job, JobError};
use crate::fleet::agreement::SharedCache;
use std::cell::Cell;
use std::rc::Rc;

/// Where a rank stands among those that share its page cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Ranks before it.
    pub before: u32,
    /// The most ranks that come after another one, in any cache.
    pub last: u32,
}

impl Place {
    /// Of a rank, where these caches are shared.
    #[must_use]
    pub fn of(rank: u32, shared: &[SharedCache]) -> Place {
        let at = |cache: &SharedCache| cache.ranks.iter().position(|&other| other == rank as usize);
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Place {
            before: shared.iter().find_map(at).map_or(0, number),
            last: shared.iter().map(|cache| number(cache.ranks.len() - 1)).max().unwrap_or(0),
        }
    }

    /// Whether no other rank of its cache comes before it.
    #[must_use]
    pub fn is_first(self) -> bool {
        self.before == 0
    }
}

/// One passage through the queue: every rank passes as many barriers.
#[derive(Debug, Clone)]
pub struct Queue {
    job: Rc<Job>,
    place: Place,
    passed: Rc<Cell<u32>>,
}

impl Queue {
    /// The queue of a rank with this place.
    #[must_use]
    pub fn new(job: Rc<Job>, place: Place) -> Queue {
        Queue { job, place, passed: Rc::default() }
    }

    /// Where this rank stands.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// Before a passage.
    pub fn begin(&self) {
        self.passed.set(0);
    }

    /// Waits until those before this rank are done.
    ///
    /// # Errors
    /// If the job is broken.
    pub fn wait(&self) -> Result<(), JobError> {
        self.pass_to(self.place.before)
    }

    /// Lets those after this rank go on, and waits until all are done.
    ///
    /// # Errors
    /// If the job is broken.
    pub fn finish(&self) -> Result<(), JobError> {
        self.pass_to(self.place.last)
    }

    fn pass_to(&self, barriers: u32) -> Result<(), JobError> {
        while self.passed.get() < barriers {
            self.job.barrier()?;
            self.passed.set(self.passed.get() + 1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_with_a_cache_of_their_own_are_first_and_every_rank_passes_as_many_barriers() {
        let cache = |ranks: &[usize]| SharedCache { ranks: ranks.to_vec(), device_bytes: None };
        let shared = [cache(&[0, 2, 5]), cache(&[1, 4])];
        let places: Vec<Place> = (0..6).map(|rank| Place::of(rank, &shared)).collect();
        assert_eq!(places.iter().map(|place| place.before).collect::<Vec<_>>(), [0, 0, 1, 0, 1, 2]);
        assert!(places.iter().all(|place| place.last == 2));
        assert_eq!(Place::of(3, &[]), Place::default());
    }
}
