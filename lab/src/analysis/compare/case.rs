//! One case of a comparison: a way of reading on one target with its numbers, and what must agree
//! before the numbers of two cases are compared.

use super::measure::Measure;
use crate::analysis::stats::{self, LogMedian, Observation};
use crate::record::Outcome;
use crate::trial::{CacheState, Params, Transport, Work};
use std::collections::{BTreeMap, BTreeSet};

/// One way of reading on one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What it is called: a suite's label, or the trial's name.
    pub name: String,
    /// Everything that it is called.
    pub names: BTreeSet<String>,
    /// What must agree before numbers are compared.
    pub key: ComparisonKey,
    /// Its numbers.
    pub figures: BTreeMap<Measure, Figure>,
    /// Why it has none, if it was refused, failed or unavailable.
    pub unmeasured: Option<Outcome>,
}

/// What must agree before numbers are compared; `None` is not known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComparisonKey {
    /// Where the target was.
    pub path: Option<String>,
    /// Over what its bytes came.
    pub over: Option<Transport>,
    /// Digest of its content.
    pub digest: Option<String>,
    /// Its size.
    pub size_bytes: Option<u64>,
    /// What was done with the bytes.
    pub work: Option<Work>,
    /// Where they were.
    pub state: Option<CacheState>,
    /// Readers that each read the whole of it in one reading.
    pub readers: Option<u64>,
    /// Whether cold is cold above a cache; `None` for another state, and in records of before that
    /// was found out.
    pub is_above_cache: Option<bool>,
    /// Every parameter in force.
    pub params: Option<Params>,
}

/// A number, with what it comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// Raw samples.
    Samples(Vec<Observation>),
    /// Only the number is known.
    Value {
        /// The number.
        value: f64,
        /// What it is.
        statistic: Statistic,
    },
}

/// What a number without samples is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Arithmetic mean of several readings.
    Mean,
    /// Median of several readings.
    Median,
    /// Counted once, in a run of its own.
    Count,
    /// Slope of a regression line.
    Slope,
    /// The largest.
    Most,
}

impl Figure {
    /// The median, or the single number.
    #[must_use]
    pub fn value(&self) -> f64 {
        match self {
            Figure::Value { value, .. } => *value,
            Figure::Samples(observations) => {
                stats::median(observations.iter().map(|it| it.value)).unwrap_or(f64::NAN)
            }
        }
    }

    /// What it takes part in quotients with.
    #[must_use]
    pub fn log_median(&self) -> LogMedian {
        match self {
            Figure::Value { value, .. } => LogMedian::from_published(*value),
            Figure::Samples(observations) => {
                LogMedian::of(observations).expect("a figure of samples is made only where there are some")
            }
        }
    }
}
