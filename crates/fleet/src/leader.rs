//! The sampler of rank 0: every call becomes an order to all ranks, and their reports one result.
//!
//! Counts and inspections are made by rank 0 alone, between rounds: what a contender does inside is
//! the same on every host.

use super::agreement::{Agreement, SharedCache};
use super::crew::Member;
use super::job::JobError;
use super::order::{Ended, Found, RankCommand, Report, Taking, on_rank};
use readlab_measure::cold_bytes::least_fetched;
use readlab_measure::interface::{CleanUpError, SampleError, Sampler, Slot, TrialEnd};
use readlab_measure::plan::Plan;
use readlab_model::sample::Sample;
use readlab_model::trial::{CacheState, Params, TrialIndex};
use readlab_model::units::Nanos;
use readlab_record::{Count, EndReason, Fill, Fleet, FleetTurn, Line, Outcome, RankTiming, joint_sample};
use std::collections::{BTreeMap, BTreeSet};

/// A start that is later than this, and than the share below of what the job took, makes a turn
/// another one than the record says.
const LATE_NS_MAX: u64 = 1_000_000;

/// Turns with a late start that are taken again at once: a host that is busy for a moment says
/// nothing of a trial.
const LATE_TRIES: u32 = 8;

/// A hundredth.
const LATE_SHARE_OF_JOB: u64 = 100;

#[derive(Debug, Clone, Copy)]
pub struct Together<'a> {
    pub plan: &'a Plan,
    /// How many ranks read each target; empty where always all do.
    pub rank_counts: &'a [u32],
}

/// Takes the samples of a whole fleet.
pub struct FleetSampler<'a> {
    member: Member<'a>,
    together: Together<'a>,
    fleet: &'a Fleet,
    shared: &'a [SharedCache],
    /// Whether the other ranks can no longer be reached.
    is_lost: bool,
    refusals: BTreeMap<TrialIndex, Outcome>,
    notes: Vec<Line>,
    noted: BTreeSet<String>,
    missing: Vec<(String, String)>,
    /// The round before which clocks were compared last.
    compared: Option<(CacheState, u32)>,
}

