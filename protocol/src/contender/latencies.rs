//! Latencies of single reads: a histogram of nanoseconds whose counters stay in a small part of a
//! processor's cache, so that counting disturbs the measurement as little as possible.
//!
//! The format is that of HdrHistogram (<https://hdrhistogram.github.io/HdrHistogram/>), for which
//! every language has a library.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use std::fmt;
use std::time::Duration;

/// Longer reads count as this latency.
const LATENCY_MAX: Duration = Duration::from_secs(600);

/// Number of significant digits. With two, a number is at most 1 % above the measured one.
const SIGNIFICANT_DIGITS: u8 = 2;

/// A histogram of the latencies of single reads.
#[derive(Clone)]
pub struct Latencies(Histogram<u32>);

impl Default for Latencies {
    fn default() -> Latencies {
        let longest_ns = LATENCY_MAX.as_secs() * 1_000_000_000;
        Latencies(Histogram::new_with_max(longest_ns, SIGNIFICANT_DIGITS).expect("these bounds are allowed"))
    }
}

impl Latencies {
    /// Counts a read that took this long.
    #[inline]
    pub fn record(&mut self, took: Duration) {
        self.0.saturating_record(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Latencies) {
        self.0.add(&other.0).expect("all have the same bounds");
    }

    /// The latencies of several readings, added up; `None` if there are none.
    pub fn sum(all: Vec<Latencies>) -> Option<Latencies> {
        let mut all = all.into_iter();
        let mut sum = all.next()?;
        all.for_each(|one| sum.add(&one));
        Some(sum)
    }

    /// Number of counted reads.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The histogram in the compressed encoding of version 2, in Base64.
    pub fn encoded(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.0, &mut bytes).expect("memory takes what is written");
        STANDARD.encode(bytes)
    }
}

impl fmt::Debug for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latencies").field("count", &self.count()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;

    #[test]
    fn encoded_latencies_are_within_a_hundredth_of_the_recorded_ones() {
        let mut one = Latencies::default();
        let mut other = Latencies::default();
        (0..90).for_each(|_| one.record(Duration::from_nanos(812)));
        (0..10).for_each(|_| other.record(Duration::from_micros(333)));
        other.record(LATENCY_MAX * 2);
        one.add(&other);
        let bytes = STANDARD.decode(one.encoded()).unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert_eq!((read.len(), one.count()), (101, 101));
        assert!((812..=820).contains(&read.value_at_quantile(0.5)));
        assert!((333_000..=336_400).contains(&read.value_at_quantile(0.95)));
        assert!(read.max() >= 600_000_000_000, "what is too long counts as the longest");
    }

    #[test]
    fn a_long_turn_fits_a_line_of_the_protocol() {
        let mut all = Latencies::default();
        (0..60_u32).for_each(|power| {
            (0..200).for_each(|n| {
                all.record(Duration::from_nanos((1 << (power / 2)) + n * (1 << (power / 2)) / 128))
            })
        });
        assert!(all.encoded().len() < crate::LINE_BYTES_MAX / 2);
    }
}
