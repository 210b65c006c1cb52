//! The findings of untimed inspections: a flame graph, and a trace of the calls that read bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlameGraph {
    /// The picture, from the record's folder on if it is in it; `None` where there is none.
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was sampled and how.
    pub how: String,
    /// Samples in the picture.
    pub samples: u64,
    /// Readings that were sampled.
    pub readings: u32,
    /// The functions in which most samples lay, the hottest first.
    pub hottest: Vec<HotSpot>,
    /// What is not in the picture, and the command that mends it where there is one.
    pub blind: Vec<String>,
}

/// A function, and the share of samples that lay in it and not in what it called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotSpot {
    pub name: String,
    /// 0 to 1.
    pub share: f64,
}

/// The calls that brought the bytes of one reading.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    pub how: String,
    /// Why read calls are unknown; `None` where they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub wall_ns: u64,
    /// Page faults served without the device, of the traced reading.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for the device, of the traced reading.
    pub major_faults: Option<u64>,
    /// How often what was called: `read`, `pread`, `readv`, `preadv`, `mmap`.
    pub calls: BTreeMap<String, u64>,
    /// Calls that are not in what follows, as there were too many.
    #[serde(rename = "untold")]
    pub unrecorded: u64,
    /// Threads that made read calls.
    pub threads: u64,
    /// Time in read calls, of all threads together.
    pub in_calls_ns: u64,
    /// Bytes that they brought.
    pub bytes: u64,
    /// Bytes that each call requested.
    #[serde(rename = "asked_bytes")]
    pub requested_bytes: Spread,
    /// Bytes that each brought, those at the end of the file included.
    pub got_bytes: Spread,
    /// The same without calls that returned nothing.
    pub brought_bytes: Spread,
    pub latency_ns: Spread,
    /// Read calls that began where the one before of the same thread had ended.
    pub sequential: u64,
    /// How far the others went ahead, in bytes.
    pub ahead_bytes: Spread,
    /// How far the others went back, in bytes.
    pub back_bytes: Spread,
}

/// How some numbers are spread: exact at a few places, and as a histogram over powers of two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    pub n: u64,
    pub least: u64,
    /// The one that half of them do not exceed.
    pub p50: u64,
    /// The one that nine in ten do not exceed.
    pub p90: u64,
    /// The one that 99 in a hundred do not exceed.
    pub p99: u64,
    pub most: u64,
    /// From where (0, or a power of two, up to the next) how many; those with none are left out.
    pub buckets: Vec<[u64; 2]>,
}

impl Spread {
    /// Percentiles are among the numbers (nearest rank; Hyndman & Fan 1996, type 1).
    pub fn from_numbers(mut numbers: Vec<u64>) -> Spread {
        numbers.sort_unstable();
        let (Some(&least), Some(&most)) = (numbers.first(), numbers.last()) else { return Spread::default() };
        let rank = |percent: usize| numbers[(numbers.len() * percent).div_ceil(100).max(1) - 1];
        let mut buckets = BTreeMap::<u64, u64>::new();
        for &number in &numbers {
            let from = number.checked_ilog2().map_or(0, |power| 1 << power);
            *buckets.entry(from).or_default() += 1;
        }
        let buckets = buckets.into_iter().map(|(from, count)| [from, count]).collect();
        let (p50, p90, p99) = (rank(50), rank(90), rank(99));
        Spread { n: numbers.len() as u64, least, p50, p90, p99, most, buckets }
    }
}

impl Trace {
    /// Read calls that are known.
    pub fn reads(&self) -> u64 {
        self.latency_ns.n
    }

    /// Read calls that brought nothing: those that found the file's end, and failures.
    pub fn empty(&self) -> u64 {
        self.got_bytes.buckets.iter().filter(|[from, _]| *from == 0).map(|[_, count]| count).sum()
    }

    /// The share of read calls, but the first of each thread, that began where the last had ended.
    #[expect(clippy::cast_precision_loss, reason = "a share of at most a million calls")]
    pub fn sequential_share(&self) -> Option<f64> {
        let followed = self.reads().checked_sub(self.threads).filter(|&followed| followed > 0)?;
        Some(self.sequential as f64 / followed as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_spread_is_exact_at_its_places_and_counts_by_powers_of_two() {
        let spread = Spread::from_numbers(vec![1, 0, 2, 3, 4, 7, 8, 100, 100, 1 << 40]);
        let places = [spread.least, spread.p50, spread.p90, spread.p99, spread.most];
        assert_eq!((spread.n, places), (10, [0, 4, 100, 1 << 40, 1 << 40]));
        assert_eq!(spread.buckets, [[0, 1], [1, 1], [2, 2], [4, 2], [8, 1], [64, 2], [1 << 40, 1]]);
        assert_eq!(Spread::from_numbers(Vec::new()), Spread::default());
        assert_eq!(Spread::from_numbers(vec![u64::MAX]).buckets, [[1 << 63, 1]]);
    }

    proptest! {
        #[test]
        fn every_number_is_in_one_bucket_and_percentiles_rise(numbers in prop::collection::vec(any::<u64>(), 1..200)) {
            let spread = Spread::from_numbers(numbers.clone());
            prop_assert_eq!(spread.buckets.iter().map(|[_, count]| count).sum::<u64>(), numbers.len() as u64);
            let rising = [spread.least, spread.p50, spread.p90, spread.p99, spread.most];
            prop_assert!(rising.is_sorted());
            let below = numbers.iter().filter(|&&number| number <= spread.p50).count();
            prop_assert!(below * 2 >= numbers.len());
        }
    }
}
