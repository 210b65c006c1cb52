//! How the rate of a way of reading grows with those that read at the same time, the ranks of a
//! fleet or the readers of one host: what was measured, the law that fits it, what that says about
//! up to twice as many, and from how many on more add nothing.

mod limited;

use crate::noise::SharedNoise;
use crate::rounds::walls_ns;
use crate::stats::{FittedLaw, Interval, IntervalRule, Observation, float, median};
use limited::limited;
pub use limited::{Growth, Limited};
use readlab_model::trial::{CacheState, TrialId, TrialIndex};
use readlab_record::{Record, TrialRecord};
use std::collections::BTreeMap;

/// The law is followed up to so many times the most ranks that were measured.
const BEYOND_MOST: u64 = 2;

/// As much more as this is no gain: beyond a number of readers that all others exceed by less, the
/// rate is saturated.
const GAIN_NONE: f64 = 1.05;

/// Who reads together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The ranks of a fleet.
    Rank,
    /// Processes on one host.
    Reader,
}

impl Unit {
    pub fn word(self) -> &'static str {
        match self {
            Unit::Rank => "rank",
            Unit::Reader => "reader",
        }
    }

    /// The word for several.
    pub fn plural(self) -> &'static str {
        match self {
            Unit::Rank => "ranks",
            Unit::Reader => "readers",
        }
    }
}

/// One way of reading by different numbers of ranks or readers.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// The trial, of which there is one for each number of ranks.
    pub id: TrialId,
    pub state: CacheState,
    pub unit: Unit,
    /// By number, rising.
    pub points: Vec<ScalingPoint>,
    /// The law; `None` where there are too few numbers or rounds for one.
    pub law: Option<FittedLaw>,
    /// What limits it; `None` without twice as many ranks as others, or with too few rounds.
    pub limited: Option<Limited>,
    /// The least number to which no greater one adds more than 5 %, by its whole interval; `None`
    /// where that is not so.
    pub saturated_at: Option<u64>,
}

/// A number of ranks or readers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalingPoint {
    pub count: u64,
    /// Bytes per second of all together: the median over rounds.
    pub rate: f64,
    /// Its 95 % interval; `None` with a single round.
    pub interval: Option<Interval>,
    /// By which rule that was made.
    pub rule: Option<IntervalRule>,
}

/// What the law says of a number of ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LawPoint {
    pub count: u64,
    /// Bytes per second.
    pub rate: f64,
    /// Where the rate lies.
    pub interval: Interval,
}

impl Scaling {
    /// Every way of reading that was measured with at least two numbers of ranks.
    pub fn all(record: &Record) -> Vec<Scaling> {
        let mut cells = BTreeMap::<(CacheState, usize), Vec<&TrialRecord>>::new();
        let mut ids = Vec::<&TrialId>::new();
        let scaled =
            record.trials.iter().filter(|it| count_of(record, it).is_some() && !it.trial.is_control());
        for it in scaled.filter(|it| it.is_accepted()) {
            let place = ids.iter().position(|other| **other == it.trial.id).unwrap_or(ids.len());
            if place == ids.len() {
                ids.push(&it.trial.id);
            }
            cells.entry((it.trial.state, place)).or_default().push(it);
        }
        let noise = noise_by_state(record, cells.values().flatten());
        let several = cells.into_iter().filter(|(_, cells)| cells.len() > 1);
        several.map(|((state, _), cells)| Scaling::from_cells(record, cells, &noise[&state])).collect()
    }

    /// From the trials of one way of reading in one state.
    fn from_cells(record: &Record, mut cells: Vec<&TrialRecord>, noise: &SharedNoise) -> Scaling {
        let count = |it: &TrialRecord| count_of(record, it).unwrap_or(1);
        cells.sort_by_key(|it| count(it));
        let by_round: Vec<BTreeMap<u32, f64>> = cells.iter().map(|it| rates(record, it)).collect();
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
        let limited = limited(record, &cells, noise);
        Scaling {
            id: cells[0].trial.id.clone(),
            state: cells[0].trial.state,
            unit: if record.fleet.is_some() { Unit::Rank } else { Unit::Reader },
            points,
            law: FittedLaw::fit(&counts, &rounds, record.header.seed),
            limited,
            saturated_at: saturated_at(&cells, noise).map(|at| count(cells[at])),
        }
    }

