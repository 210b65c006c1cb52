//! The sampler of rank 0: every call becomes an order to all ranks, and their reports are merged
//! into one result.
//!
//! Only rank 0 makes counts and inspections, between rounds: what a contender does inside is the
//! same on every host.

use super::agreement::{Agreement, SharedCache};
use super::crew::FleetMember;
use super::job::JobError;
use super::order::{RankCommand, RankFailure, RankReport, RankResult, TurnRanks, with_host};
use readlab_measure::interface::{CleanUpError, SampleError, Sampler, Slot, TrialEnd};
use readlab_measure::plan::Plan;
use readlab_model::sample::Sample;
use readlab_model::target::Targets;
use readlab_model::target::cold_bytes::min_fetched_bytes;
use readlab_model::trial::{CacheState, Params, TrialIndex};
use readlab_model::units::Nanos;
use readlab_record::{
    EndReason, Fill, Fleet, FleetTurn, Line, Outcome, RankTiming, UntimedCount, joint_sample,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Largest delay of a rank's start in a short turn. In a long turn it is the time of the turn,
/// divided by [`LATE_START_DIVISOR`]. After a later start the recorded times would not describe the
/// turn.
const LATE_START_NS_MAX: u64 = 1_000_000;

/// Number of tries of a turn until all ranks start in time. A host may be busy for a moment, which
/// is no property of the trial.
const LATE_START_TRIES: u32 = 8;

/// In a long turn, a rank may start late by the time of the whole turn, divided by this number.
const LATE_START_DIVISOR: u64 = 100;

#[derive(Debug, Clone, Copy)]
pub struct FleetPlan<'a> {
    pub plan: &'a Plan,
    /// Number of ranks that read each target; empty if always all ranks read.
    pub rank_counts: &'a Targets<u32>,
}

/// The sampler of a whole fleet.
pub struct FleetSampler<'a> {
    member: FleetMember<'a>,
    fleet_plan: FleetPlan<'a>,
    fleet: &'a Fleet,
    shared_caches: &'a [SharedCache],
    /// Whether the other ranks can no longer be reached.
    has_lost_ranks: bool,
    refusals: BTreeMap<TrialIndex, Outcome>,
    notes: Vec<Line>,
    noted_warnings: BTreeSet<String>,
    missing_meters: Vec<(String, String)>,
    /// State and number of the round before which the clocks were last compared; `None` before the
    /// first comparison.
    clock_comparison_round: Option<(CacheState, u32)>,
}

