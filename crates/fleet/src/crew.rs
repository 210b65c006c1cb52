//! A rank follows an order of rank 0 with the process sampler that a single host uses, and reports
//! the result.
//!
//! The rank on the server takes no turn. Before every cold turn, when all ranks have made their own
//! caches cold, it makes the server's cache cold and proves it.

use super::agreement::Agreement;
use super::hidden_names::HiddenNames;
use super::job::{Job, JobError};
use super::order::{RankCommand, RankFailure, RankReport, RankResult};
use super::queue::{CacheQueue, QueuePosition};
use super::starting_gate::RankGate;
use readlab_measure::interface::{Sampler, Slot, StartingGate, TrialEnd};
use readlab_measure::sampler::ProcessSampler;
use readlab_measure::target::CacheControl;
use readlab_model::sample::Sample;
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_record::RankTiming;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The least time after which a rank counts as lost. Contenders are started and warmed up within
/// one order, so an order may take long.
const RANK_TIMEOUT_MIN: Duration = Duration::from_secs(60);

/// A rank counts as lost after `RANK_TIMEOUT_MIN` plus this many times the longest step of an order.
const RANK_TIMEOUT_STEPS: u32 = 2;

/// Practically no time limit. It is for ranks that wait while others work: those who work know how
/// long each turn may take, and end the job if one takes longer.
const WAIT_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 3600);

/// One rank's sampler, with the gate at which it waits for the other ranks.
pub struct FleetMember<'a> {
    pub(super) job: Rc<Job>,
    pub(super) sampler: ProcessSampler<'a>,
    reader_count: u32,
    gate: RankGate,
    queue: CacheQueue,
    hidden_names: HiddenNames,
    /// The longest time from an order until all ranks had reported: by the trial that the order is
    /// about, and for orders about no single trial.
    longest_orders: BTreeMap<Option<TrialIndex>, Duration>,
}

impl<'a> FleetMember<'a> {
    /// A rank whose reports do not show these names.
    pub fn new(
        job: Rc<Job>,
        agreement: &Agreement,
        sampler: ProcessSampler<'a>,
        hidden_names: HiddenNames,
    ) -> FleetMember<'a> {
        let queue = CacheQueue::new(Rc::clone(&job), QueuePosition::new(job.rank(), agreement));
        let reader_count = u32::try_from(agreement.fleet.ranks.len()).expect("ranks are numbered by 32 bits");
        let gate = RankGate::new(Rc::clone(&job), queue.clone());
        FleetMember {
            job,
            sampler: sampler.with_starting_gate(Box::new(gate.clone())),
            reader_count,
            gate,
            queue,
            hidden_names,
            longest_orders: BTreeMap::new(),
        }
    }

    /// Follows the orders of rank 0 until it orders all ranks to leave the job.
    pub fn serve(&mut self) -> Result<(), JobError> {
        let mut before = None::<(RankCommand, Instant)>;
        loop {
            let order: RankCommand = self.job.broadcast(None)?;
            // Rank 0 gives the next order when all ranks have reported.
            before.iter().for_each(|(order, begun)| self.note_order(order, begun.elapsed()));
            let begun = Instant::now();
            let report = self.follow(&order)?;
            self.job.gather(&report)?;
            match order {
                RankCommand::Leave => return Ok(()),
                RankCommand::Wait => self.job.set_time_limit(WAIT_TIMEOUT),
                _ => {}
            }
            before = Some((order, begun));
        }
    }

    /// Remembers how long all ranks took for an order. While the others wait, rank 0 works alone for
    /// any time.
    pub(super) fn note_order(&mut self, order: &RankCommand, time: Duration) {
        if *order != RankCommand::Wait {
            let longest = self.longest_orders.entry(order.trial()).or_default();
            *longest = time.max(*longest);
        }
    }

    pub(super) fn follow(&mut self, order: &RankCommand) -> Result<RankReport, JobError> {
        let turn_limit = |trial: Option<TrialIndex>| match trial {
            Some(trial) => self.sampler.turn_limit(trial),
            None => self.sampler.longest_turn_limit(),
        };
        let longest =
            |trial: Option<TrialIndex>| self.longest_orders.get(&trial).copied().unwrap_or_default();
        self.job.set_time_limit(rank_timeout(order, longest, self.sampler.fill_limit(), turn_limit));
        let result = match order {
            RankCommand::Launch(trials) => {
                self.sampler.launch(trials);
                Ok(RankResult::Done)
            }
            RankCommand::Open(trial) => {
                self.sampler.open(*trial).map(RankResult::Params).map_err(RankFailure::from)
            }
            RankCommand::WarmUp(trial) => {
                self.work_in_queue(|sampler| sampler.warm_up(*trial).map(|()| RankResult::Done))?
            }
            RankCommand::Fill(_) if !self.queue.position().fills_cache() => Ok(RankResult::Done),
            RankCommand::Fill(fill) => {
                self.sampler.fill(*fill).map(RankResult::Filled).map_err(RankFailure::from)
            }
            RankCommand::Turn(trial, slot, taking) if taking.contains(self.job.rank(), self.reader_count) => {
                self.take_turn(*trial, slot)?
            }
            RankCommand::Turn(..) => self.agree_without_reading()?,
            RankCommand::CompareClocks => Ok(RankResult::Clock(self.job.compare_clocks()?)),
            RankCommand::Retire(trial) => {
                self.sampler.retire_session(*trial);
                Ok(RankResult::Done)
            }
            RankCommand::Close(trial) => {
                self.sampler.close_session(*trial);
                Ok(RankResult::Done)
            }
            RankCommand::CleanUp => {
                self.sampler.clean_up().map(|()| RankResult::Done).map_err(RankFailure::CleanUp)
            }
            RankCommand::Wait | RankCommand::Leave => Ok(RankResult::Done),
        };
        let refusal = order.trial().and_then(|trial| self.sampler.refusal(trial));
        let (notes, missing_meters) = (self.sampler.drain_notes(), self.sampler.drain_missing_meters());
        let mut report = RankReport { result, notes, missing_meters, refusal };
        self.hidden_names.hide_in_report(&mut report);
        Ok(report)
    }

    /// Does work on the page cache, after the ranks that precede this rank in the queue for that
    /// cache.
    fn work_in_queue(
        &mut self,
        work: impl FnOnce(&mut ProcessSampler) -> Result<RankResult, TrialEnd>,
    ) -> Result<Result<RankResult, RankFailure>, JobError> {
        self.queue.begin_pass();
        self.queue.wait_for_turn()?;
        let result = work(&mut self.sampler).map_err(RankFailure::from);
        self.queue.finish()?;
        Ok(result)
    }

    /// Takes a turn, beginning at the gate.
    fn take_turn(
        &mut self,
        trial: TrialIndex,
        slot: &Slot,
    ) -> Result<Result<RankResult, RankFailure>, JobError> {
        self.gate.close();
        let taken = self.sampler.take_turn(trial, slot);
        self.gate.report_unready_if_silent()?;
        if let Some(error) = self.gate.take_job_error() {
            return Err(error);
        }
        if self.gate.is_other_rank_unready() {
            return Ok(Err(RankFailure::OtherRankUnready));
        }
        Ok(taken.map_err(RankFailure::from).map(|samples| {
            let timing = self.rank_timing(&samples);
            RankResult::Turn(samples, timing)
        }))
    }

    /// Takes part in the agreement on a turn of other ranks, which wait for every rank's answer.
    fn agree_without_reading(&mut self) -> Result<Result<RankResult, RankFailure>, JobError> {
        self.gate.close();
        self.gate.report_ready_without_turn()?;
        Ok(Ok(RankResult::Idle))
    }

    /// Times of this rank's turn, by the clock of rank 0.
    fn rank_timing(&self, samples: &[Sample]) -> RankTiming {
        let (start, clock) = (self.gate.turn_start().unwrap_or_default(), self.job.clock());
        let wall_ns = samples.iter().map(|sample| sample.wall_ns).sum();
        let ended_ns = start.started_ns + wall_ns;
        RankTiming {
            rank: self.job.rank(),
            started_ns: clock.to_leader_ns(start.started_ns),
            late_ns: start.started_ns.saturating_sub(start.planned_ns),
            wall_ns,
            error_bound_ns: clock.error_bound_ns(ended_ns),
        }
    }
}

