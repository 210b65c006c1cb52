//! The answer to a claim: the numbers found, and whether the claim holds by them.

use readlab_analysis::compare::Unit;
use readlab_analysis::stats::{Interval, IntervalRule, IntervalWithRule};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The claim holds, beyond the uncertainty of the figures.
    Holds,
    /// The claim does not hold, beyond the uncertainty of the figures.
    DoesNotHold,
    /// The figures do not decide the claim, for this reason.
    Undecided(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    pub value: f64,
    // The 95 % interval of the value; `None` if it is unknown.
    #[serde(serialize_with = "Interval::serialize_ends")]
    #[schemars(with = "Option<[f64; 2]>")]
    pub ci95: Option<Interval>,
    // How the interval was computed; `None` unless it comes from readings of one record.
    #[serde(rename = "interval")]
    pub rule: Option<IntervalRule>,
    /// Number of rounds with readings; for a ratio or a difference, that of the operand with fewer
    /// rounds. `None` if the value was not computed from readings.
    #[serde(skip)]
    pub round_count: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Number")]
pub struct ClaimNumber {
    /// The trials that the number is about.
    pub trials: String,
    /// The machine's name in the publication, or `here` for a record.
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
    /// The name of a fact of the machine, and slopes in nanoseconds per byte and unit of this fact.
    PerFact(String, Vec<ClaimNumber>),
    /// Counts of the pairs of an order.
    Pairs {
        /// Pairs whose numbers are in the claimed order.
        in_order: usize,
        /// Pairs whose numbers are clearly in the opposite order.
        reversed: usize,
        total: usize,
    },
    /// Ranks that differ between machines.
    Ranks {
        differing: usize,
        total: usize,
    },
}

/// The answer to a claim, with the numbers that decide it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub shown: ShownNumbers,
    pub verdict: Verdict,
    /// The number that is farthest beyond a bound; `None` if none is beyond one, or if there is
    /// only one number.
    pub farthest_beyond: Option<ClaimNumber>,
}

impl ShownNumbers {
    /// The given number alone, in the form of these numbers. The number of a pair of an order is
    /// its ratio; ranks have no single number, so the result is `Nothing`.
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
        Answer {
            shown: ShownNumbers::Nothing,
            verdict: Verdict::Undecided(why.into()),
            farthest_beyond: None,
        }
    }
}

impl Estimate {
    pub fn without_interval(value: f64) -> Estimate {
        Estimate::with_ends(value, None)
    }

    pub(super) fn with_ends(value: f64, ci95: Option<Interval>) -> Estimate {
        Estimate { value, ci95, rule: None, round_count: None }
    }

    pub(super) fn with_rule(value: f64, ci95: IntervalWithRule) -> Estimate {
        Estimate { value, ci95: Some(ci95.ends), rule: Some(ci95.rule), round_count: None }
    }
}
