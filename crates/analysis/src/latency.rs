//! Quantiles of what single reads took, over all turns of a trial, with intervals.
//!
//! Reads of one turn follow each other and are not independent, so an interval is not made of them
//! but of turns: turns are drawn anew with repetition, and the interval holds the middle 95 % of
//! the quantiles of what was drawn (the percentile bootstrap by blocks; Efron and Tibshirani, An
//! Introduction to the Bootstrap, 1993, chapters 8 and 13). The seed is fixed: the same record
//! gives the same interval.

use super::stats::{Interval, OBSERVATIONS_MIN, float};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use readlab_record::{LatencyCount, TurnLatencies};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// How often turns are drawn anew.
const DRAWS: usize = 400;

const SEED: u64 = 1;

/// A quantile says more than the longest read if at least so many reads took longer.
const LONGER_MIN: u64 = 10;

/// The quantiles that are reported, by the reads of ten thousand that are not longer.
const QUANTILES: [(&str, u64); 5] =
    [("p50", 5_000), ("p90", 9_000), ("p99", 9_900), ("p99.9", 9_990), ("p99.99", 9_999)];

const ALL: u64 = 10_000;

/// What single reads took.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LatencySummary {
    pub reads: u64,
    /// The quantiles that so many reads show.
    pub quantiles: Vec<Quantile>,
    pub max_ns: u64,
}

/// A quantile of the latency of single reads.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Quantile {
    /// `p99.9`
    pub name: &'static str,
    pub ns: u64,
    /// Its 95 % interval; `None` with too few turns.
    pub ci95: Option<Interval>,
}

/// How often reads took how long, by turns; all in the same buckets.
struct Table {
    ns: Vec<u64>,
    turns: Vec<Vec<u64>>,
}

impl LatencySummary {
    /// Of all turns of a trial; `None` without one.
    pub fn from_turns(turns: &[TurnLatencies]) -> Option<LatencySummary> {
        let table = Table::from_turns(turns);
        let all = table.sum(0..table.turns.len());
        let reads: u64 = all.iter().sum();
        let last = all.iter().rposition(|count| *count > 0)?;
        let is_shown = |of_all: u64| reads.saturating_mul(ALL - of_all) >= LONGER_MIN * ALL;
        let shown = QUANTILES.iter().filter(|(_, share)| is_shown(*share));
        let draws = table.draws();
        let quantile = |&(name, share): &(&'static str, u64)| Quantile {
            name,
            ns: table.quantile(&all, share),
            ci95: interval(draws.iter().map(|drawn| table.quantile(drawn, share)).collect()),
        };
        Some(LatencySummary { reads, quantiles: shown.map(quantile).collect(), max_ns: table.ns[last] })
    }

    /// The quantile of this name, if so many reads show it.
    pub fn quantile(&self, name: &str) -> Option<&Quantile> {
        self.quantiles.iter().find(|quantile| quantile.name == name)
    }
}

impl Table {
    fn from_turns(turns: &[TurnLatencies]) -> Table {
        let counts: Vec<Vec<LatencyCount>> = turns.iter().map(|turn| turn.latencies.counts()).collect();
        let ns: BTreeSet<u64> = counts.iter().flatten().map(|count| count.ns).collect();
        let ns: Vec<u64> = ns.into_iter().collect();
        let row = |counts: &Vec<LatencyCount>| {
            let mut row = vec![0; ns.len()];
            counts.iter().for_each(|count| row[ns.partition_point(|it| *it < count.ns)] += count.reads);
            row
        };
        Table { turns: counts.iter().map(row).collect(), ns }
    }

    /// The counts of some turns together.
    fn sum(&self, turns: impl Iterator<Item = usize>) -> Vec<u64> {
        let mut sum = vec![0; self.ns.len()];
        for turn in turns {
            sum.iter_mut().zip(&self.turns[turn]).for_each(|(sum, count)| *sum += count);
        }
        sum
    }

    /// The counts of as many turns, drawn with repetition; nothing with too few turns.
    fn draws(&self) -> Vec<Vec<u64>> {
        let turns = self.turns.len();
        if turns < OBSERVATIONS_MIN {
            return Vec::new();
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        (0..DRAWS).map(|_| self.sum((0..turns).map(|_| random.random_range(0..turns)))).collect()
    }

    /// The time that a share of these reads, of ten thousand, took at most.
    fn quantile(&self, counts: &[u64], share: u64) -> u64 {
        let wanted = u128::from(counts.iter().sum::<u64>()) * u128::from(share);
        let mut seen = 0;
        let reached = counts.iter().position(|count| {
            seen += count;
            u128::from(seen) * u128::from(ALL) >= wanted
        });
        reached.and_then(|at| self.ns.get(at)).copied().unwrap_or_default()
    }
}

/// The middle 95 % of quantiles that were drawn.
fn interval(mut drawn: Vec<u64>) -> Option<Interval> {
    drawn.sort_unstable();
    let outside = drawn.len() / 40;
    let (low, high) = (drawn.get(outside)?, drawn.get(drawn.len() - 1 - outside)?);
    Some(Interval { low: float(*low), high: float(*high) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_record::testing::latencies;

    fn turns(all: impl IntoIterator<Item = Vec<u64>>) -> Vec<TurnLatencies> {
        let turn = |(round, times)| TurnLatencies { fill: 0, round, latencies: latencies(times) };
        (0..).zip(all).map(turn).collect()
    }

    #[test]
    fn quantiles_are_those_of_all_reads_together() {
        // 1 to 100 ns, in two turns: within the first buckets times are exact.
        let summary = LatencySummary::from_turns(&turns([(1..=50).collect(), (51..=100).collect()])).unwrap();
        assert_eq!((summary.reads, summary.max_ns), (100, 100));
        let shown: Vec<_> = summary.quantiles.iter().map(|it| (it.name, it.ns)).collect();
        assert_eq!(shown, [("p50", 50), ("p90", 90)], "100 reads show no p99");
        assert!(summary.quantiles.iter().all(|it| it.ci95.is_none()), "two turns show no interval");
        assert_eq!(LatencySummary::from_turns(&[]), None);
    }

    #[test]
    fn a_quantile_is_shown_as_soon_as_ten_reads_took_longer() {
        let shown = |reads: u64| {
            let summary =
                LatencySummary::from_turns(&turns([(0..reads).map(|read| 1 + read % 50).collect()])).unwrap();
            summary.quantiles.last().map(|it| it.name)
        };
        assert_eq!(
            (shown(20), shown(99), shown(100), shown(1000)),
            (Some("p50"), Some("p50"), Some("p90"), Some("p99"))
        );
        assert_eq!((shown(10_000), shown(100_000)), (Some("p99.9"), Some("p99.99")));
    }

    #[test]
    fn an_interval_is_as_wide_as_turns_differ() {
        let alike = turns((0..20).map(|_| vec![100; 50]));
        let p50 = LatencySummary::from_turns(&alike).unwrap().quantiles.remove(0);
        assert_eq!((p50.ns, p50.ci95), (100, Some(Interval { low: 100.0, high: 100.0 })));
        // The turns differ, and the reads within each do not.
        let apart = turns((0..20).map(|turn| vec![80 + 2 * turn; 50]));
        let p50 = LatencySummary::from_turns(&apart).unwrap().quantiles.remove(0);
        let ends = p50.ci95.unwrap();
        assert!(ends.low <= 94.0 && ends.high >= 102.0 && ends.low > 80.0 && ends.high < 118.0, "{ends:?}");
    }
}
