//! How the rate of a method grows with the ranks of a fleet or the readers of one host: the
//! measured rates, the law fitted to them, the law's prediction up to twice as many, and the number
//! beyond which more ranks or readers add nothing.
//!
//! What limits the method follows from the growth of the rate and from how busy the processors are.
//! Three cases are distinguished. The processors limit if all reading threads work or wait for a
//! processor all the time. A shared resource limits if twice as many hosts reach no higher rate. A
//! resource of each host limits if twice as many reach twice the rate with idle processors. Each
//! case is reported only if a whole 95 % interval over rounds supports it.

use crate::noise::SharedNoise;
use crate::rounds::{interval_of_mean, median_walls_ns};
use crate::stats::{FittedLaw, Interval, IntervalRule, Observation, float, median};
use readlab_model::sample::Sample;
use readlab_model::target::memory::MemoryBound;
use readlab_model::trial::{CacheState, TrialId, TrialIndex};
use readlab_record::{Record, TrialRecord};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The law is extrapolated up to this many times the largest measured number of ranks.
const EXTRAPOLATION_TIMES_MAX: u64 = 2;

/// A rate that becomes at most this many times as high gains nothing. The rate is saturated at a
/// number of readers if no greater number of readers gains anything.
const NO_GAIN_TIMES_MAX: f64 = 1.05;

/// What is counted along the horizontal axis of a scaling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Rank,
    /// Processes on one host.
    Reader,
}

readlab_model::worded! { Unit { Rank = "rank", Reader = "reader" } }

impl Unit {
    pub fn plural(self) -> &'static str {
        match self {
            Unit::Rank => "ranks",
            Unit::Reader => "readers",
        }
    }
}

/// The rates of one method with different numbers of ranks or readers.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// The name that the trials with different numbers of ranks share.
    pub id: TrialId,
    pub state: CacheState,
    pub unit: Unit,
    /// The bound on memory of each reader; `None` if there is none.
    pub memory_bound: Option<MemoryBound>,
    /// The measured points, by rising number.
    pub points: Vec<ScalingPoint>,
    /// The fitted law; `None` with too few points or rounds.
    pub law: Option<FittedLaw>,
    /// What limits the method; `None` if no measured number of ranks is at most half of the
    /// largest, or with too few rounds.
    pub limit: Option<ScalingLimit>,
    /// The smallest number of ranks for which the whole interval excludes that any greater number
    /// adds more than 5 %; `None` if there is none.
    pub saturation_count: Option<u64>,
}

// The rate that one number of ranks or readers reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ScalingPoint {
    pub count: u64,
    // The median over rounds.
    /// The rate of all ranks or readers together.
    #[serde(rename = "bytes_per_second")]
    pub rate: f64,
    // `None` with a single round.
    #[serde(rename = "ci95", serialize_with = "Interval::serialize_ends")]
    #[schemars(with = "Option<[f64; 2]>")]
    pub interval: Option<Interval>,
    #[serde(rename = "interval")]
    pub rule: Option<IntervalRule>,
}

/// The rate that the law predicts for a number of ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LawPoint {
    pub count: u64,
    /// The predicted rate in bytes per second.
    pub rate: f64,
    /// The interval of the predicted rate.
    pub interval: Interval,
}

impl Scaling {
    /// The scaling of every method that was measured with at least two numbers of ranks or readers.
    pub fn all(record: &Record) -> Vec<Scaling> {
        let mut cells = BTreeMap::<(CacheState, Option<MemoryBound>, usize), Vec<&TrialRecord>>::new();
        let mut ids = Vec::<&TrialId>::new();
        let scaled = record
            .trials
            .iter()
            .filter(|it| concurrent_readers_of(record, it).is_some() && !it.trial.is_control());
        for it in scaled.filter(|it| it.is_accepted()) {
            let place = ids.iter().position(|other| **other == it.trial.id).unwrap_or(ids.len());
            if place == ids.len() {
                ids.push(&it.trial.id);
            }
            cells.entry((it.trial.state, memory_bound_of(record, it), place)).or_default().push(it);
        }
        let noise = noise_by_state(record, cells.values().flatten());
        let several = cells.into_iter().filter(|(_, cells)| cells.len() > 1);
        several.map(|((state, ..), cells)| Scaling::from_cells(record, cells, &noise[&state])).collect()
    }

