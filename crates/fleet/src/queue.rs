//! The order in which ranks that share a page cache do what must not happen twice at once: one
//! evicts, another must not read. Ranks with a cache of their own are first in theirs, so that all
//! caches are worked on side by side.

use super::job::{Job, JobError};
use crate::agreement::{Agreement, SharedCache};
use readlab_record::Share;
use std::cell::Cell;
use std::rc::Rc;

/// Where a rank stands among those that share its page cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Ranks before it.
    pub before: u32,
    /// The most ranks that come after another one, in any cache.
    pub last: u32,
    /// Whether each rank reads bytes of its own, though others share its cache.
    pub has_own_bytes: bool,
}

impl Place {
    pub fn new(rank: u32, agreement: &Agreement) -> Place {
        let shared = &agreement.shared;
        let at = |cache: &SharedCache| cache.ranks.iter().position(|&other| other == rank as usize);
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let fleet = &agreement.fleet;
        let last = shared.iter().map(|cache| number(cache.ranks.len() - 1)).max().unwrap_or(0);
        // A witness comes after all ranks that read.
        let last = last + u32::from(fleet.witness.is_some());
        let is_witness = fleet.witness.is_some() && rank as usize >= fleet.ranks.len();
        Place {
            before: if is_witness { last } else { shared.iter().find_map(at).map_or(0, number) },
            last,
            has_own_bytes: agreement.fleet.share == Share::Split,
        }
    }

    /// Whether the rank fills the cache with what it reads: where all that share it read the same,
    /// the first does so for them.
    pub fn fills(self) -> bool {
        self.before == 0 || self.has_own_bytes
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
    pub fn new(job: Rc<Job>, place: Place) -> Queue {
        Queue { job, place, passed: Rc::default() }
    }

    pub fn place(&self) -> Place {
        self.place
    }

    /// Before a passage.
    pub fn begin(&self) {
        self.passed.set(0);
    }

    /// Waits until those before this rank are done.
    pub fn wait(&self) -> Result<(), JobError> {
        self.pass_to(self.place.before)
    }

    /// Lets those after this rank go on, and waits until all are done.
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
    use readlab_record::{Fleet, Witness};

    #[test]
    fn ranks_with_a_cache_of_their_own_are_first_and_every_rank_passes_as_many_barriers() {
        let cache = |ranks: &[usize]| SharedCache { ranks: ranks.to_vec(), device_bytes: None };
        let shared = vec![cache(&[0, 2, 5]), cache(&[1, 4])];
        let agreement = |share, shared| {
            let fleet = Fleet { library: String::new(), share, ranks: Vec::new(), witness: None };
            Agreement { fleet, answers: Vec::new(), shared }
        };
        let places = |share| {
            let agreement = agreement(share, shared.clone());
            (0..6).map(|rank| Place::new(rank, &agreement)).collect::<Vec<_>>()
        };
        let same = places(Share::Same);
        assert_eq!(same.iter().map(|place| place.before).collect::<Vec<_>>(), [0, 0, 1, 0, 1, 2]);
        assert!(same.iter().all(|place| place.last == 2));
        assert_eq!(same.iter().filter(|place| place.fills()).count(), 3, "each cache is filled once");
        assert!(places(Share::Split).iter().all(|place| place.fills()), "each rank fills with its part");
        let mut alone = agreement(Share::Own, Vec::new());
        assert_eq!(Place::new(3, &alone), Place::default());
        alone.fleet.witness = Some(Witness { host: "h".to_owned(), path: "p".to_owned() });
        assert_eq!(
            (Place::new(0, &alone).before, Place::new(0, &alone).last),
            (1, 1),
            "it is behind all that read"
        );
    }
}
