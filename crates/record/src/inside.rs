//! The findings of untimed inspections: a flame graph, and a trace of the calls that read bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlameGraph {
    /// Path of the picture, relative to the record's folder if it is in that folder; `None` if
    /// there is no picture.
    #[serde(rename = "file")]
    pub picture_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "reason")]
    pub why_no_picture: Option<String>,
    /// What was sampled, and how.
    pub how: String,
    /// Number of samples in the picture.
    #[serde(rename = "samples")]
    pub sample_count: u64,
    /// Number of readings that were sampled.
    pub readings: u32,
    /// The functions with the most samples, the hottest first.
    pub hottest: Vec<HotSpot>,
    /// What the picture does not show, a sentence each, with a command that makes it visible if
    /// there is one.
    #[serde(rename = "blind")]
    pub blind_spots: Vec<String>,
}

/// A function, and the share of samples in its own code, without the functions that it called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotSpot {
    pub name: String,
    /// Share of all samples, 0 to 1.
    pub share: f64,
}

/// The calls that read the bytes of one reading.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    #[serde(rename = "how")]
    pub how_traced: String,
    /// Why the read calls are unknown; `None` if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub wall_ns: u64,
    /// Page faults of the traced reading that were served without the device.
    pub minor_faults: Option<u64>,
    /// Page faults of the traced reading that waited for the device.
    pub major_faults: Option<u64>,
    /// Number of calls by name: `read`, `pread`, `readv`, `preadv`, `mmap`.
    #[serde(rename = "calls")]
    pub call_counts: BTreeMap<String, u64>,
    /// Number of calls that the following fields leave out, because there were too many.
    #[serde(rename = "untold")]
    pub unrecorded: u64,
    /// Number of threads that made read calls.
    pub threads: u64,
    /// Time in read calls, summed over all threads.
    pub in_calls_ns: u64,
    /// Bytes that the read calls returned.
    pub bytes: u64,
    /// Bytes that each call requested.
    #[serde(rename = "asked_bytes")]
    pub requested_bytes: Distribution,
    /// Bytes that each call returned, calls at the end of the file included.
    #[serde(rename = "got_bytes")]
    pub returned_bytes: Distribution,
    /// Bytes that each call returned, without calls that returned nothing.
    #[serde(rename = "brought_bytes")]
    pub nonempty_returned_bytes: Distribution,
    pub latency_ns: Distribution,
    /// Number of read calls that began where the previous call of the same thread had ended.
    #[serde(rename = "sequential")]
    pub sequential_calls: u64,
    /// Number of bytes from the end of the previous call to the start, for calls that skipped
    /// forwards.
    pub ahead_bytes: Distribution,
    /// Number of bytes from the start to the end of the previous call, for calls that went
    /// backwards.
    pub back_bytes: Distribution,
}

/// A distribution of integers: exact quantiles, and a histogram over powers of two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Spread")]
pub struct Distribution {
    pub n: u64,
    pub least: u64,
    /// The median: the smallest number that half of the numbers do not exceed.
    pub p50: u64,
    /// The 90th percentile.
    pub p90: u64,
    /// The 99th percentile.
    pub p99: u64,
    pub most: u64,
    /// Histogram: the lower bound of each bucket (0 or a power of two, up to the next) and its
    /// count. Empty buckets are left out.
    pub buckets: Vec<[u64; 2]>,
}

impl Distribution {
    /// Percentiles are members of the set (nearest rank; Hyndman & Fan 1996, type 1).
    pub fn from_numbers(mut numbers: Vec<u64>) -> Distribution {
        numbers.sort_unstable();
        let (Some(&least), Some(&most)) = (numbers.first(), numbers.last()) else {
            return Distribution::default();
        };
        let rank = |percent: usize| numbers[(numbers.len() * percent).div_ceil(100).max(1) - 1];
        let mut buckets = BTreeMap::<u64, u64>::new();
        for &number in &numbers {
            let from = number.checked_ilog2().map_or(0, |power| 1 << power);
            *buckets.entry(from).or_default() += 1;
        }
        let buckets = buckets.into_iter().map(|(from, count)| [from, count]).collect();
        let (p50, p90, p99) = (rank(50), rank(90), rank(99));
        Distribution { n: numbers.len() as u64, least, p50, p90, p99, most, buckets }
    }
}

impl Trace {
    /// Number of read calls that are known.
    pub fn read_call_count(&self) -> u64 {
        self.latency_ns.n
    }

    /// Number of read calls that returned nothing: at the end of the file, or because they failed.
    pub fn empty_read_count(&self) -> u64 {
        self.returned_bytes.buckets.iter().filter(|[from, _]| *from == 0).map(|[_, count]| count).sum()
    }

    /// Share of the read calls that began where the previous call had ended, without the first call
    /// of each thread.
    pub fn sequential_share(&self) -> Option<f64> {
        let followed = self.read_call_count().checked_sub(self.threads).filter(|&followed| followed > 0)?;
        Some(self.sequential_calls as f64 / followed as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_spread_has_exact_percentiles_and_buckets_by_powers_of_two() {
        let spread = Distribution::from_numbers(vec![1, 0, 2, 3, 4, 7, 8, 100, 100, 1 << 40]);
        let places = [spread.least, spread.p50, spread.p90, spread.p99, spread.most];
        assert_eq!((spread.n, places), (10, [0, 4, 100, 1 << 40, 1 << 40]));
        assert_eq!(spread.buckets, [[0, 1], [1, 1], [2, 2], [4, 2], [8, 1], [64, 2], [1 << 40, 1]]);
        assert_eq!(Distribution::from_numbers(Vec::new()), Distribution::default());
        assert_eq!(Distribution::from_numbers(vec![u64::MAX]).buckets, [[1 << 63, 1]]);
    }

    proptest! {
        #[test]
        fn every_number_is_in_one_bucket_and_percentiles_rise(numbers in prop::collection::vec(any::<u64>(), 1..200)) {
            let spread = Distribution::from_numbers(numbers.clone());
            prop_assert_eq!(spread.buckets.iter().map(|[_, count]| count).sum::<u64>(), numbers.len() as u64);
            let rising = [spread.least, spread.p50, spread.p90, spread.p99, spread.most];
            prop_assert!(rising.is_sorted());
            let below = numbers.iter().filter(|&&number| number <= spread.p50).count();
            prop_assert!(below * 2 >= numbers.len());
        }
    }
}