    /// Makes the scaling of one method from its trials in one state.
    fn from_cells(record: &Record, mut cells: Vec<&TrialRecord>, noise: &SharedNoise) -> Scaling {
        let count = |it: &TrialRecord| concurrent_readers_of(record, it).unwrap_or(1);
        cells.sort_by_key(|it| count(it));
        let by_round: Vec<BTreeMap<u32, f64>> = cells.iter().map(|it| rates_by_round(record, it)).collect();
        let point = |(it, rates): (&&TrialRecord, &BTreeMap<u32, f64>)| {
            let rate = median(rates.values().copied())?;
            let location = noise.location(it.trial.index).and_then(|it| it.ci95);
            let (interval, rule) = (location.map(|it| it.ends), location.map(|it| it.rule));
            Some(ScalingPoint { count: count(it), rate, interval, rule })
        };
        let points: Vec<ScalingPoint> = cells.iter().zip(&by_round).filter_map(point).collect();
        let whole = |round: &u32| by_round.iter().map(|rates| rates.get(round).copied()).collect();
        let rounds: Vec<Vec<f64>> =
            by_round.first().into_iter().flat_map(BTreeMap::keys).filter_map(whole).collect();
        let counts: Vec<f64> = cells.iter().map(|it| float(count(it))).collect();
        let limit = find_limit(record, &cells, noise);
        Scaling {
            id: cells[0].trial.id.clone(),
            state: cells[0].trial.state,
            unit: if record.fleet.is_some() { Unit::Rank } else { Unit::Reader },
            memory_bound: memory_bound_of(record, cells[0]),
            points,
            law: FittedLaw::fit(&counts, &rounds, record.header.seed),
            limit,
            saturation_count: saturation_index(&cells, noise).map(|at| count(cells[at])),
        }
    }

    /// The largest number of ranks up to which the law is extrapolated.
    pub fn largest_predicted_count(&self) -> Option<u64> {
        Some(self.points.last()?.count * EXTRAPOLATION_TIMES_MAX)
    }

    /// The law at a number of ranks; `None` without a law.
    pub fn law_at(&self, count: u64) -> Option<LawPoint> {
        let law = self.law.as_ref()?;
        let (rate, interval) = (law.law.at(float(count)), law.rate_interval(float(count)));
        Some(LawPoint { count, rate, interval })
    }

    /// Points of the law from one rank up to the largest predicted number of ranks, about `most`
    /// points.
    pub fn law_points(&self, most: u64) -> Vec<LawPoint> {
        let Some(last) = self.largest_predicted_count() else { return Vec::new() };
        let step = usize::try_from(last.div_ceil(most.max(1)).max(1)).unwrap_or(usize::MAX);
        let inner = (1..last).step_by(step);
        inner.chain([last]).filter_map(|count| self.law_at(count)).collect()
    }

    /// The gain from the smallest to the largest measured number of ranks or readers; `None`
    /// without points.
    pub fn gain(&self) -> Option<Gain> {
        let (first, last) = (self.points.first()?, self.points.last()?);
        let factor = last.rate / first.rate;
        Some(Gain {
            from_count: first.count,
            to_count: last.count,
            factor,
            share_of_perfect: factor / (float(last.count) / float(first.count)),
        })
    }
}

/// The gain in rate from the smallest to the largest measured number of ranks or readers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// The smallest number of ranks or readers that was measured.
    pub from_count: u64,
    /// The largest number of ranks or readers that was measured.
    pub to_count: u64,
    /// The rate of `to_count` ranks divided by that of `from_count` ranks.
    pub factor: f64,
    /// The factor as a share of perfect scaling.
    pub share_of_perfect: f64,
}

/// The rate of a trial in bytes per second, by round.
fn rates_by_round(record: &Record, it: &TrialRecord) -> BTreeMap<u32, f64> {
    let target = record.wholly_read_target(it).filter(|facts| it.trial.is_delivery_known(facts));
    let bytes = target.map_or(0, |facts| it.trial.bytes_out(facts));
    let rates = median_walls_ns(it).into_iter().map(|(round, wall_ns)| (round, float(bytes) * 1e9 / wall_ns));
    rates.filter(|(_, rate)| *rate > 0.0).collect()
}

fn noise_by_state<'a>(
    record: &Record,
    cells: impl Iterator<Item = &'a &'a TrialRecord>,
) -> BTreeMap<CacheState, SharedNoise> {
    let mut by_state = BTreeMap::<CacheState, Vec<(TrialIndex, Vec<Observation>)>>::new();
    // Rounds are independent of each other like fills of the page cache, so each round counts as a
    // fill.
    let observation = |(round, value): (u32, f64)| Observation { value, round, fill: round };
    for it in cells {
        let observed = rates_by_round(record, it).into_iter().map(observation).collect();
        by_state.entry(it.trial.state).or_default().push((it.trial.index, observed));
    }
    let noise = |(state, trials)| (state, SharedNoise::of_record(record, trials));
    by_state.into_iter().map(noise).collect()
}