/// The time after which the slowest rank of an order counts as lost. `longest` returns how long all
/// ranks took at most for an order about a trial, or about none, such as a fill. `turn_limit` returns
/// the time limit of a turn of a trial, or the longest one of any trial.
fn rank_timeout(
    order: &RankCommand,
    longest: impl Fn(Option<TrialIndex>) -> Duration,
    fill_limit: Duration,
    turn_limit: impl Fn(Option<TrialIndex>) -> Duration,
) -> Duration {
    let turn = match order {
        RankCommand::Open(trial) | RankCommand::WarmUp(trial) | RankCommand::Turn(trial, ..) => {
            turn_limit(Some(*trial))
        }
        // A clean-up of a command may take as long as the command.
        RankCommand::CleanUp => turn_limit(None),
        RankCommand::Launch(_)
        | RankCommand::Fill(_)
        | RankCommand::CompareClocks
        | RankCommand::Retire(_)
        | RankCommand::Close(_)
        | RankCommand::Wait
        | RankCommand::Leave => Duration::ZERO,
    };
    // A rank may fill the cache again before a warm turn.
    let fills = match order {
        RankCommand::Fill(_) => true,
        RankCommand::Turn(_, slot, _) => slot.state == CacheState::Warm,
        _ => false,
    };
    // Each rank knows its own limits alone; another may be slower. An order that reads nothing takes
    // no time of a turn or a fill.
    let own_limit = turn.max(if fills { fill_limit.max(longest(None)) } else { Duration::ZERO });
    let limit = if own_limit.is_zero() { Duration::ZERO } else { own_limit.max(longest(order.trial())) };
    RANK_TIMEOUT_MIN + limit * RANK_TIMEOUT_STEPS
}

/// The rank that runs on the server and makes the file cold there.
#[derive(Debug)]
pub struct Witness {
    job: Rc<Job>,
    cache: CacheControl,
    gate: RankGate,
    queue: CacheQueue,
    hidden_names: HiddenNames,
}

