//! The rank on the server. It takes no turn: before every cold one, when all ranks have made their
//! own caches cold, it makes the server's cold, and proves that.

use super::agreement::{Agreement, WholeFile, WitnessCredentials};
use super::job::{Job, JobError};
use super::order::{Ended, Found, Order, Report};
use super::queue::{Place, Queue};
use super::starting_gate::Gate;
use crate::linux::system;
use crate::measure::cache::Eviction;
use crate::measure::interface::StartingGate;
use crate::measure::target::CacheControl;
use crate::target::part::digest_of_places;
use crate::target::{Target, shown};
use crate::trial::CacheState;
use anyhow::Context;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// The ranks that read know how long a turn may take, and end the job if one takes longer.
const TIMEOUT: Duration = Duration::from_secs(7 * 24 * 3600);

/// A file of the server, with control over its page cache.
#[derive(Debug)]
pub struct WatchedFile {
    target: Target,
    cache: CacheControl,
}

/// The rank that watches it.
#[derive(Debug)]
pub struct Witness {
    job: Rc<Job>,
    file: WatchedFile,
    gate: Gate,
    queue: Queue,
}

impl WatchedFile {
    /// Examines the file, and makes it cold once.
    ///
    /// # Errors
    /// If it is no file, or cannot be made cold here.
    pub fn open(path: &Path) -> anyhow::Result<WatchedFile> {
        let target = Target::examine(path)?;
        let cache = CacheControl::of(&target, Eviction::OfFile)?;
        let file = WatchedFile { target, cache };
        file.evict().map_err(anyhow::Error::msg)?;
        Ok(file)
    }

    /// What the ranks compare with the file that they read.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn credentials(&self) -> anyhow::Result<WitnessCredentials> {
        let path = self.target.file().context("a witness watches a file")?;
        Ok(WitnessCredentials {
            host: system::host_name(),
            path: shown(path),
            whole: WholeFile {
                bytes: self.target.facts.size_bytes,
                places: digest_of_places(path).with_context(|| shown(path))?,
            },
        })
    }

    fn evict(&self) -> Result<(), String> {
        match &self.cache {
            CacheControl::File { cache, .. } => cache.evict().map(drop).map_err(|error| error.to_string()),
            CacheControl::Web => Err("a witness watches a file".to_owned()),
        }
    }
}

impl Witness {
    /// A rank of a fleet that agreed.
    #[must_use]
    pub fn new(job: Rc<Job>, agreement: &Agreement, file: WatchedFile) -> Witness {
        job.set_time_limit(TIMEOUT);
        let queue = Queue::new(Rc::clone(&job), Place::of(job.rank(), agreement));
        let gate = Gate::new(Rc::clone(&job), queue.clone());
        Witness { job, file, gate, queue }
    }

    /// Follows the orders of rank 0 until it says that all is done.
    ///
    /// # Errors
    /// If the job is broken.
    pub fn serve(&mut self) -> Result<(), JobError> {
        loop {
            let order: Order = self.job.broadcast(None)?;
            let found = self.follow(&order)?;
            self.job.gather(&Report { found, notes: Vec::new(), missing: Vec::new(), refusal: None })?;
            if order == Order::Leave {
                return Ok(());
            }
        }
    }

    fn follow(&mut self, order: &Order) -> Result<Result<Found, Ended>, JobError> {
        match order {
            Order::Turn(_, slot, _) => self.turn(slot.state),
            Order::CompareClocks => Ok(Ok(Found::Clock(self.job.compare_clocks()?))),
            Order::WarmUp(_) => {
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
            if let Err(ended) = evicted.and_then(|()| self.file.evict().map_err(Ended::Unproven)) {
                self.gate.give_up()?;
                return Ok(Err(ended));
            }
        }
        self.gate.stand_aside()?;
        Ok(Ok(Found::Idle))
    }
}