impl<'a> FleetSampler<'a> {
    pub fn new(
        fleet_plan: FleetPlan<'a>,
        member: FleetMember<'a>,
        agreement: &'a Agreement,
    ) -> FleetSampler<'a> {
        FleetSampler {
            member,
            fleet_plan,
            fleet: &agreement.fleet,
            shared_caches: &agreement.shared_caches,
            has_lost_ranks: false,
            refusals: BTreeMap::new(),
            notes: Vec::new(),
            noted_warnings: BTreeSet::new(),
            missing_meters: Vec::new(),
            clock_comparison_round: None,
        }
    }

    /// Makes all ranks leave the job; nothing is measured afterwards.
    pub fn leave(&mut self) {
        // If the ranks cannot be reached, the job has already ended.
        let _ = self.order_all(&RankCommand::Leave);
    }

    /// Sends an order to all ranks and returns their results, by rank; an error if a trial or the
    /// run ended on any of them.
    fn order_all(&mut self, order: &RankCommand) -> Result<Vec<RankResult>, RankFailure> {
        if self.has_lost_ranks {
            return Err(RankFailure::End(TrialEnd::Run(EndReason::RankLost)));
        }
        match self.gather_reports(order) {
            Ok(reports) => self.collect_results(order, reports),
            Err(error) => {
                self.has_lost_ranks = true;
                self.notes.push(Line::Warning { text: error.to_string() });
                self.member.job.abort(&error.to_string());
                Err(RankFailure::End(TrialEnd::Run(EndReason::RankLost)))
            }
        }
    }

    /// Makes the other ranks wait while rank 0 works alone.
    fn let_others_wait(&mut self) {
        // If the ranks cannot be reached, the next order returns an error again.
        let _ = self.order_all(&RankCommand::Wait);
    }

    fn gather_reports(&mut self, order: &RankCommand) -> Result<Vec<RankReport>, JobError> {
        let order = self.member.job.broadcast(Some(order))?;
        let begun = Instant::now();
        let own = self.member.follow(&order)?;
        let all = self.member.job.gather(&own)?;
        self.member.note_order(&order, begun.elapsed());
        Ok(all.expect("rank 0 gathers"))
    }

    fn collect_results(
        &mut self,
        order: &RankCommand,
        reports: Vec<RankReport>,
    ) -> Result<Vec<RankResult>, RankFailure> {
        let (mut found, mut ended) = (Vec::new(), None::<RankFailure>);
        for (rank, report) in reports.into_iter().enumerate() {
            self.take_notes(rank, report.notes);
            if let (Some(trial), Some(refusal)) = (order.trial(), report.refusal) {
                self.refusals.entry(trial).or_insert_with(|| with_host(self.fleet, rank, refusal));
            }
            self.missing_meters.extend(report.missing_meters);
            match report.result {
                Ok(it) => found.push(it),
                Err(it) if ended.as_ref().is_none_or(|ended| it.priority() > ended.priority()) => {
                    ended = Some(with_host(self.fleet, rank, it));
                }
                Err(_) => {}
            }
        }
        ended.map_or(Ok(found), Err)
    }

    /// Takes over the notes of a rank. From ranks other than 0 it takes only warnings that the
    /// record does not have yet, with the name of the host, and side effects of contenders.
    fn take_notes(&mut self, rank: usize, notes: Vec<Line>) {
        for line in notes {
            match line {
                line if rank == 0 => self.notes.push(line),
                Line::Warning { text } => {
                    let text = with_host(self.fleet, rank, text);
                    if self.noted_warnings.insert(text.clone()) {
                        self.notes.push(Line::Warning { text });
                    }
                }
                line @ (Line::LeftBehind { .. } | Line::Scheduling { .. }) => self.notes.push(line),
                _ => {}
            }
        }
    }

    /// Compares the clocks before the first turn of a round.
    fn compare_clocks(&mut self, slot: &Slot) -> Result<(), RankFailure> {
        if self.clock_comparison_round.replace((slot.state, slot.round)) == Some((slot.state, slot.round)) {
            return Ok(());
        }
        let found = self.order_all(&RankCommand::CompareClocks)?;
        let clocks = found.into_iter().filter_map(|it| match it {
            RankResult::Clock(clock) => Some(clock),
            _ => None,
        });
        let ranks = clocks.take(self.fleet.ranks.len()).collect();
        self.notes.push(Line::Clocks { round: slot.round, ranks });
        Ok(())
    }

    /// Takes a turn in which every rank starts in time. A turn with a late start is rejected and
    /// repeated.
    fn take_timely_turn(&mut self, trial: TrialIndex, slot: &Slot) -> Result<Vec<Sample>, SampleError> {
        let mut tries = 1;
        loop {
            let order = RankCommand::Turn(trial, *slot, self.ranks_for_turn(trial, slot));
            let found = self.order_all(&order).map_err(RankFailure::into_sample_error)?;
            let (turn, samples) = collect_turn(trial, slot, found);
            match self.why_late(&turn) {
                None => return self.checked_joint_sample(slot, turn, &samples),
                Some(reason) if tries >= LATE_START_TRIES => return Err(SampleError::Unproven(reason)),
                Some(reason) => self.notes.push(Line::Rejected { trial, round: slot.round, reason }),
            }
            tries += 1;
        }
    }

    /// Number of ranks that read for a trial; `None` if always all ranks read.
    fn rank_count(&self, trial: TrialIndex) -> Option<u32> {
        let target = self.fleet_plan.plan.planned_trial(trial).trial.target;
        self.fleet_plan.rank_counts.get(target).copied()
    }

    /// The ranks that take a turn. If only some ranks read, other ranks read in the next round, so
    /// that all read equally often.
    fn ranks_for_turn(&self, trial: TrialIndex, slot: &Slot) -> TurnRanks {
        let all = u32::try_from(self.fleet.ranks.len()).expect("ranks are numbered by 32 bits");
        let count = self.rank_count(trial).unwrap_or(all);
        let first = u64::from(slot.round) * u64::from(count) % u64::from(all);
        TurnRanks { first: u32::try_from(first).expect("less than the number of ranks"), count }
    }

    fn checked_joint_sample(
        &mut self,
        slot: &Slot,
        turn: FleetTurn,
        samples: &[Sample],
    ) -> Result<Vec<Sample>, SampleError> {
        if slot.state == CacheState::Cold && !self.fleet_plan.plan.is_control(turn.trial) {
            self.shared_caches.iter().try_for_each(|cache| check_fetched_bytes(cache, &turn, samples))?;
        }
        let sample = joint_sample(slot.state, turn.job_ns(), samples);
        self.notes.push(Line::FleetTurn(Box::new(turn)));
        Ok(sample.into_iter().collect())
    }

    /// Names the rank that began too late, if any did.
    fn why_late(&self, turn: &FleetTurn) -> Option<String> {
        let late_max_ns = LATE_START_NS_MAX.max(turn.job_ns() / LATE_START_DIVISOR);
        let latest = turn.ranks.iter().max_by_key(|timing| timing.late_ns)?;
        let late =
            || with_host(self.fleet, latest.rank as usize, format!("began {} late", Nanos(latest.late_ns)));
        (latest.late_ns > late_max_ns).then(late)
    }
}

