//! How several readers of one host share the throughput: whether all get an equal share, and how
//! much slower one reader is than a reader alone.
//!
//! Fairness is Jain's index, (Σx)² / (n·Σx²) of the rates x: 1 if all are equal, 1/n if one reader
//! gets everything (R. Jain, D. Chiu and W. Hawe, DEC-TR-301, 1984).

use super::rounds::Estimate;
use super::scaling::{concurrent_readers_of, memory_bound_of};
use super::stats::{count_as_float, float, median};
use readlab_record::{ReaderTiming, Record, TrialRecord};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReaderShares<'a> {
    pub trial: &'a TrialRecord,
    /// Number of readers that read at the same time.
    pub count: u64,
    /// Bytes per second of one reader, by its own clock: the median over all readers.
    pub rate_per_reader: f64,
    /// Fairness of the shares: the mean of Jain's index over rounds.
    pub fairness: Estimate,
    /// The rate of one of the readers divided by that of a reader alone, in the same rounds; `None`
    /// where no reader was measured alone, and for the reader alone itself.
    pub ratio_to_alone: Option<Estimate>,
}

pub fn reader_shares(record: &Record) -> Vec<ReaderShares<'_>> {
    let timed = || {
        record
            .trials
            .iter()
            .filter(|it| it.is_measured() && !it.trial.is_control() && !it.readers_turns.is_empty())
    };
    let alone = |it: &TrialRecord| {
        let is_it = |other: &&TrialRecord| {
            let same = (&other.trial.id, other.trial.state) == (&it.trial.id, it.trial.state);
            same && memory_bound_of(record, other) == memory_bound_of(record, it)
                && concurrent_readers_of(record, other) == Some(1)
        };
        timed().find(is_it).map(|alone| rates_by_round(record, alone))
    };
    timed().filter_map(|it| ReaderShares::from_trial(record, it, alone(it).as_ref())).collect()
}

impl<'a> ReaderShares<'a> {
    fn from_trial(
        record: &Record,
        trial: &'a TrialRecord,
        alone: Option<&BTreeMap<u32, Vec<f64>>>,
    ) -> Option<ReaderShares<'a>> {
        let (count, rounds) = (concurrent_readers_of(record, trial)?, rates_by_round(record, trial));
        let rate_per_reader = median(rounds.values().flatten().copied())?;
        let fairness = Estimate::mean(&rounds.values().map(|rates| fairness(rates)).collect::<Vec<_>>())?;
        let ratio_to_alone = alone.filter(|_| count > 1).and_then(|alone| {
            let of_round = |(round, rates): (&u32, &Vec<f64>)| {
                let one = median(alone.get(round)?.iter().copied())?;
                Some((median(rates.iter().copied())? / one).ln())
            };
            let logs: Vec<f64> = rounds.iter().filter_map(of_round).collect();
            Some(Estimate::mean(&logs)?.map(f64::exp))
        });
        Some(ReaderShares { trial, count, rate_per_reader, fairness, ratio_to_alone })
    }
}

fn rates_by_round(record: &Record, it: &TrialRecord) -> BTreeMap<u32, Vec<f64>> {
    let whole = record.wholly_read_target(it);
    let all = whole.map_or(0, |facts| it.trial.bytes_out(facts));
    let bytes = all / concurrent_readers_of(record, it).unwrap_or(1).max(1);
    let rate = |timing: &ReaderTiming| float(bytes) * 1e9 / float(timing.wall_ns.max(1));
    let mut rounds = BTreeMap::<u32, Vec<f64>>::new();
    for turn in &it.readers_turns {
        rounds.entry(turn.round).or_default().extend(turn.readers.iter().map(rate));
    }
    rounds
}

/// Jain's index of fairness of these rates.
fn fairness(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares > 0.0 { sum * sum / (count_as_float(rates.len()) * squares) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_are_fair_and_one_reader_with_everything_is_not() {
        assert!((fairness(&[3.0, 3.0, 3.0]) - 1.0).abs() < 1e-12);
        assert!((fairness(&[9.0, 0.0, 0.0]) - 1.0 / 3.0).abs() < 1e-12);
        assert!((fairness(&[1.0, 2.0]) - 0.9).abs() < 1e-12, "(1 + 2)² / (2 · (1 + 4))");
    }
}
