//! The answer to a claim: the numbers found, and whether the claim holds by them.

use readlab_analysis::compare::Unit;
use readlab_analysis::stats::{Interval, IntervalRule, RuledInterval};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The claim holds, beyond the uncertainty of the figures.
    Holds,
    /// The claim does not hold, beyond the uncertainty of the figures.
    DoesNotHold,
    /// The figures do not decide the claim, for this reason.
    CannotBeTold(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    pub value: f64,
    // `None` where it is not known.
    #[serde(serialize_with = "Interval::serialize_ends")]
    #[schemars(with = "Option<[f64; 2]>")]
    pub ci95: Option<Interval>,
    // Known if the interval comes from a trial or a pair of trials of one record.
    #[serde(rename = "interval")]
    pub rule: Option<IntervalRule>,
    /// Number of rounds of its readings, of two numbers the fewer; `None` where it is not computed
    /// from readings.
    #[serde(skip)]
    pub rounds: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Number")]
pub struct ClaimNumber {
    /// The trials that the number is about.
    pub trials: String,
    /// The machine, or the record.
    #[serde(rename = "machine")]
    pub side: String,
    #[serde(flatten)]
    pub estimate: Estimate,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ShownNumbers {
    Nothing,
    /// Ratios as factors.
    Times(Vec<ClaimNumber>),
    /// Ratios as shares of 1.
    Shares(Vec<ClaimNumber>),
    Values(Unit, Vec<ClaimNumber>),
    /// Slopes: nanoseconds per byte for each unit of a fact of the machine.
    PerFact(String, Vec<ClaimNumber>),
    /// Counts of the pairs of an order.
    Pairs {
        /// Pairs whose numbers are in the claimed order.
        kept: usize,
        /// Pairs whose numbers are clearly in the opposite order.
        reversed: usize,
        of: usize,
    },
    /// Ranks that differ between machines.
    Ranks {
        differ: usize,
        of: usize,
    },
}

/// The answer to a claim, with the numbers that decide it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub shown: ShownNumbers,
    pub verdict: Verdict,
    /// The number that is farthest beyond a bound, if there are several numbers and one is beyond.
    pub beyond: Option<ClaimNumber>,
}

impl ShownNumbers {
    /// One of the numbers in the same form; for a pair of an order, its ratio. Ranks have no single
    /// number.
    pub fn with_only(&self, found: &ClaimNumber) -> ShownNumbers {
        let one = vec![found.clone()];
        match self {
            ShownNumbers::Times(_) | ShownNumbers::Pairs { .. } => ShownNumbers::Times(one),
            ShownNumbers::Shares(_) => ShownNumbers::Shares(one),
            ShownNumbers::Values(unit, _) => ShownNumbers::Values(*unit, one),
            ShownNumbers::PerFact(fact, _) => ShownNumbers::PerFact(fact.clone(), one),
            ShownNumbers::Nothing | ShownNumbers::Ranks { .. } => ShownNumbers::Nothing,
        }
    }
}

impl Answer {
    /// An answer that decides nothing, for this reason.
    pub fn undecided(why: impl Into<String>) -> Answer {
        Answer { shown: ShownNumbers::Nothing, verdict: Verdict::CannotBeTold(why.into()), beyond: None }
    }
}

impl Estimate {
    pub fn without_interval(value: f64) -> Estimate {
        Estimate::with_ends(value, None)
    }

    pub(super) fn with_ends(value: f64, ci95: Option<Interval>) -> Estimate {
        Estimate { value, ci95, rule: None, rounds: None }
    }

    pub(super) fn with_rule(value: f64, ci95: RuledInterval) -> Estimate {
        Estimate { value, ci95: Some(ci95.ends), rule: Some(ci95.rule), rounds: None }
    }
}
