//! One row of a ranking: a measured trial with the summaries of its samples.

use super::RankingContext;
use super::pieces::Pieces;
use super::rank::Rank;
use readlab_analysis::latency::LatencySummary;
use readlab_analysis::memory::hit_share;
use readlab_analysis::stats::{
    self, FillSpread, IntervalRule, IntervalWithRule, SharedLocation, SharedRatio, Summary, float, whole,
};
use readlab_analysis::verdict::{self, Diagnosis, NoCpuTime};
use readlab_model::sample::{Meter, Sample};
use readlab_model::target::TargetFacts;
use readlab_model::trial::{COMMAND, CacheState, MethodId, Params, TrialId, TrialIndex};
use readlab_model::units::{Bytes, Nanos, Throughput};
use readlab_record::{Record, ReferenceReason, Stopped, TrialRecord, UntimedCount};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub struct RankingRow {
    pub index: TrialIndex,
    pub name: String,
    /// The name without the settings of the system and the bound on memory, which are in the
    /// heading of the ranking.
    pub id: TrialId,
    /// The shortest name that no other trial of this record has.
    pub short_name: String,
    /// The label that a suite gives the trial.
    pub label: Option<String>,
    pub method: MethodId,
    /// Whether this is a command of the user, which tables always list.
    pub is_own_command: bool,
    /// The language of the contender as tables show it, such as `Rust` or `commands`.
    pub language: String,
    /// The values of all parameters, defaults included.
    pub params: Params,
    /// The rank; `None` for a control, and for a trial that was read in one round.
    pub rank: Option<Rank>,
    /// The wall time. Its interval comes from the noise of all trials of the ranking, for a control
    /// from its own readings.
    pub wall: Summary,
    /// The rule of the interval of the wall time; `None` with one round.
    pub interval_rule: Option<IntervalRule>,
    /// The bytes that one reading delivers to all its readers together; `None` for a control, for
    /// an empty target, and if the number of bytes is not known.
    pub delivered_bytes: Option<Bytes>,
    /// The bytes divided by the median wall time.
    pub throughput: Option<Throughput>,
    /// The share of the target, from 0 to 1, that a command reads; `None` if the share is not
    /// known, and for trials other than commands whose output is not counted.
    pub share_read: Option<f64>,
    /// The encoded bytes of the target divided by the median wall time; `None` where nothing is
    /// decoded.
    pub encoded_rate: Option<Throughput>,
    /// The pieces in which the target is read; `None` for a target that is read whole.
    pub pieces: Option<Pieces>,
    /// The pieces divided by the median wall time; `None` for a target that is read whole.
    pub pieces_per_s: Option<f64>,
    /// The bytes that were read divided by the useful bytes; `None` for a target that is read
    /// whole, for several readers, and if the bytes were not measured.
    pub amplification: Option<f64>,
    /// Bytes from the device divided by the useful bytes; `None` in states other than pressed, and
    /// if the bytes were not measured.
    pub reread_ratio: Option<f64>,
    /// The share of the bytes that a reading of blocks finds in the page cache; `None` in states
    /// other than pressed, for a target that is read whole, and if the share is not known.
    pub hit_share: Option<f64>,
    /// The latencies of single reads; `None` where they were not measured.
    pub latency: Option<LatencySummary>,
    /// Every metric that at least one sample holds, the wall time included.
    pub summaries: BTreeMap<Meter, Summary>,
    pub readings: Vec<ChartReading>,
    /// Processors in use on average: CPU time divided by wall time, the median over the samples
    /// with both; `None` if the readings are too short for the clock of the CPU time.
    pub busy_processors: Option<f64>,
    /// CPU time of all threads, in user mode and in the kernel; `None` where it was not measured.
    pub cpu_time: Option<Summary>,
    /// Counts from untimed runs.
    pub counts: BTreeMap<String, UntimedCount>,
    /// The counts summarised over all runs that counted.
    pub count_summaries: BTreeMap<String, Summary>,
    /// Why a meter could not be read, by the meter's name in files.
    pub missing_reasons: BTreeMap<String, String>,
    /// How many times as fast as the reference the trial is; `None` for the reference itself, and
    /// if no round holds both trials.
    pub ratio_to_reference: Option<SharedRatio>,
    /// How much the fills of the page cache differ; `None` when cold, and with one fill.
    pub fill_spread: Option<FillSpread>,
    /// Whether a caution says that the contender did more than read, or repeated requests.
    pub is_marked: bool,
    /// Whether the run was cut short before this trial was done.
    pub is_cut_short: bool,
    /// Why the trial had no further rounds; `None` if the run was cut short.
    pub stopped: Option<Stopped>,
    /// What limits the trial, with its nearest limit and the reasons; `None` for a control.
    pub diagnosis: Option<Diagnosis>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChartReading {
    pub round: u32,
    /// Index of the fill of the page cache.
    pub fill: u32,
    pub wall_ns: u64,
}

pub(super) struct MeasuredRow<'a> {
    pub(super) row: RankingRow,
    pub(super) trial: &'a TrialRecord,
}

