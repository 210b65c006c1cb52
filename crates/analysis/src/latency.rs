//! Quantiles of the latencies of single reads over all turns of a trial, with intervals.
//!
//! Reads of one turn follow each other and are not independent, so intervals come from resampling
//! whole turns: turns are drawn with replacement, and the interval holds the middle 95 % of the
//! quantiles of the drawn sets (the percentile bootstrap by blocks; Efron and Tibshirani, An
//! Introduction to the Bootstrap, 1993, chapters 8 and 13). The seed is fixed: the same record
//! gives the same interval.

use super::stats::{Interval, OBSERVATIONS_MIN, float};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use readlab_record::{LatencyCount, TurnLatencies};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Number of bootstrap resamples.
const RESAMPLE_COUNT: usize = 400;

const SEED: u64 = 1;

/// A quantile is reported if at least this many reads took longer. With fewer, it says no more than
/// the longest read.
const LONGER_READS_MIN: u64 = 10;

/// The reported quantiles, each with its share in ten-thousandths.
const QUANTILES: [(&str, u64); 5] =
    [("p50", 5_000), ("p90", 9_000), ("p99", 9_900), ("p99.9", 9_990), ("p99.99", 9_999)];

const TEN_THOUSAND: u64 = 10_000;

/// The latencies of single reads of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LatencySummary {
    #[serde(rename = "reads")]
    pub read_count: u64,
    /// The quantiles for which there are enough reads.
    pub quantiles: Vec<Quantile>,
    pub max_ns: u64,
}

/// A quantile of the latency of single reads.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Quantile {
    /// The name of the quantile, such as `p99.9`.
    pub name: &'static str,
    #[serde(rename = "ns")]
    pub latency_ns: u64,
    /// The 95 % interval of the quantile; `None` with too few turns.
    pub ci95: Option<Interval>,
}

/// Histograms of read latencies, one for each turn; all have the same buckets.
struct TurnHistograms {
    bucket_ns: Vec<u64>,
    /// The number of reads in each bucket, one list for each turn.
    read_counts: Vec<Vec<u64>>,
}

impl LatencySummary {
    /// Summarises all turns of a trial; `None` if there are none.
    pub fn from_turns(turns: &[TurnLatencies]) -> Option<LatencySummary> {
        let table = TurnHistograms::from_turns(turns);
        let all = table.sum(0..table.read_counts.len());
        let reads: u64 = all.iter().sum();
        let last = all.iter().rposition(|count| *count > 0)?;
        let is_shown =
            |of_all: u64| reads.saturating_mul(TEN_THOUSAND - of_all) >= LONGER_READS_MIN * TEN_THOUSAND;
        let shown = QUANTILES.iter().filter(|(_, share)| is_shown(*share));
        let resamples = table.resampled_histograms();
        let quantile = |&(name, share): &(&'static str, u64)| Quantile {
            name,
            latency_ns: table.quantile(&all, share),
            ci95: interval(resamples.iter().map(|drawn| table.quantile(drawn, share)).collect()),
        };
        Some(LatencySummary {
            read_count: reads,
            quantiles: shown.map(quantile).collect(),
            max_ns: table.bucket_ns[last],
        })
    }

    /// The quantile of this name, if there are enough reads for it.
    pub fn quantile(&self, name: &str) -> Option<&Quantile> {
        self.quantiles.iter().find(|quantile| quantile.name == name)
    }
}

impl TurnHistograms {
    fn from_turns(turns: &[TurnLatencies]) -> TurnHistograms {
        let counts: Vec<Vec<LatencyCount>> = turns.iter().map(|turn| turn.latencies.counts()).collect();
        let ns: BTreeSet<u64> = counts.iter().flatten().map(|count| count.latency_ns).collect();
        let ns: Vec<u64> = ns.into_iter().collect();
        let row = |counts: &Vec<LatencyCount>| {
            let mut row = vec![0; ns.len()];
            counts
                .iter()
                .for_each(|count| row[ns.partition_point(|it| *it < count.latency_ns)] += count.read_count);
            row
        };
        TurnHistograms { read_counts: counts.iter().map(row).collect(), bucket_ns: ns }
    }

    fn sum(&self, turns: impl Iterator<Item = usize>) -> Vec<u64> {
        let mut sum = vec![0; self.bucket_ns.len()];
        for turn in turns {
            sum.iter_mut().zip(&self.read_counts[turn]).for_each(|(sum, count)| *sum += count);
        }
        sum
    }

    /// The histograms of all bootstrap resamples; empty with too few turns.
    fn resampled_histograms(&self) -> Vec<Vec<u64>> {
        let turns = self.read_counts.len();
        if turns < OBSERVATIONS_MIN {
            return Vec::new();
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        (0..RESAMPLE_COUNT).map(|_| self.sum((0..turns).map(|_| random.random_range(0..turns)))).collect()
    }

    /// The latency that this share of the reads, in ten-thousandths, did not exceed.
    fn quantile(&self, counts: &[u64], share: u64) -> u64 {
        let wanted = u128::from(counts.iter().sum::<u64>()) * u128::from(share);
        let mut seen = 0;
        let reached = counts.iter().position(|count| {
            seen += count;
            u128::from(seen) * u128::from(TEN_THOUSAND) >= wanted
        });
        reached.and_then(|at| self.bucket_ns.get(at)).copied().unwrap_or_default()
    }
}

/// The middle 95 % of the quantiles of the bootstrap resamples.
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
        // 1 to 100 ns, in two turns: the lowest buckets are exact.
        let summary = LatencySummary::from_turns(&turns([(1..=50).collect(), (51..=100).collect()])).unwrap();
        assert_eq!((summary.read_count, summary.max_ns), (100, 100));
        let shown: Vec<_> = summary.quantiles.iter().map(|it| (it.name, it.latency_ns)).collect();
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
    fn an_interval_is_as_wide_as_the_scatter_of_turns() {
        let alike = turns((0..20).map(|_| vec![100; 50]));
        let p50 = LatencySummary::from_turns(&alike).unwrap().quantiles.remove(0);
        assert_eq!((p50.latency_ns, p50.ci95), (100, Some(Interval { low: 100.0, high: 100.0 })));
        // The turns differ, and the reads within a turn do not.
        let apart = turns((0..20).map(|turn| vec![80 + 2 * turn; 50]));
        let p50 = LatencySummary::from_turns(&apart).unwrap().quantiles.remove(0);
        let ends = p50.ci95.unwrap();
        assert!(ends.low <= 94.0 && ends.high >= 102.0 && ends.low > 80.0 && ends.high < 118.0, "{ends:?}");
    }
}
