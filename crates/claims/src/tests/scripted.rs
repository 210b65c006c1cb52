//! Scripted records of suites: the numbers of the trials are computed from the expression and the
//! bounds of a claim.

use super::super::figures::{DRIVE_NAME, Dataset, with_rate_metric};
use super::super::machines;
use super::super::*;
use readlab_analysis::compare::Measure;
use readlab_model::sample::Sample;
use readlab_model::target::memory::{MemoryBound, MemoryFacts};
use readlab_model::target::{TargetFacts, TargetIndex};
use readlab_model::trial::{CacheState, TrialId, TrialIndex, Work};
use readlab_protocol::Cache;
use readlab_record::{Header, Limit, LimitKind, LimitUnit, Line, Outcome, Record, RunKind, Trial, testing};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Holds,
    Fails,
    /// Numbers scatter around a bound.
    Noisy,
    /// The numbers of [`Script::Holds`], with one reading of each trial.
    OneRound,
    /// The numbers of [`Script::Holds`], with three readings of each trial.
    ThreeRounds,
}

impl Script {
    /// Chooses a value by the answer that the script's records give to a claim.
    pub(super) fn choose<T>(self, holds: T, fails: T, noisy: T) -> T {
        match self {
            Script::Holds | Script::OneRound | Script::ThreeRounds => holds,
            Script::Fails => fails,
            Script::Noisy => noisy,
        }
    }
}

/// The file size in the publication on byte streams.
const SIZE_BYTES: u64 = 134_217_728;

const MACHINE_GHZ: f64 = 4.3;

type TrialKey = (String, CacheState, Option<MemoryBound>);

#[derive(Debug, Default)]
struct Numbers(BTreeMap<TrialKey, BTreeMap<Metric, f64>>);

fn trial_key(quantity: &Quantity) -> TrialKey {
    (quantity.trial.clone(), quantity.state.unwrap_or(CacheState::Warm), quantity.memory)
}

impl Numbers {
    fn get(&self, of: &Quantity) -> Option<f64> {
        if of.metric == Metric::Size {
            return Some(SIZE_BYTES as f64);
        }
        self.0.get(&trial_key(of))?.get(&of.metric).copied()
    }

    fn set(&mut self, of: &Quantity, value: f64) {
        self.0.entry(trial_key(of)).or_default().insert(of.metric, value);
    }

    /// Sets the numbers of both quantities of a pair; one of them may be set already.
    fn set_pair(&mut self, pair: &Pair, up: impl Fn(f64) -> f64, down: impl Fn(f64) -> f64) {
        match (self.get(&pair.quantity), self.get(&pair.reference)) {
            (Some(of), None) => self.set(&pair.reference, down(of)),
            (_, to) => {
                let to = to.unwrap_or(1e9);
                self.set(&pair.reference, to);
                self.set(&pair.quantity, up(to));
            }
        }
    }
}

/// A number for which a claim with these bounds has the answer of the script.
pub(super) fn number_for(bounds: &Bounds, script: Script) -> f64 {
    match (script, bounds.at_least, bounds.at_most) {
        (_, None, None) => 1.0,
        (Script::Fails, _, Some(high)) => high * 2.0,
        (Script::Fails, Some(low), None) => low * 0.5,
        (Script::Noisy, Some(bound), _) | (Script::Noisy, None, Some(bound)) => bound,
        (_, Some(low), Some(high)) => f64::midpoint(low, high),
        (_, Some(low), None) => low * 1.5,
        (_, None, Some(high)) => high * 0.5,
    }
}

fn numbers(file: &ClaimsFile, claim: &Claim, script: Script) -> Numbers {
    let mut numbers = Numbers::default();
    let value = number_for(&claim.bounds, script);
    let published = || Dataset::of_publication(file.tables_name.as_deref().unwrap());
    match &claim.expression {
        Expression::Ratio { pairs, .. } => {
            pairs.iter().for_each(|pair| numbers.set_pair(pair, |to| to * value, |of| of / value));
        }
        Expression::Difference(pairs) => {
            pairs.iter().for_each(|pair| numbers.set_pair(pair, |to| to + value, |of| of - value));
        }
        Expression::Value(all) => all.iter().for_each(|it| numbers.set(it, value)),
        Expression::Order(all) => {
            for (nth, it) in (0..).zip(all) {
                numbers.set(it, 1e9 * order_factor(script).powi(nth));
            }
        }
        Expression::SameOrder(all) => {
            for it in all {
                let own = published()[0].operand(it).unwrap().estimate().value;
                // Noisy numbers are all equal: the factor is 1, and its logarithm 0.
                numbers.set(it, 1e9 * (own / 1e9).powf(order_factor(script).ln()));
            }
        }
        Expression::Machines { trials, reference_machine, .. } => {
            for it in trials {
                let own = machines::machine_named(&published(), reference_machine)
                    .unwrap()
                    .operand(it)
                    .unwrap()
                    .estimate()
                    .value;
                numbers.set(it, own * value);
            }
        }
        Expression::Slope { quantity, fact, factor_max } => {
            let line = machines::fitted_line(&published(), quantity, fact).unwrap().line;
            let off = script.choose(1.0, factor_max * 2.0, *factor_max);
            numbers.set(&with_rate_metric(quantity), 1e9 / (line.at(MACHINE_GHZ) * off));
        }
    }
    numbers
}