impl<'a> FleetSampler<'a> {
    pub fn new(together: Together<'a>, member: Member<'a>, agreement: &'a Agreement) -> FleetSampler<'a> {
        FleetSampler {
            member,
            together,
            fleet: &agreement.fleet,
            shared: &agreement.shared,
            is_lost: false,
            refusals: BTreeMap::new(),
            notes: Vec::new(),
            noted: BTreeSet::new(),
            missing: Vec::new(),
            compared: None,
        }
    }

    /// Has all ranks leave the job, in which nothing is measured any more.
    pub fn leave(&mut self) {
        // If they cannot be reached, the job has ended without them.
        let _ = self.everywhere(&RankCommand::Leave);
    }

    /// What every rank found, by rank; if something ended on any of them, that.
    fn everywhere(&mut self, order: &RankCommand) -> Result<Vec<Found>, Ended> {
        if self.is_lost {
            return Err(Ended::End(TrialEnd::Run(EndReason::RankLost)));
        }
        match self.reports(order) {
            Ok(reports) => self.take(order, reports),
            Err(error) => {
                self.is_lost = true;
                self.notes.push(Line::Warning { text: error.to_string() });
                self.member.job.abort(&error.to_string());
                Err(Ended::End(TrialEnd::Run(EndReason::RankLost)))
            }
        }
    }

    fn reports(&mut self, order: &RankCommand) -> Result<Vec<Report>, JobError> {
        let order = self.member.job.broadcast(Some(order))?;
        let own = self.member.follow(&order)?;
        let all = self.member.job.gather(&own)?;
        Ok(all.expect("rank 0 gathers"))
    }

    fn take(&mut self, order: &RankCommand, reports: Vec<Report>) -> Result<Vec<Found>, Ended> {
        let (mut found, mut ended) = (Vec::new(), None::<Ended>);
        for (rank, report) in reports.into_iter().enumerate() {
            self.take_notes(rank, report.notes);
            if let (Some(trial), Some(refusal)) = (order.trial(), report.refusal) {
                self.refusals.entry(trial).or_insert_with(|| on_rank(self.fleet, rank, refusal));
            }
            self.missing.extend(report.missing);
            match report.found {
                Ok(it) => found.push(it),
                Err(it) if ended.as_ref().is_none_or(|ended| it.weight() > ended.weight()) => {
                    ended = Some(on_rank(self.fleet, rank, it));
                }
                Err(_) => {}
            }
        }
        ended.map_or(Ok(found), Err)
    }

    /// Of other ranks only what the record does not have already, with the name of the host.
    fn take_notes(&mut self, rank: usize, notes: Vec<Line>) {
        for line in notes {
            match line {
                line if rank == 0 => self.notes.push(line),
                Line::Warning { text } => {
                    let text = on_rank(self.fleet, rank, text);
                    if self.noted.insert(text.clone()) {
                        self.notes.push(Line::Warning { text });
                    }
                }
                line @ (Line::LeftBehind { .. } | Line::Scheduling { .. }) => self.notes.push(line),
                _ => {}
            }
        }
    }

    /// Compares the clocks before the first turn of a round, which is after the last of the one
    /// before.
    fn compare_clocks(&mut self, slot: &Slot) -> Result<(), Ended> {
        if self.compared.replace((slot.state, slot.round)) == Some((slot.state, slot.round)) {
            return Ok(());
        }
        let found = self.everywhere(&RankCommand::CompareClocks)?;
        let clocks = found.into_iter().filter_map(|it| match it {
            Found::Clock(clock) => Some(clock),
            _ => None,
        });
        let ranks = clocks.take(self.fleet.ranks.len()).collect();
        self.notes.push(Line::Clocks { round: slot.round, ranks });
        Ok(())
    }

    /// A turn in which every rank began in time; those before it are rejected.
    fn turn_in_time(&mut self, trial: TrialIndex, slot: &Slot) -> Result<Vec<Sample>, SampleError> {
        let mut tries = 1;
        loop {
            let order = RankCommand::Turn(trial, *slot, self.taking(trial, slot));
            let found = self.everywhere(&order).map_err(Ended::of_turn)?;
            let (turn, samples) = taken(trial, slot, found);
            match self.late(&turn) {
                None => return self.sample(slot, turn, &samples),
                Some(reason) if tries >= LATE_TRIES => return Err(SampleError::Unproven(reason)),
                Some(reason) => self.notes.push(Line::Rejected { trial, round: slot.round, reason }),
            }
            tries += 1;
        }
    }

    /// How many ranks read for a trial; `None` where always all do.
    fn rank_count(&self, trial: TrialIndex) -> Option<u32> {
        let target = self.together.plan.planned(trial).trial.target;
        self.together.rank_counts.get(target).copied()
    }

    /// Who takes a turn. Where only some ranks read, others do in the next round, until each has
    /// read as often.
    fn taking(&self, trial: TrialIndex, slot: &Slot) -> Taking {
        let all = u32::try_from(self.fleet.ranks.len()).expect("ranks are numbered by 32 bits");
        let count = self.rank_count(trial).unwrap_or(all);
        let first = u64::from(slot.round) * u64::from(count) % u64::from(all);
        Taking { first: u32::try_from(first).expect("less than the number of ranks"), count }
    }

    fn sample(
        &mut self,
        slot: &Slot,
        turn: FleetTurn,
        samples: &[Sample],
    ) -> Result<Vec<Sample>, SampleError> {
        if slot.state == CacheState::Cold && !self.together.plan.is_control(turn.trial) {
            self.shared.iter().try_for_each(|cache| check_fetched(cache, &turn, samples))?;
        }
        let sample = joint_sample(slot.state, turn.job_ns(), samples);
        self.notes.push(Line::FleetTurn(Box::new(turn)));
        Ok(sample.into_iter().collect())
    }

    /// Who began too late, if anybody.
    fn late(&self, turn: &FleetTurn) -> Option<String> {
        let late_max_ns = LATE_NS_MAX.max(turn.job_ns() / LATE_SHARE_OF_JOB);
        let latest = turn.ranks.iter().max_by_key(|timing| timing.late_ns)?;
        let late =
            || on_rank(self.fleet, latest.rank as usize, format!("began {} late", Nanos(latest.late_ns)));
        (latest.late_ns > late_max_ns).then(late)
    }
}

/// A turn and its samples from what the ranks found.
fn taken(trial: TrialIndex, slot: &Slot, found: Vec<Found>) -> (FleetTurn, Vec<Sample>) {
    let (mut samples, mut ranks) = (Vec::new(), Vec::new());
    for it in found {
        if let Found::Turn(taken, timing) = it {
            samples.extend(taken);
            ranks.push(timing);
        }
    }
    (FleetTurn { trial, round: slot.round, ranks }, samples)
}

/// Checks that ranks which share a page cache fetched all bytes from the device, together, if any
/// of them took the turn.
fn check_fetched(cache: &SharedCache, turn: &FleetTurn, samples: &[Sample]) -> Result<(), SampleError> {
    let shares = |timing: &RankTiming| cache.ranks.binary_search(&(timing.rank as usize)).is_ok();
    let took = || turn.ranks.iter().zip(samples).filter(|(timing, _)| shares(timing));
    let fetched_bytes = took().map(|(_, sample)| sample.device_read_bytes).sum::<Option<u64>>();
    let expected_bytes = cache.device_bytes.filter(|_| took().next().is_some()).map(least_fetched);
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
        // What ended is found again when a contender of these is opened.
        let _ = self.everywhere(&RankCommand::Launch(next.to_vec()));
    }

