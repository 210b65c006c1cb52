//! The order in which ranks use a page cache that they share: one rank must not read while another
//! evicts. A rank with a separate cache is first in its own queue, so that ranks use different
//! caches at the same time.

use super::job::{Job, JobError};
use crate::agreement::{Agreement, SharedCache};
use readlab_record::ShareMode;
use std::cell::Cell;
use std::rc::Rc;

/// Position of a rank among the ranks that share its page cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueuePosition {
    /// Number of ranks before this one.
    pub ranks_before: u32,
    /// Largest position of a rank in the queue of any cache.
    pub last_position: u32,
    /// Whether this rank reads other bytes than the ranks with which it shares the cache.
    pub reads_own_bytes: bool,
}

impl QueuePosition {
    pub fn new(rank: u32, agreement: &Agreement) -> QueuePosition {
        let shared = &agreement.shared_caches;
        let at = |cache: &SharedCache| cache.ranks.iter().position(|&other| other == rank as usize);
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let fleet = &agreement.fleet;
        let last = shared.iter().map(|cache| number(cache.ranks.len() - 1)).max().unwrap_or(0);
        // A witness comes after all ranks that read.
        let last = last + u32::from(fleet.witness.is_some());
        let is_witness = fleet.witness.is_some() && rank as usize >= fleet.ranks.len();
        QueuePosition {
            ranks_before: if is_witness { last } else { shared.iter().find_map(at).map_or(0, number) },
            last_position: last,
            reads_own_bytes: agreement.fleet.share == ShareMode::Split,
        }
    }

    /// Whether the rank fills the cache with the bytes that it reads. If all ranks of a cache read
    /// the same bytes, only the first one fills.
    pub fn fills_cache(self) -> bool {
        self.ranks_before == 0 || self.reads_own_bytes
    }
}

/// One rank's place in the queue. In each pass through the queue, every rank waits at the same
/// number of barriers.
#[derive(Debug, Clone)]
pub struct CacheQueue {
    job: Rc<Job>,
    position: QueuePosition,
    barriers_passed: Rc<Cell<u32>>,
}

impl CacheQueue {
    pub fn new(job: Rc<Job>, position: QueuePosition) -> CacheQueue {
        CacheQueue { job, position, barriers_passed: Rc::default() }
    }

    pub fn position(&self) -> QueuePosition {
        self.position
    }

    pub fn begin_pass(&self) {
        self.barriers_passed.set(0);
    }

    /// Waits until the ranks before this one are done.
    pub fn wait_for_turn(&self) -> Result<(), JobError> {
        self.pass_barriers(self.position.ranks_before)
    }

    /// Lets the ranks after this one continue, and waits until all are done.
    pub fn finish(&self) -> Result<(), JobError> {
        self.pass_barriers(self.position.last_position)
    }

    fn pass_barriers(&self, barriers: u32) -> Result<(), JobError> {
        while self.barriers_passed.get() < barriers {
            self.job.barrier()?;
            self.barriers_passed.set(self.barriers_passed.get() + 1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_record::{Fleet, Witness};

    #[test]
    fn ranks_with_a_separate_cache_are_first_and_all_ranks_pass_the_same_number_of_barriers() {
        let cache = |ranks: &[usize]| SharedCache { ranks: ranks.to_vec(), expected_device_bytes: None };
        let shared = vec![cache(&[0, 2, 5]), cache(&[1, 4])];
        let agreement = |share, shared| {
            let fleet = Fleet { mpi_library: String::new(), share, ranks: Vec::new(), witness: None };
            Agreement { fleet, hides_names: false, answers: Vec::new(), shared_caches: shared }
        };
        let places = |share| {
            let agreement = agreement(share, shared.clone());
            (0..6).map(|rank| QueuePosition::new(rank, &agreement)).collect::<Vec<_>>()
        };
        let same = places(ShareMode::Same);
        assert_eq!(same.iter().map(|position| position.ranks_before).collect::<Vec<_>>(), [0, 0, 1, 0, 1, 2]);
        assert!(same.iter().all(|position| position.last_position == 2));
        assert_eq!(
            same.iter().filter(|position| position.fills_cache()).count(),
            3,
            "each cache is filled once"
        );
        assert!(
            places(ShareMode::Split).iter().all(|position| position.fills_cache()),
            "each rank fills with its part"
        );
        let mut alone = agreement(ShareMode::Own, Vec::new());
        assert_eq!(QueuePosition::new(3, &alone), QueuePosition::default());
        alone.fleet.witness = Some(Witness { host: "h".to_owned(), path: "p".to_owned() });
        assert_eq!(
            (QueuePosition::new(0, &alone).ranks_before, QueuePosition::new(0, &alone).last_position),
            (1, 1),
            "it is behind all that read"
        );
    }
}