/// The factor between successive trials of an order.
fn order_factor(script: Script) -> f64 {
    script.choose(1.5, 1.0 / 1.5, 1.0)
}

/// A record with the numbers that a claim needs.
pub(super) fn record(file: &ClaimsFile, claim: &Claim, script: Script) -> Record {
    let mut header = Header { kind: RunKind::Suite, ..testing::header() };
    header.machine.max_turbo_ghz = Some(MACHINE_GHZ);
    header.machine.cpu_model = Some("11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz".into());
    let mut record = Record::new(header);
    record.add(testing::target_line_of_size(0, SIZE_BYTES));
    let numbers = numbers(file, claim, script).0;
    let bounds: BTreeSet<MemoryBound> = numbers.keys().filter_map(|(.., bound)| *bound).collect();
    for (target, &bound) in (1..).zip(&bounds) {
        let cache_bytes = bound.in_bytes(SIZE_BYTES);
        let memory = MemoryFacts { bound, cache_bytes, working_set_bytes: SIZE_BYTES, is_shared: false };
        let facts = TargetFacts { memory_bound: Some(memory), ..record.targets[TargetIndex::new(0)].clone() };
        record.add(testing::target_line(target, facts));
    }
    // Only the first number of a pair is noisy: noise in both would cancel out within rounds.
    let subjects: Vec<TrialKey> = match &claim.expression {
        Expression::Ratio { pairs, .. } | Expression::Difference(pairs) => {
            pairs.iter().map(|pair| trial_key(&pair.quantity)).collect()
        }
        other => other.quantities().into_iter().map(trial_key).collect(),
    };
    for (index, (place, metrics)) in numbers.into_iter().enumerate() {
        let rounds = match script {
            Script::OneRound => 1,
            Script::ThreeRounds => 3,
            _ => 12,
        };
        if place.0 == DRIVE_NAME {
            record.add(Line::Limit(Box::new(limit(metrics[&Metric::Measure(Measure::Rate)]))));
            continue;
        }
        let bounded = place.2.and_then(|bound| bounds.iter().position(|it| *it == bound));
        let trial =
            Trial { target: TargetIndex::new(bounded.map_or(0, |at| at + 1)), ..trial(index, &place) };
        let bytes = SIZE_BYTES * trial.reader_count();
        record.add(Line::Trial(Box::new(trial)));
        let noise = if script == Script::Noisy && subjects.contains(&place) { 0.2 } else { 0.001 };
        for round in 0..rounds {
            let turned = (round as usize + index * (1 + usize::from(round % 3 == 0))).is_multiple_of(2);
            let factor = if turned { 1.0 + noise } else { 1.0 / (1.0 + noise) };
            record.add(Line::Sample(Box::new(Sample {
                trial: TrialIndex::new(index),
                round,
                fill: round,
                ..sample(bytes, &metrics, factor)
            })));
        }
        testing::add_outcome(&mut record, index, Outcome::Measured);
    }
    record
}

fn trial(index: usize, (name, state, _): &TrialKey) -> Trial {
    let is_name = !name.contains(' ') && name.parse::<TrialId>().is_ok();
    let id = if is_name { name.clone() } else { format!("any/trial-{index}") };
    let Line::Trial(trial) = testing::trial_line(index, &id, *state, Cache::Through) else {
        unreachable!("a trial is a line of a trial")
    };
    Trial { label: (!is_name).then(|| name.clone()), work: Work::Sum, ..*trial }
}

fn sample(bytes: u64, metrics: &BTreeMap<Metric, f64>, factor: f64) -> Sample {
    let number = |measure| metrics.get(&Metric::Measure(measure)).map(|value| value * factor);
    let whole = |value: f64| value.round() as u64;
    let of_rate = number(Measure::Rate).map(|rate| bytes as f64 * 1e9 / rate);
    Sample {
        turn_readings: 1,
        // If a trial also has another number, such as its CPU time, only that number is noisy, and
        // not the wall time by which it is divided.
        wall_ns: match (of_rate, metrics.get(&Metric::WALL), metrics.len()) {
            (Some(wall), ..) => whole(wall),
            (None, Some(wall), 1) => whole(wall * factor),
            (None, Some(wall), _) => whole(*wall),
            (None, None, _) => 1_000_000_000,
        },
        cpu_user_ns: number(Measure::Cpu).map(whole),
        cpu_system_ns: Some(0),
        peak_rss_bytes: number(Measure::Peak).map(whole),
        device_read_bytes: number(Measure::Device).map(whole),
        ..Sample::default()
    }
}

fn limit(rate: f64) -> Limit {
    Limit {
        kind: LimitKind::Device,
        name: "fio".into(),
        target: TargetIndex::new(0),
        state: None,
        trial: None,
        threads: 1,
        unit: LimitUnit::BytesPerSecond,
        value: rate as u64,
        ci95: Some([rate as u64, rate as u64]),
        samples: Vec::new(),
        how_measured: String::new(),
    }
}