/// A turn and its samples, from the results of the ranks.
fn collect_turn(trial: TrialIndex, slot: &Slot, found: Vec<RankResult>) -> (FleetTurn, Vec<Sample>) {
    let (mut samples, mut ranks) = (Vec::new(), Vec::new());
    for it in found {
        if let RankResult::Turn(taken, timing) = it {
            samples.extend(taken);
            ranks.push(timing);
        }
    }
    (FleetTurn { trial, round: slot.round, ranks }, samples)
}

/// Checks that ranks with a common page cache together fetched all bytes from the device. Passes if
/// none of them took the turn, or if the number of bytes is not known.
fn check_fetched_bytes(cache: &SharedCache, turn: &FleetTurn, samples: &[Sample]) -> Result<(), SampleError> {
    let shares = |timing: &RankTiming| cache.ranks.binary_search(&(timing.rank as usize)).is_ok();
    let took = || turn.ranks.iter().zip(samples).filter(|(timing, _)| shares(timing));
    let fetched_bytes = took().map(|(_, sample)| sample.device_read_bytes).sum::<Option<u64>>();
    let expected_bytes =
        cache.expected_device_bytes.filter(|_| took().next().is_some()).map(min_fetched_bytes);
    match (fetched_bytes, expected_bytes) {
        (Some(fetched), Some(least)) if fetched < least => {
            let ranks: Vec<String> = cache.ranks.iter().map(usize::to_string).collect();
            Err(SampleError::Unproven(format!(
                "only {fetched} bytes came from the device for ranks {}, which share a page cache, at least {least} were expected",
                ranks.join(", ")
            )))
        }
        _ => Ok(()),
    }
}

