//! The latencies of the single reads of a turn: an HdrHistogram in its compressed encoding, as the
//! contender sent it. It stays encoded in memory, because a record has one for each turn of each
//! trial.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
pub struct Latencies(String);

/// The number of reads of one latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatencyCount {
    /// The highest latency that this entry counts.
    pub latency_ns: u64,
    pub read_count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no histogram of HdrHistogram in Base64: {0}")]
pub struct LatenciesError(String);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnLatencies {
    /// Number of the fill of the cache.
    pub fill: u32,
    pub round: u32,
    pub latencies: Latencies,
}

impl Latencies {
    /// The counts that are not 0, from the shortest to the longest latency.
    pub fn counts(&self) -> Vec<LatencyCount> {
        let histogram = decode(&self.0).expect("it was decoded when it was made");
        let recorded = histogram.iter_recorded();
        recorded
            .map(|it| LatencyCount { latency_ns: it.value_iterated_to(), read_count: it.count_at_value() })
            .collect()
    }
}

fn decode(text: &str) -> Result<Histogram<u64>, LatenciesError> {
    let wrong = |error: &dyn std::fmt::Display| LatenciesError(error.to_string());
    let bytes = STANDARD.decode(text).map_err(|error| wrong(&error))?;
    Deserializer::new().deserialize(&mut &bytes[..]).map_err(|error| wrong(&error))
}

impl From<Latencies> for String {
    fn from(latencies: Latencies) -> String {
        latencies.0
    }
}

impl TryFrom<String> for Latencies {
    type Error = LatenciesError;

    fn try_from(text: String) -> Result<Latencies, LatenciesError> {
        decode(&text)?;
        Ok(Latencies(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_counts_are_in_order_and_invalid_text_is_rejected() {
        let counts = crate::testing::latencies([100, 7, 7]).counts();
        assert_eq!(
            counts,
            [LatencyCount { latency_ns: 7, read_count: 2 }, LatencyCount { latency_ns: 100, read_count: 1 }]
        );
        for wrong in ["", "x", "AAAA", "HISTFAAA"] {
            assert!(Latencies::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