impl RankingRow {
    /// Whether the trial has the first rank, alone or shared.
    pub fn is_first(&self) -> bool {
        self.rank.is_some_and(|rank| rank.place == 1)
    }

    /// A quantile of single reads, such as `p99`; `None` where there are too few reads for it.
    pub fn latency_quantile(&self, name: &str) -> Option<Nanos> {
        Some(Nanos(self.latency.as_ref()?.quantile(name)?.latency_ns))
    }

    /// Sets the interval of the wall time to that of `location`, which is computed from all trials
    /// of the ranking, or for a control from its own readings. If the median of the readings is
    /// outside of the interval, the interval is extended to the median.
    pub(super) fn set_interval(&mut self, location: Option<SharedLocation>) {
        let ci95 = location.and_then(|it| it.ci95);
        self.interval_rule = ci95.map(|it| it.rule);
        let median = self.wall.median;
        let ends =
            |it: IntervalWithRule| [whole(it.ends.low).clamp(1, median), whole(it.ends.high).max(median)];
        self.wall.median_ci95 = ci95.map(ends);
        self.summaries.insert(Meter::WallNs, self.wall.clone());
    }

    /// Summarises a trial; `None` without samples.
    pub(super) fn from_trial(trial: &TrialRecord, shared: &RankingContext) -> Option<RankingRow> {
        let facts = shared.record.target_of(&trial.trial);
        let size = facts.map(|facts| Bytes(facts.size_bytes));
        let pieces = facts.and_then(|facts| Pieces::from_facts(facts, trial.trial.work));
        let busy = verdict::busy_processors(trial);
        let (summaries, missing) = summaries_and_missing(trial, busy.as_ref().err());
        let wall = summaries.get(&Meter::WallNs)?.clone();
        let by_all = |size: Bytes| Bytes(size.0.saturating_mul(trial.trial.reader_count()));
        let rate = |size: Bytes| Throughput::per(size, Nanos(wall.median));
        let is_whole = shared.record.wholly_read_target(trial).is_some();
        let bytes_out = shared.record.bytes_out(trial).map(Bytes);
        let bytes = bytes_out.filter(|size| size.0 > 0 && !trial.trial.is_control());
        let part = shared.record.part_read(trial).map(|part| part.share);
        let may_be_part = trial.trial.work.may_read_part() && !trial.trial.is_control();
        let read = bytes.filter(|_| wall.median > 0);
        let encoded = size.filter(|_| read.is_some() && trial.trial.decoded_format.is_some());
        let reading = |it: Sample| ChartReading { round: it.round, fill: it.fill, wall_ns: it.wall_ns };
        // A command whose output is only compared need not find every name.
        let finds_all = trial.trial.requested_work().finds_names() && !trial.trial.is_control();
        let counted = pieces.filter(|_| (is_whole || finds_all) && wall.median > 0);
        let amplification = facts.and_then(|facts| read_amplification(trial, facts, &summaries));
        let reread_ratio = facts.and_then(|facts| reread_ratio(trial, facts, &summaries));
        Some(RankingRow {
            index: trial.trial.index,
            name: shared.record.trial_name(&trial.trial),
            id: trial.trial.id.clone(),
            short_name: shared.names.short_name(&trial.trial),
            label: trial.trial.label.clone(),
            method: trial.trial.id.method.clone(),
            is_own_command: is_own_command(shared.record, trial),
            language: shared.languages.language_of(trial.trial.contender()).to_owned(),
            params: trial.trial.params.clone(),
            rank: None,
            interval_rule: None,
            delivered_bytes: bytes,
            throughput: read.map(rate),
            share_read: part.or((may_be_part && is_whole).then_some(1.0)),
            encoded_rate: encoded.map(|size| rate(by_all(size))),
            pieces,
            pieces_per_s: counted.map(|pieces| rate(by_all(Bytes(pieces.count()))).0),
            amplification,
            reread_ratio,
            hit_share: facts.and_then(|facts| hit_share(trial, facts)),
            latency: LatencySummary::from_turns(&trial.latencies),
            wall,
            summaries,
            readings: trial.samples.iter().map(reading).collect(),
            cpu_time: stats::summary(trial.samples.iter().filter_map(|sample| sample.cpu_observation()))
                .filter(|_| busy.is_ok()),
            busy_processors: busy.ok(),
            counts: trial.counts.clone(),
            count_summaries: trial
                .count_runs
                .iter()
                .filter_map(|(kind, runs)| Some((kind.clone(), stats::count_summary(runs)?)))
                .collect(),
            missing_reasons: missing,
            ratio_to_reference: None,
            fill_spread: stats::fill_spread(&trial.samples).filter(|_| trial.trial.state == CacheState::Warm),
            is_marked: !trial.remarks().is_empty(),
            is_cut_short: trial.outcome.is_none(),
            stopped: trial.stopped,
            diagnosis: None,
        })
    }
}