impl Sampler for FleetSampler<'_> {
    fn launch(&mut self, next: &[TrialIndex]) {
        // Errors are ignored here: opening these contenders returns them again.
        let _ = self.order_all(&RankCommand::Launch(next.to_vec()));
    }

    fn open(&mut self, trial: TrialIndex) -> Result<Params, TrialEnd> {
        let found = self.order_all(&RankCommand::Open(trial)).map_err(RankFailure::into_trial_end)?;
        match found.into_iter().next() {
            Some(RankResult::Params(params)) => Ok(params),
            _ => Ok(Params::default()),
        }
    }

    fn warm_up(&mut self, trial: TrialIndex) -> Result<(), TrialEnd> {
        self.order_all(&RankCommand::WarmUp(trial)).map(drop).map_err(RankFailure::into_trial_end)
    }

    fn fill(&mut self, fill: u32) -> Result<Fill, TrialEnd> {
        let found = self.order_all(&RankCommand::Fill(fill)).map_err(RankFailure::into_trial_end)?;
        match found.into_iter().next() {
            Some(RankResult::Filled(fill)) => Ok(fill),
            _ => Err(TrialEnd::Run(EndReason::RankLost)),
        }
    }

    fn take_turn(&mut self, trial: TrialIndex, slot: &Slot) -> Result<Vec<Sample>, SampleError> {
        self.missing_meters.clear();
        self.compare_clocks(slot).map_err(RankFailure::into_sample_error)?;
        self.take_timely_turn(trial, slot)
    }

    fn count(&mut self, trials: &[TrialIndex]) -> Vec<Result<BTreeMap<String, UntimedCount>, TrialEnd>> {
        self.let_others_wait();
        self.member.sampler.count(trials)
    }

    fn count_again(
        &mut self,
        trials: &[TrialIndex],
    ) -> Vec<Result<BTreeMap<String, UntimedCount>, TrialEnd>> {
        self.let_others_wait();
        self.member.sampler.count_again(trials)
    }

    fn is_counted(&self, trial: TrialIndex) -> bool {
        self.member.sampler.is_counted(trial)
    }

    fn has_inspections(&self) -> bool {
        self.member.sampler.has_inspections()
    }

    fn inspect(&mut self, trial: TrialIndex) -> Result<Vec<Line>, EndReason> {
        self.let_others_wait();
        self.member.sampler.inspect(trial)
    }

    fn uninspected_lines(&mut self, trial: TrialIndex, reason: &str) -> Vec<Line> {
        self.member.sampler.uninspected_lines(trial, reason)
    }

    fn refusal(&self, trial: TrialIndex) -> Option<Outcome> {
        self.refusals.get(&trial).cloned()
    }

    fn bytes_per_reading(&self, trial: TrialIndex) -> Option<u64> {
        let own_bytes = u128::from(self.member.sampler.bytes_per_reading(trial)?);
        let ranks = self.rank_count(trial).map_or(self.fleet.ranks.len(), |count| count as usize);
        let all_bytes: u128 =
            self.fleet.ranks.iter().take(ranks).map(|rank| u128::from(rank.size_bytes)).sum();
        let first_bytes = self.fleet.ranks.first().map_or(0, |rank| u128::from(rank.size_bytes));
        u64::try_from(own_bytes * all_bytes / first_bytes.max(1)).ok()
    }

    fn retire_session(&mut self, trial: TrialIndex) {
        // An error is ignored: this trial has no further turns, so a lost rank does not affect it.
        let _ = self.order_all(&RankCommand::Retire(trial));
    }

    fn close_session(&mut self, trial: TrialIndex) {
        if self.order_all(&RankCommand::Close(trial)).is_err() {
            self.member.sampler.close_session(trial);
        }
    }

    fn clean_up(&mut self) -> Result<(), CleanUpError> {
        match self.order_all(&RankCommand::CleanUp) {
            Err(RankFailure::CleanUp(error)) => Err(error),
            _ => Ok(()),
        }
    }

    fn drain_missing_meters(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.missing_meters)
    }

    fn drain_notes(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.notes)
    }

    fn elapsed_ns(&self) -> u64 {
        self.member.sampler.elapsed_ns()
    }
}