    fn open(&mut self, trial: TrialIndex) -> Result<Params, TrialEnd> {
        let found = self.everywhere(&RankCommand::Open(trial)).map_err(Ended::of_trial)?;
        match found.into_iter().next() {
            Some(Found::Params(params)) => Ok(params),
            _ => Ok(Params::default()),
        }
    }

    fn warm_up(&mut self, trial: TrialIndex) -> Result<(), TrialEnd> {
        self.everywhere(&RankCommand::WarmUp(trial)).map(drop).map_err(Ended::of_trial)
    }

    fn fill(&mut self, fill: u32) -> Result<Fill, TrialEnd> {
        let found = self.everywhere(&RankCommand::Fill(fill)).map_err(Ended::of_trial)?;
        match found.into_iter().next() {
            Some(Found::Filled(fill)) => Ok(fill),
            _ => Err(TrialEnd::Run(EndReason::RankLost)),
        }
    }

    fn turn(&mut self, trial: TrialIndex, slot: &Slot) -> Result<Vec<Sample>, SampleError> {
        self.missing.clear();
        self.compare_clocks(slot).map_err(Ended::of_turn)?;
        self.turn_in_time(trial, slot)
    }

    fn count(&mut self, trials: &[TrialIndex]) -> Vec<Result<BTreeMap<String, Count>, TrialEnd>> {
        self.member.sampler.count(trials)
    }

    fn count_again(&mut self, trials: &[TrialIndex]) -> Vec<Result<BTreeMap<String, Count>, TrialEnd>> {
        self.member.sampler.count_again(trials)
    }

    fn is_counted(&self, trial: TrialIndex) -> bool {
        self.member.sampler.is_counted(trial)
    }

    fn inspects(&self) -> bool {
        self.member.sampler.inspects()
    }

    fn inspect(&mut self, trial: TrialIndex) -> Result<Vec<Line>, EndReason> {
        self.member.sampler.inspect(trial)
    }

    fn not_inspected(&mut self, trial: TrialIndex, reason: &str) -> Vec<Line> {
        self.member.sampler.not_inspected(trial, reason)
    }

    fn refusal(&self, trial: TrialIndex) -> Option<Outcome> {
        self.refusals.get(&trial).cloned()
    }

    fn bytes(&self, trial: TrialIndex) -> Option<u64> {
        let own_bytes = u128::from(self.member.sampler.bytes(trial)?);
        let ranks = self.rank_count(trial).map_or(self.fleet.ranks.len(), |count| count as usize);
        let all_bytes: u128 =
            self.fleet.ranks.iter().take(ranks).map(|rank| u128::from(rank.size_bytes)).sum();
        let first_bytes = self.fleet.ranks.first().map_or(0, |rank| u128::from(rank.size_bytes));
        u64::try_from(own_bytes * all_bytes / first_bytes.max(1)).ok()
    }

    fn retire(&mut self, trial: TrialIndex) {
        // A trial that has no further turns is not missed on a rank that is lost.
        let _ = self.everywhere(&RankCommand::Retire(trial));
    }

    fn close(&mut self, trial: TrialIndex) {
        if self.everywhere(&RankCommand::Close(trial)).is_err() {
            self.member.sampler.close(trial);
        }
    }

    fn clean_up(&mut self) -> Result<(), CleanUpError> {
        match self.everywhere(&RankCommand::CleanUp) {
            Err(Ended::CleanUp(error)) => Err(error),
            _ => Ok(()),
        }
    }

    fn missing(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.missing)
    }

    fn notes(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.notes)
    }

    fn elapsed_ns(&self) -> u64 {
        self.member.sampler.elapsed_ns()
    }
}
