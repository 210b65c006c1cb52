//! A bound on the memory in which the page cache of a reading must fit, as the user writes it and
//! as a record keeps it. A reading under a bound has the cache state *pressed*.

use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The bound as the user writes it: `256MiB`, or `50%` of the target's working set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MemoryBound {
    Bytes(u64),
    /// Hundredths of a percent of the target's working set; values above 100 % are allowed.
    Share(u32),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' bounds no memory: a size (256MiB), or a percentage of the target's size (50%)")]
pub struct MemoryBoundError(String);

/// The largest percentage of the working set that a bound may be.
const PERCENT_MAX: f64 = 100_000.0;

/// The smallest bound in bytes: a page. A smaller number, such as `50`, probably lacks its unit or
/// its percent sign.
const BYTES_MIN: u64 = 4096;

/// The largest bound: more memory than any machine has.
const BYTES_MAX: u64 = 1 << 50;

/// The bound under which a target is read, as a record keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryFacts {
    /// The bound as it was requested: `50%` or `256MiB`.
    #[schemars(with = "String")]
    pub bound: MemoryBound,
    /// Bytes of page cache that one control group may have. The group's limit is this and the
    /// memory that the contender's processes need.
    pub cache_bytes: u64,
    /// Bytes that the readings of one group keep in memory if they all fit, each byte once: the
    /// size of a file or of all files, the pages of the blocks that are read, or all copies if the
    /// readers of copies share a group. A bound in percent refers to these bytes.
    pub working_set_bytes: u64,
    /// True if all readers that read at the same time share one group; false if each has its own.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub is_shared: bool,
}

impl MemoryBound {
    pub fn in_bytes(self, working_set_bytes: u64) -> u64 {
        match self {
            MemoryBound::Bytes(bytes) => bytes.min(BYTES_MAX),
            MemoryBound::Share(hundredths) => {
                let bytes = u128::from(working_set_bytes) * u128::from(hundredths) / 10_000;
                u64::try_from(bytes).map_or(BYTES_MAX, |bytes| bytes.min(BYTES_MAX))
            }
        }
    }
}

impl MemoryFacts {
    /// The bound ÷ the working set; at least 1 if the whole working set fits into memory.
    pub fn share(&self) -> f64 {
        self.cache_bytes as f64 / self.working_set_bytes.max(1) as f64
    }

    /// The bound as the name of a trial states it, after the `+`.
    pub fn words(&self) -> String {
        format!("memory={}", self.bound)
    }
}

impl FromStr for MemoryBound {
    type Err = MemoryBoundError;

    fn from_str(text: &str) -> Result<MemoryBound, MemoryBoundError> {
        let wrong = || MemoryBoundError(text.to_owned());
        let Some(percent) = text.trim().strip_suffix('%') else {
            let bytes = text.trim().parse::<Bytes>().map_err(|_| wrong())?.0;
            return if bytes >= BYTES_MIN { Ok(MemoryBound::Bytes(bytes)) } else { Err(wrong()) };
        };
        let percent = percent.trim().parse::<f64>().map_err(|_| wrong())?;
        let hundredths = (percent * 100.0).round();
        let is_share = hundredths >= 1.0 && percent <= PERCENT_MAX;
        if is_share { Ok(MemoryBound::Share(hundredths as u32)) } else { Err(wrong()) }
    }
}

impl fmt::Display for MemoryBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryBound::Bytes(bytes) => f.pad(&Bytes(*bytes).exact_text()),
            MemoryBound::Share(hundredths) => f.pad(&format!("{}%", f64::from(*hundredths) / 100.0)),
        }
    }
}

impl TryFrom<String> for MemoryBound {
    type Error = MemoryBoundError;

    fn try_from(text: String) -> Result<MemoryBound, MemoryBoundError> {
        text.parse()
    }
}

impl From<MemoryBound> for String {
    fn from(bound: MemoryBound) -> String {
        bound.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_a_size_or_a_share_of_the_target() {
        let of = |text: &str| text.parse::<MemoryBound>().map(|bound| bound.in_bytes(1000));
        assert_eq!(of("50%"), Ok(500));
        assert_eq!(of("12.5%"), Ok(125));
        assert_eq!(of("200%"), Ok(2000));
        assert_eq!(of("1000000TiB"), Ok(1 << 50));
        assert_eq!(of("4KiB"), Ok(4096));
        for text in ["0", "50", "4095", "0%", "-5%", "NaN%", "inf%", "half", "", "%", "100001%"] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bound_is_written_as_it_is_parsed() {
        for text in ["50%", "12.5%", "0.01%", "200%", "256MiB"] {
            assert_eq!(text.parse::<MemoryBound>().unwrap().to_string(), text);
        }
        let bound = "50%".parse::<MemoryBound>().unwrap();
        let facts = MemoryFacts { bound, cache_bytes: 500, working_set_bytes: 1000, is_shared: false };
        assert_eq!((facts.words().as_str(), facts.share()), ("memory=50%", 0.5));
        let json = serde_json::to_string(&facts).unwrap();
        assert_eq!(json, r#"{"bound":"50%","cache_bytes":500,"working_set_bytes":1000}"#);
        assert_eq!(serde_json::from_str::<MemoryFacts>(&json).unwrap(), facts);
    }
}