/// The rate of `more` divided by that of `one`, within rounds; `None` with a single round.
fn rate_ratio(noise: &SharedNoise, one: &TrialRecord, more: &TrialRecord) -> Option<Interval> {
    // [`SharedNoise::ratio`] divides the reference's time by the trial's; these numbers are rates,
    // so `more` is the reference.
    Some(noise.ratio(one.trial.index, more.trial.index)?.ci95?.ends)
}

/// The index of the smallest number of ranks such that no greater number of ranks is faster,
/// compared within rounds.
fn saturation_index(cells: &[&TrialRecord], noise: &SharedNoise) -> Option<usize> {
    let adds_nothing = |one: &TrialRecord, more: &TrialRecord| {
        rate_ratio(noise, one, more).is_some_and(|gain| gain.high <= NO_GAIN_TIMES_MAX)
    };
    let last = cells.len().checked_sub(1)?;
    (0..last).find(|&at| cells[at + 1..].iter().all(|more| adds_nothing(cells[at], more)))
}

/// Number of ranks or readers of a trial, in a record that measures different numbers.
pub(crate) fn concurrent_readers_of(record: &Record, it: &TrialRecord) -> Option<u64> {
    record.target_of(&it.trial)?.concurrent_readers().map(u64::from)
}

/// The bound on memory under which a trial is read; `None` if there is none.
pub(crate) fn memory_bound_of(record: &Record, it: &TrialRecord) -> Option<MemoryBound> {
    record.target_of(&it.trial)?.memory_bound.as_ref().map(|memory| memory.bound)
}

/// A processor that works for at least this share of the time counts as busy all the time.
const BUSY_SHARE_MIN: f64 = 0.85;

/// Growth below this part of perfect growth counts as no growth.
const GROWTH_NONE_SHARE_MAX: f64 = 0.15;

/// Growth above this part of perfect growth rules out a shared limit.
const GROWTH_PERFECT_SHARE_MIN: f64 = 0.85;

/// What limits a method that several hosts or readers run at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScalingLimit {
    /// The processors of each host, with the share of the time for which each reading thread works
    /// or waits for a processor.
    Processors(Interval),
    /// A resource that the hosts share: the server, the store, or the network to it.
    Shared(Growth),
    /// A resource of each host, such as its link, or the latency of each answer.
    EachHost(Growth),
    /// The intervals do not decide.
    Undecided(Growth),
}

/// The growth of the rate with the number of ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// The largest number of ranks or readers that was measured.
    pub to_count: u64,
    /// The largest number that is at most half of `to_count`.
    pub from_count: u64,
    /// The rate of `to_count` ranks divided by that of `from_count` ranks.
    pub factor: Interval,
}

impl Growth {
    /// The growth as a part of perfect growth, from 0 to 1.
    fn share_of_perfect(&self) -> Interval {
        let best = float(self.to_count) / float(self.from_count) - 1.0;
        self.factor.map(|factor| (factor - 1.0) / best)
    }
}

/// What limits one method, from its trials in order of their numbers of ranks; `None` with too few
/// trials or rounds.
fn find_limit(record: &Record, cells: &[&TrialRecord], noise: &SharedNoise) -> Option<ScalingLimit> {
    let ranks = |at: usize| concurrent_readers_of(record, cells[at]).unwrap_or(1);
    let last = cells.len().checked_sub(1)?;
    let half = (0..last).rev().find(|&at| ranks(at) * 2 <= ranks(last))?;
    let factor = rate_ratio(noise, cells[half], cells[last])?;
    let growth = Growth { to_count: ranks(last), from_count: ranks(half), factor };
    let busy = interval_of_mean(&busy_shares(cells[last], ranks(last)));
    if let Some(busy) = busy.filter(|it| it.low >= BUSY_SHARE_MIN) {
        return Some(ScalingLimit::Processors(busy));
    }
    let part = growth.share_of_perfect();
    Some(match busy {
        Some(_) if part.high <= GROWTH_NONE_SHARE_MAX => ScalingLimit::Shared(growth),
        Some(busy) if part.low >= GROWTH_PERFECT_SHARE_MIN && busy.high < BUSY_SHARE_MIN => {
            ScalingLimit::EachHost(growth)
        }
        _ => ScalingLimit::Undecided(growth),
    })
}

/// For each reading, the share of the time for which the reading threads of all ranks worked or
/// waited for a processor.
fn busy_shares(it: &TrialRecord, ranks: u64) -> Vec<f64> {
    let workers = float(it.trial.thread_count().saturating_mul(ranks).max(1));
    let share = |sample: Sample| {
        let cpu_ns = sample.cpu_user_ns?.saturating_add(sample.cpu_system_ns?);
        let cpu_ns = cpu_ns.saturating_add(sample.turn.delayed_ns.unwrap_or(0));
        Some(float(cpu_ns) / (float(sample.wall_ns.max(1)) * workers))
    };
    it.samples.iter().filter_map(share).collect()
}