    /// The most ranks up to which the law is followed.
    pub fn farthest(&self) -> Option<u64> {
        Some(self.points.last()?.count * BEYOND_MOST)
    }

    /// The law at a number of ranks; `None` without a law.
    pub fn law_at(&self, count: u64) -> Option<LawPoint> {
        let law = self.law.as_ref()?;
        let (rate, interval) = (law.law.at(float(count)), law.rate_interval(float(count)));
        Some(LawPoint { count, rate, interval })
    }

    /// The law from one rank as far as it is followed, at most about so many points.
    pub fn law_points(&self, most: u64) -> Vec<LawPoint> {
        let Some(last) = self.farthest() else { return Vec::new() };
        let step = usize::try_from(last.div_ceil(most.max(1)).max(1)).unwrap_or(usize::MAX);
        let inner = (1..last).step_by(step);
        inner.chain([last]).filter_map(|count| self.law_at(count)).collect()
    }

    /// The rate of the most ranks over that of the fewest, and over as much as perfect scaling
    /// gives; `None` without two points.
    pub fn gain(&self) -> Option<Gain> {
        let (first, last) = (self.points.first()?, self.points.last()?);
        let factor = last.rate / first.rate;
        Some(Gain {
            from: first.count,
            to: last.count,
            factor,
            of_perfect: factor / (float(last.count) / float(first.count)),
        })
    }
}

/// What more ranks gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    pub from: u64,
    pub to: u64,
    /// How many times the rate.
    pub factor: f64,
    /// The share of what as many times the ranks would give at best.
    pub of_perfect: f64,
}

/// Rates in bytes per second by round.
fn rates(record: &Record, it: &TrialRecord) -> BTreeMap<u32, f64> {
    let bytes = record.read_whole(it).map_or(0, |facts| it.trial.bytes_out(facts));
    let rates = walls_ns(it).into_iter().map(|(round, wall_ns)| (round, float(bytes) * 1e9 / wall_ns));
    rates.filter(|(_, rate)| *rate > 0.0).collect()
}

/// The noise that all that was measured in one state show together, by the rates of their rounds.
fn noise_by_state<'a>(
    record: &Record,
    cells: impl Iterator<Item = &'a &'a TrialRecord>,
) -> BTreeMap<CacheState, SharedNoise> {
    let mut by_state = BTreeMap::<CacheState, Vec<(TrialIndex, Vec<Observation>)>>::new();
    // Rounds are independent, as fills are.
    let observation = |(round, value): (u32, f64)| Observation { value, round, fill: round };
    for it in cells {
        let observed = rates(record, it).into_iter().map(observation).collect();
        by_state.entry(it.trial.state).or_default().push((it.trial.index, observed));
    }
    by_state.into_iter().map(|(state, trials)| (state, SharedNoise::new(trials))).collect()
}

/// How many times the rate of one another has, within rounds; `None` with a single round.
fn gain(noise: &SharedNoise, one: &TrialRecord, more: &TrialRecord) -> Option<Interval> {
    // The ratio is that of the reference's number to the trial's.
    Some(noise.ratio(one.trial.index, more.trial.index)?.ci95?.ends)
}

/// The place of the least number to which no greater one adds anything, by the rates of each in the
/// same rounds.
fn saturated_at(cells: &[&TrialRecord], noise: &SharedNoise) -> Option<usize> {
    let adds_nothing = |one: &TrialRecord, more: &TrialRecord| {
        gain(noise, one, more).is_some_and(|gain| gain.high <= GAIN_NONE)
    };
    let last = cells.len().checked_sub(1)?;
    (0..last).find(|&at| cells[at + 1..].iter().all(|more| adds_nothing(cells[at], more)))
}

/// How many read together for a trial, where different numbers do by turns.
pub(crate) fn count_of(record: &Record, it: &TrialRecord) -> Option<u64> {
    record.targets.get(it.trial.target)?.together().map(u64::from)
}