fn is_own_command(record: &Record, it: &TrialRecord) -> bool {
    let mut candidates = record.header.reference_candidates.iter();
    it.trial.contender() == COMMAND
        && candidates.any(|candidate| candidate.why == ReferenceReason::Own && candidate.trial == it.trial.id)
}

/// The bytes that were read divided by the useful bytes, for a part of a file. The bytes that were
/// read are, in the cold and the pressed state, those that the device read; in the warm state,
/// those that the calls requested, for a single range from the start of its first page; for ranges
/// from a server, those of its answers. `None` for several readers, because the bytes that one of
/// them fetched serve all.
fn read_amplification(
    trial: &TrialRecord,
    target: &TargetFacts,
    summaries: &BTreeMap<Meter, Summary>,
) -> Option<f64> {
    let is_part = target.blocks().is_some() || target.range.is_some();
    let meter = match trial.trial.state {
        _ if target.ranges.is_some() && target.http().is_some() => Meter::ReadBytes,
        CacheState::Cold | CacheState::Pressed => Meter::DeviceReadBytes,
        CacheState::Warm | CacheState::Unknown => Meter::ReadBytes,
    };
    let is_single =
        target.concurrent_readers().is_none_or(|readers| readers == 1) && !trial.trial.is_control();
    if !is_part || !is_single || target.useful_bytes() == 0 {
        return None;
    }
    let of_page = || {
        let begins_within_page = target.range.is_some_and(|range| range.before_bytes > 0);
        (meter == Meter::ReadBytes && begins_within_page).then_some(target.size_bytes)
    };
    let read_bytes = summaries.get(&meter).map(|read| read.median).or_else(of_page)?;
    Some(float(read_bytes) / float(target.useful_bytes()))
}

/// Bytes from the device divided by the bytes that a pressed reading needs.
fn reread_ratio(
    trial: &TrialRecord,
    target: &TargetFacts,
    summaries: &BTreeMap<Meter, Summary>,
) -> Option<f64> {
    let is_read = trial.trial.state == CacheState::Pressed && !trial.trial.is_control();
    let read = summaries.get(&Meter::DeviceReadBytes).filter(|_| is_read && target.useful_bytes() > 0)?;
    Some(float(read.median) / float(target.useful_bytes()))
}

/// The summary of each metric, and why other metrics are missing. CPU times are also missing if the
/// readings are too short for the clock of the CPU time.
fn summaries_and_missing(
    trial: &TrialRecord,
    no_cpu: Option<&NoCpuTime>,
) -> (BTreeMap<Meter, Summary>, BTreeMap<String, String>) {
    let mut missing = trial.missing_meters.clone();
    let mut metrics = Meter::summarised().collect::<Vec<_>>();
    if let Some(why @ NoCpuTime::BelowResolution { .. }) = no_cpu {
        let of_cpu = [Meter::CpuUserNs, Meter::CpuSystemNs];
        metrics.retain(|metric| !of_cpu.contains(metric));
        missing.extend(of_cpu.map(|metric| (metric.name().to_owned(), why.to_string())));
    }
    let summarise = |metric| {
        let readings = trial.samples.iter().filter_map(|sample| sample.observation(metric));
        Some((metric, stats::summary(readings)?))
    };
    (metrics.into_iter().filter_map(summarise).collect(), missing)
}
