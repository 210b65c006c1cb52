//! The result of the probe for a hidden cache: a cache that this system cannot see, such as the
//! cache of a host or of a controller. The probe reads the same places of a file twice past the
//! page cache.
//!
//! This file defines the result and its sentences; `measure::hidden_cache` reads the places.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of the probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "found", rename_all = "snake_case")]
pub enum HiddenCache {
    /// Second readings are clearly faster, so there is a hidden cache.
    Seen(SecondReadingRatio),
    /// There is no clear difference: there is no hidden cache, or it already held everything.
    NoneSeen(SecondReadingRatio),
    /// There was no probe.
    NotProbed { why: NotProbed },
}

/// Time of the first reading of a place ÷ time of the second reading of the same place.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Times")]
pub struct SecondReadingRatio {
    pub estimate: f64,
    pub ci95: [f64; 2],
    /// How many places were read twice.
    pub pairs: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum NotProbed {
    /// The file does not have enough places at a distance from each other.
    #[error("the file is too small")]
    SmallFile,
    /// The time limit of the run is too short.
    #[error("the run has too little time")]
    ShortBudget,
    /// The time limit of the probe ended after too few places.
    #[error("the device is too slow for a second of reading")]
    SlowDevice,
    /// Some bytes are not stored on the device as they are read (holes, encoded extents).
    #[error("not every byte is on the device as it is read")]
    NotPlain,
    /// A cache below the page cache is already known.
    #[error("a cache below is known already")]
    KnownCache,
    /// The target files must not be read before they are measured, and there is no other file on
    /// their file system.
    #[error("no file of readlab's own could be read for it: {cause}")]
    NoOwnFile {
        /// Why readlab could not make a file of its own there.
        cause: String,
    },
    /// The file cannot be read past the page cache.
    #[error("the file cannot be read past the page cache: {cause}")]
    NoDirectReads { cause: String },
}

impl HiddenCache {
    /// A sentence that states the hidden cache and its factor; `None` if none was seen.
    pub fn seen_sentence(&self) -> Option<String> {
        let HiddenCache::Seen(SecondReadingRatio { estimate, ci95: [low, high], .. }) = self else {
            return None;
        };
        Some(format!(
            "a cache lies below: second cold readings are {estimate:.2} [{low:.2}, {high:.2}] times as fast"
        ))
    }

    /// A sentence that states why there was no probe; `None` if the file itself is the reason.
    pub fn not_probed_sentence(&self) -> Option<String> {
        match self {
            HiddenCache::NotProbed {
                why: NotProbed::SmallFile | NotProbed::KnownCache | NotProbed::NotPlain,
            } => None,
            HiddenCache::NotProbed { why } => {
                Some(format!("whether a cache lies below was not probed: {why}"))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_hidden_cache_that_was_seen_has_a_sentence() {
        let times = SecondReadingRatio { estimate: 3.204, ci95: [2.9, 3.6], pairs: 12 };
        let seen = HiddenCache::Seen(times).seen_sentence().unwrap();
        assert_eq!(seen, "a cache lies below: second cold readings are 3.20 [2.90, 3.60] times as fast");
        assert_eq!(HiddenCache::NoneSeen(times).seen_sentence(), None);
        let short = HiddenCache::NotProbed { why: NotProbed::ShortBudget };
        assert!(
            short.seen_sentence().is_none()
                && short.not_probed_sentence().unwrap().contains("too little time")
        );
        assert_eq!(HiddenCache::NotProbed { why: NotProbed::SmallFile }.not_probed_sentence(), None);
    }

    #[test]
    fn every_probe_result_is_deserialized_as_it_was_serialized() {
        let times = SecondReadingRatio { estimate: 1.0, ci95: [0.9, 1.1], pairs: 12 };
        let cause = NotProbed::NoDirectReads { cause: "EINVAL".into() };
        let own = HiddenCache::NotProbed { why: NotProbed::NoOwnFile { cause: "no room".into() } };
        for it in [
            HiddenCache::Seen(times),
            HiddenCache::NoneSeen(times),
            HiddenCache::NotProbed { why: cause },
            own,
        ] {
            let text = serde_json::to_string(&it).unwrap();
            assert_eq!(serde_json::from_str::<HiddenCache>(&text).unwrap(), it, "{text}");
        }
    }
}
