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
    /// Bytes per second of one reader, by its own clock: the median over all readers; `None` if it
    /// is not known how many bytes a reading reads.
    pub rate_per_reader: Option<f64>,
    /// Fairness of the shares: the mean of Jain's index over rounds.
    pub fairness: Estimate,
    /// The speed of one of the readers divided by that of a reader alone, in the same rounds; `None`
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
        timed().find(is_it).map(speeds_by_round)
    };
    timed().filter_map(|it| ReaderShares::from_trial(record, it, alone(it).as_ref())).collect()
}

impl<'a> ReaderShares<'a> {
    fn from_trial(
        record: &Record,
        trial: &'a TrialRecord,
        alone: Option<&BTreeMap<u32, Vec<f64>>>,
    ) -> Option<ReaderShares<'a>> {
        let (count, rounds) = (concurrent_readers_of(record, trial)?, speeds_by_round(trial));
        let speed = median(rounds.values().flatten().copied())?;
        let bytes = record.bytes_out(trial).filter(|bytes| *bytes > 0);
        let rate_per_reader = bytes.map(|bytes| float(bytes / count.max(1)) * speed);
        let fairness = Estimate::mean(&rounds.values().map(|speeds| fairness(speeds)).collect::<Vec<_>>())?;
        let ratio_to_alone = alone.filter(|_| count > 1).and_then(|alone| {
            let of_round = |(round, speeds): (&u32, &Vec<f64>)| {
                let one = median(alone.get(round)?.iter().copied())?;
                Some((median(speeds.iter().copied())? / one).ln())
            };
            let logs: Vec<f64> = rounds.iter().filter_map(of_round).collect();
            Some(Estimate::mean(&logs)?.map(f64::exp))
        });
        Some(ReaderShares { trial, count, rate_per_reader, fairness, ratio_to_alone })
    }
}

/// The speeds of all readers in readings per second, by round. All readers of a trial read the same
/// number of bytes, so speeds are shared and compared like rates, also where the bytes are not
/// known.
fn speeds_by_round(it: &TrialRecord) -> BTreeMap<u32, Vec<f64>> {
    let speed = |timing: &ReaderTiming| 1e9 / float(timing.wall_ns.max(1));
    let mut rounds = BTreeMap::<u32, Vec<f64>>::new();
    for turn in &it.readers_turns {
        rounds.entry(turn.round).or_default().extend(turn.readers.iter().map(speed));
    }
    rounds
}

/// Jain's index of fairness of these speeds.
fn fairness(speeds: &[f64]) -> f64 {
    let (sum, squares) = speeds.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares > 0.0 { sum * sum / (count_as_float(speeds.len()) * squares) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::sample::Sample;
    use readlab_model::target::{TargetFacts, TargetIndex};
    use readlab_model::trial::{CacheState, TrialIndex, Work};
    use readlab_protocol::Cache;
    use readlab_record::{ReadersTurn, testing};

    #[test]
    fn equal_shares_are_fair_and_one_reader_with_everything_is_not() {
        assert!((fairness(&[3.0, 3.0, 3.0]) - 1.0).abs() < 1e-12);
        assert!((fairness(&[9.0, 0.0, 0.0]) - 1.0 / 3.0).abs() < 1e-12);
        assert!((fairness(&[1.0, 2.0]) - 0.9).abs() < 1e-12, "(1 + 2)² / (2 · (1 + 4))");
    }

    /// One reader that reads 1000 bytes in 1 µs, and two that read as many each in 2 and in 4 µs.
    fn record_of_one_and_two(work: Work) -> Record {
        let mut record = Record::new(testing::header());
        for (target, walls_ns) in [vec![1_000], vec![2_000, 4_000]].into_iter().enumerate() {
            let readers = u32::try_from(walls_ns.len()).unwrap();
            let size_bytes = 1_000 * u64::from(readers);
            let facts = TargetFacts { size_bytes, reader_count: Some(readers), ..TargetFacts::default() };
            record.add(testing::target_line(target, facts));
            let (state, readings) = (CacheState::Warm, [Sample::default()]);
            let number = testing::add_trial(&mut record, "command/sum {}", state, Cache::Through, readings);
            let timing = |wall_ns| ReaderTiming { wall_ns, ..ReaderTiming::default() };
            let readers = walls_ns.into_iter().map(timing).collect();
            let trial = TrialIndex::new(number);
            let it = &mut record.trials[trial];
            (it.trial.target, it.trial.work) = (TargetIndex::new(target), work);
            it.readers_turns = vec![ReadersTurn { trial, round: 0, readers }];
        }
        record
    }

    #[test]
    fn readers_share_their_speed_also_where_their_bytes_are_not_known() {
        for (work, rates) in [
            (Work::Newlines, [Some(1e9), Some(0.375e9)]),
            // Nothing shows how much of the file this command reads.
            (Work::Output, [None, None]),
        ] {
            let record = record_of_one_and_two(work);
            let [one, two]: [ReaderShares<'_>; 2] = reader_shares(&record).try_into().unwrap();
            let is_near = |a: f64, b: f64| (a - b).abs() < 1e-9 * b;
            for (shares, rate) in [(one, rates[0]), (two, rates[1])] {
                assert_eq!(shares.rate_per_reader.is_some(), rate.is_some(), "{shares:?}");
                assert!(shares.rate_per_reader.zip(rate).is_none_or(|(a, b)| is_near(a, b)), "{shares:?}");
            }
            assert!(is_near(one.fairness.value, 1.0) && is_near(two.fairness.value, 0.9), "{two:?}");
            assert_eq!(one.ratio_to_alone, None);
            assert!(is_near(two.ratio_to_alone.unwrap().value, 0.375), "{two:?}");
        }
    }
}