impl Witness {
    /// A witness whose reports do not show these names.
    pub fn new(
        job: Rc<Job>,
        agreement: &Agreement,
        cache: CacheControl,
        hidden_names: HiddenNames,
    ) -> Witness {
        job.set_time_limit(WAIT_TIMEOUT);
        let queue = CacheQueue::new(Rc::clone(&job), QueuePosition::new(job.rank(), agreement));
        let gate = RankGate::new(Rc::clone(&job), queue.clone());
        Witness { job, cache, gate, queue, hidden_names }
    }

    /// Follows the orders of rank 0 until it orders all ranks to leave the job.
    pub fn serve(&mut self) -> Result<(), JobError> {
        loop {
            let order: RankCommand = self.job.broadcast(None)?;
            let result = self.follow(&order)?;
            let mut report =
                RankReport { result, notes: Vec::new(), missing_meters: Vec::new(), refusal: None };
            self.hidden_names.hide_in_report(&mut report);
            self.job.gather(&report)?;
            if order == RankCommand::Leave {
                return Ok(());
            }
        }
    }

    fn follow(&mut self, order: &RankCommand) -> Result<Result<RankResult, RankFailure>, JobError> {
        match order {
            RankCommand::Turn(_, slot, _) => self.take_turn(slot.state),
            RankCommand::CompareClocks => Ok(Ok(RankResult::Clock(self.job.compare_clocks()?))),
            RankCommand::WarmUp(_) => {
                self.queue.begin_pass();
                self.queue.finish()?;
                Ok(Ok(RankResult::Done))
            }
            _ => Ok(Ok(RankResult::Done)),
        }
    }

    /// Takes part in a turn of the other ranks, which begins only when this rank is ready, too.
    fn take_turn(&mut self, state: CacheState) -> Result<Result<RankResult, RankFailure>, JobError> {
        self.gate.close();
        if state == CacheState::Cold {
            // If the queue failed, the calls of the gate below fail with the same cause.
            let evicted = self.gate.wait_to_make_state().map_err(RankFailure::from);
            if let Err(ended) = evicted.and_then(|()| self.cache.evict().map_err(RankFailure::Unproven)) {
                self.gate.report_unready_if_silent()?;
                return Ok(Err(ended));
            }
        }
        self.gate.report_ready_without_turn()?;
        Ok(Ok(RankResult::Idle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::TurnRanks;

    #[test]
    fn only_an_order_about_a_slow_trial_waits_long_for_the_slowest_rank() {
        let (reader, command) = (TrialIndex::new(0), TrialIndex::new(1));
        let [second, hour] = [1, 3600].map(Duration::from_secs);
        let turn_limit = |trial: Option<TrialIndex>| if trial == Some(reader) { 10 * second } else { hour };
        let timeout = |order: &RankCommand| rank_timeout(order, |_| Duration::ZERO, 20 * second, turn_limit);
        let turn_in = |state, trial| {
            RankCommand::Turn(trial, Slot::unrecorded(state), TurnRanks { first: 0, count: 2 })
        };
        let turn = |trial| turn_in(CacheState::Warm, trial);
        for long in
            [turn(command), RankCommand::Open(command), RankCommand::WarmUp(command), RankCommand::CleanUp]
        {
            assert_eq!(timeout(&long), 2 * hour + 60 * second, "{long:?}");
        }
        for filling in [turn(reader), RankCommand::Fill(0)] {
            assert_eq!(timeout(&filling), 100 * second, "{filling:?}");
        }
        assert_eq!(timeout(&turn_in(CacheState::Cold, reader)), 80 * second, "nothing is filled");
        for short in [RankCommand::CompareClocks, RankCommand::Close(command), RankCommand::Wait] {
            assert_eq!(timeout(&short), 60 * second, "{short:?}");
        }
    }

    #[test]
    fn a_rank_that_was_measured_to_be_slower_is_waited_for() {
        let [second, minute] = [1, 60].map(Duration::from_secs);
        let turn = |state| {
            let ranks = TurnRanks { first: 0, count: 2 };
            RankCommand::Turn(TrialIndex::new(0), Slot::unrecorded(state), ranks)
        };
        let order = turn(CacheState::Cold);
        let timeout = |longest| rank_timeout(&order, |_| longest, Duration::ZERO, |_| 10 * second);
        assert_eq!(timeout(5 * second), 80 * second);
        assert_eq!(timeout(5 * minute), 11 * minute);
        let close = RankCommand::Close(TrialIndex::new(0));
        assert_eq!(
            rank_timeout(&close, |_| 5 * minute, Duration::ZERO, |_| 10 * second),
            minute,
            "it reads nothing"
        );
        let longest_fill = |trial: Option<TrialIndex>| if trial.is_none() { 5 * minute } else { second };
        for (state, right) in [(CacheState::Warm, 11 * minute), (CacheState::Cold, 80 * second)] {
            let timeout = rank_timeout(&turn(state), longest_fill, 20 * second, |_| 10 * second);
            assert_eq!(timeout, right, "before a {state} turn");
        }
    }
}
