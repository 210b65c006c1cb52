//! What every rank does with an order: the same process sampler as on one host follows it, and what
//! it found becomes a report.
//!
//! The rank on the server takes no turn: before every cold one, when all ranks have made their own
//! caches cold, it makes the server's cold, and proves that.

use super::agreement::Agreement;
use super::job::{Job, JobError};
use super::order::{Ended, Found, RankCommand, Report};
use super::queue::{Place, Queue};
use super::starting_gate::Gate;
use readlab_measure::interface::{Sampler, Slot, StartingGate, TrialEnd};
use readlab_measure::sampler::ProcessSampler;
use readlab_measure::target::CacheControl;
use readlab_model::sample::Sample;
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_record::RankTiming;
use std::rc::Rc;
use std::time::Duration;

/// One rank's sampler, with the gate at which it waits for the others.
pub struct Member<'a> {
    pub(super) job: Rc<Job>,
    pub(super) sampler: ProcessSampler<'a>,
    readers: u32,
    gate: Gate,
    queue: Queue,
}

impl<'a> Member<'a> {
    pub fn new(job: Rc<Job>, agreement: &Agreement, sampler: ProcessSampler<'a>) -> Member<'a> {
        let queue = Queue::new(Rc::clone(&job), Place::new(job.rank(), agreement));
        let readers = u32::try_from(agreement.fleet.ranks.len()).expect("ranks are numbered by 32 bits");
        let gate = Gate::new(Rc::clone(&job), queue.clone());
        Member { job, sampler: sampler.starting_at(Box::new(gate.clone())), readers, gate, queue }
    }

    /// Follows the orders of rank 0 until it says that all is done.
    pub fn serve(&mut self) -> Result<(), JobError> {
        loop {
            let order: RankCommand = self.job.broadcast(None)?;
            let is_last = order == RankCommand::Leave;
            let report = self.follow(&order)?;
            self.job.gather(&report)?;
            if is_last {
                return Ok(());
            }
        }
    }

    pub(super) fn follow(&mut self, order: &RankCommand) -> Result<Report, JobError> {
        let found = match order {
            RankCommand::Launch(trials) => {
                self.sampler.launch(trials);
                Ok(Found::Done)
            }
            RankCommand::Open(trial) => self.sampler.open(*trial).map(Found::Params).map_err(Ended::from),
            RankCommand::WarmUp(trial) => {
                self.queued(|sampler| sampler.warm_up(*trial).map(|()| Found::Done))?
            }
            RankCommand::Fill(_) if !self.queue.place().fills() => Ok(Found::Done),
            RankCommand::Fill(fill) => self.sampler.fill(*fill).map(Found::Filled).map_err(Ended::from),
            RankCommand::Turn(trial, slot, taking) if taking.has(self.job.rank(), self.readers) => {
                self.turn(*trial, slot)?
            }
            RankCommand::Turn(..) => self.stand_aside()?,
            RankCommand::CompareClocks => Ok(Found::Clock(self.job.compare_clocks()?)),
            RankCommand::Retire(trial) => {
                self.sampler.retire(*trial);
                Ok(Found::Done)
            }
            RankCommand::Close(trial) => {
                self.sampler.close(*trial);
                Ok(Found::Done)
            }
            RankCommand::CleanUp => self.sampler.clean_up().map(|()| Found::Done).map_err(Ended::CleanUp),
            RankCommand::Leave => Ok(Found::Done),
        };
        let refusal = order.trial().and_then(|trial| self.sampler.refusal(trial));
        Ok(Report { found, notes: self.sampler.notes(), missing: self.sampler.missing(), refusal })
    }

    /// Work on the page cache, after the ranks that come before this one in it.
    fn queued(
        &mut self,
        work: impl FnOnce(&mut ProcessSampler) -> Result<Found, TrialEnd>,
    ) -> Result<Result<Found, Ended>, JobError> {
        self.queue.begin();
        self.queue.wait()?;
        let found = work(&mut self.sampler).map_err(Ended::from);
        self.queue.finish()?;
        Ok(found)
    }

    /// A turn from the gate on.
    fn turn(&mut self, trial: TrialIndex, slot: &Slot) -> Result<Result<Found, Ended>, JobError> {
        self.gate.close();
        let taken = self.sampler.turn(trial, slot);
        self.gate.give_up()?;
        if let Some(error) = self.gate.take_broken() {
            return Err(error);
        }
        if self.gate.is_withheld() {
            return Ok(Err(Ended::Withheld));
        }
        Ok(taken.map_err(Ended::from).map(|samples| {
            let timing = self.timing(&samples);
            Found::Turn(samples, timing)
        }))
    }

    /// A turn of others: they wait for the word of every rank.
    fn stand_aside(&mut self) -> Result<Result<Found, Ended>, JobError> {
        self.gate.close();
        self.gate.stand_aside()?;
        Ok(Ok(Found::Idle))
    }

    /// When this rank took a turn, by the clock of rank 0.
    fn timing(&self, samples: &[Sample]) -> RankTiming {
        let (passage, clock) = (self.gate.passage().unwrap_or_default(), self.job.clock());
        let wall_ns = samples.iter().map(|sample| sample.wall_ns).sum();
        let ended_ns = passage.started_ns + wall_ns;
        RankTiming {
            rank: self.job.rank(),
            started_ns: clock.of_leader(passage.started_ns),
            late_ns: passage.started_ns.saturating_sub(passage.planned_ns),
            wall_ns,
            bound_ns: clock.bound_ns(ended_ns),
        }
    }
}

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
