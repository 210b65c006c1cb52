//! Blocks of one file that one reading reads instead of the whole file: at places, in the order
//! that a pattern defines, or the ranges of a list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The default exponent of `zipf`, which is YCSB's (Cooper et al., SoCC 2010).
const DEFAULT_EXPONENT: f64 = 0.99;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
pub enum Pattern {
    /// Every block is equally likely, and no block repeats before all blocks were read.
    Random,
    /// The block of rank *k* is read with a probability in proportion to *k*^−exponent; ranks are
    /// scattered over the file.
    Zipf { exponent: f64 },
    /// Reads every n-th block from the start of the file to its end, then starts again one block
    /// later.
    Stride {
        /// The step in blocks; `None` for the step that spreads the reads over the whole file.
        blocks: Option<u64>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no pattern: random, zipf, zipf:EXPONENT (above 0), stride or stride:BLOCKS (1 or more)")]
pub struct PatternError(String);

/// The blocks at places of a file, as a record keeps them. The target's size is the size of all
/// these blocks together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlacesFacts {
    pub pattern: Pattern,
    pub block_bytes: u64,
    /// Number of blocks that one reading reads.
    #[serde(rename = "reads")]
    pub read_count: u64,
    /// How many different blocks one reading reads.
    #[serde(rename = "distinct")]
    pub distinct_blocks: u64,
    pub file_bytes: u64,
}

/// The ranges of a list, as a record keeps them. The size of the target is the sum of their
/// lengths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RangesFacts {
    /// Path of the list; `-` is standard input.
    #[serde(rename = "list")]
    pub list_path: String,
    /// True if the ranges are read in the order of the file instead of the order of the list.
    pub is_sorted: bool,
    /// Number of ranges that one reading reads.
    #[serde(rename = "reads")]
    pub read_count: u64,
    pub shortest_bytes: u64,
    pub longest_bytes: u64,
    /// Number of bytes that a reading reads again, because ranges overlap.
    pub repeated_bytes: u64,
    /// Size of the pages that contain the ranges. A page that contains several ranges counts once.
    pub pages_bytes: u64,
    pub file_bytes: u64,
}

/// Facts about the blocks that one reading reads, which are places or ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockReads {
    pub read_count: u64,
    /// Bytes that are read more than once in one reading.
    pub repeated_bytes: u64,
    pub file_bytes: u64,
}

impl From<&PlacesFacts> for BlockReads {
    fn from(places: &PlacesFacts) -> BlockReads {
        let &PlacesFacts { read_count: reads, file_bytes, .. } = places;
        BlockReads { read_count: reads, repeated_bytes: places.repeated_bytes(), file_bytes }
    }
}

impl From<&RangesFacts> for BlockReads {
    fn from(ranges: &RangesFacts) -> BlockReads {
        let &RangesFacts { read_count: reads, repeated_bytes, file_bytes, .. } = ranges;
        BlockReads { read_count: reads, repeated_bytes, file_bytes }
    }
}

impl PlacesFacts {
    /// Bytes that are read more than once in one reading.
    pub fn repeated_bytes(&self) -> u64 {
        (self.read_count - self.distinct_blocks.min(self.read_count)) * self.block_bytes
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Pattern::Random => "random".to_owned(),
            Pattern::Zipf { exponent } => format!("zipf:{exponent}"),
            Pattern::Stride { blocks: None } => "stride".to_owned(),
            Pattern::Stride { blocks: Some(blocks) } => format!("stride:{blocks}"),
        };
        f.pad(&text)
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        let wrong = || PatternError(text.to_owned());
        match text.split_once(':') {
            None if text == "random" => Ok(Pattern::Random),
            None if text == "zipf" => Ok(Pattern::Zipf { exponent: DEFAULT_EXPONENT }),
            None if text == "stride" => Ok(Pattern::Stride { blocks: None }),
            Some(("zipf", exponent)) => {
                let exponent = exponent.parse().ok().filter(|it: &f64| it.is_finite() && *it > 0.0);
                Ok(Pattern::Zipf { exponent: exponent.ok_or_else(wrong)? })
            }
            Some(("stride", blocks)) => {
                let blocks = blocks.parse().ok().filter(|it| *it > 0).ok_or_else(wrong)?;
                Ok(Pattern::Stride { blocks: Some(blocks) })
            }
            _ => Err(wrong()),
        }
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> String {
        pattern.to_string()
    }
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Pattern, PatternError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_pattern_is_parsed_back_from_its_spelling() {
        for text in ["random", "zipf:0.99", "zipf:1.5", "stride", "stride:17"] {
            assert_eq!(pattern(text).to_string(), text);
        }
        assert_eq!(pattern("zipf"), Pattern::Zipf { exponent: DEFAULT_EXPONENT });
        for wrong in
            ["", "randomly", "zipf:", "zipf:0", "zipf:-1", "zipf:nan", "stride:0", "stride:1.5", "random:1"]
        {
            assert!(wrong.parse::<Pattern>().is_err(), "{wrong}");
        }
    }
}
