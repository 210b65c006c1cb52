//! The rank on the server. It takes no turn: before every cold one, when all ranks have made their
//! own caches cold, it makes the server's cold, and proves that.

use super::agreement::Agreement;
use super::job::{Job, JobError};
use super::order::{Ended, Found, RankCommand, Report};
use super::queue::{Place, Queue};
use super::starting_gate::Gate;
use readlab_measure::interface::StartingGate;
use readlab_measure::target::CacheControl;
use readlab_model::trial::CacheState;
use std::rc::Rc;
use std::time::Duration;

/// The ranks that read know how long a turn may take, and end the job if one takes longer.
const TIMEOUT: Duration = Duration::from_secs(7 * 24 * 3600);

/// The rank that watches the file on the server.
#[derive(Debug)]
pub struct Witness {
    job: Rc<Job>,
    cache: CacheControl,
    gate: Gate,
    queue: Queue,
}

impl Witness {
    /// A rank of a fleet that agreed.
    pub fn new(job: Rc<Job>, agreement: &Agreement, cache: CacheControl) -> Witness {
        job.set_time_limit(TIMEOUT);
        let queue = Queue::new(Rc::clone(&job), Place::new(job.rank(), agreement));
        let gate = Gate::new(Rc::clone(&job), queue.clone());
        Witness { job, cache, gate, queue }
    }

    /// Follows the orders of rank 0 until it says that all is done.
    pub fn serve(&mut self) -> Result<(), JobError> {
        loop {
            let order: RankCommand = self.job.broadcast(None)?;
            let found = self.follow(&order)?;
            self.job.gather(&Report { found, notes: Vec::new(), missing: Vec::new(), refusal: None })?;
            if order == RankCommand::Leave {
                return Ok(());
            }
        }
    }

    fn follow(&mut self, order: &RankCommand) -> Result<Result<Found, Ended>, JobError> {
        match order {
            RankCommand::Turn(_, slot, _) => self.turn(slot.state),
            RankCommand::CompareClocks => Ok(Ok(Found::Clock(self.job.compare_clocks()?))),
            RankCommand::WarmUp(_) => {
                self.queue.begin();
                self.queue.finish()?;
                Ok(Ok(Found::Done))
            }
            _ => Ok(Ok(Found::Done)),
        }
    }

    /// A turn of the others, which begins when this rank says so, too.
    fn turn(&mut self, state: CacheState) -> Result<Result<Found, Ended>, JobError> {
        self.gate.close();
        if state == CacheState::Cold {
            // An error of the queue shows again when the gate is asked.
            let evicted = self.gate.before_state().map_err(Ended::from);
            if let Err(ended) = evicted.and_then(|()| self.cache.evict().map_err(Ended::Unproven)) {
                self.gate.give_up()?;
                return Ok(Err(ended));
            }
        }
        self.gate.stand_aside()?;
        Ok(Ok(Found::Idle))
    }
}
