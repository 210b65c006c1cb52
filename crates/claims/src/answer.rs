//! The answer to a claim: what was found, and whether the claim holds by it.

use readlab_analysis::compare::Unit;
use readlab_analysis::stats::{Interval, IntervalRule, RuledInterval};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It does, beyond the uncertainty of the figures.
    Holds,
    /// It does not, beyond the uncertainty of the figures.
    DoesNotHold,
    /// The figures do not show either, for this reason.
    CannotBeTold(String),
}

/// A number with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// Its 95 % interval; `None` where none is known.
    pub ci95: Option<Interval>,
    /// By which rule the interval was made, where that is one of a trial or of a pair of trials of
    /// one record.
    pub rule: Option<IntervalRule>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The trials that it is about.
    pub trials: String,
    /// The machine, or the record.
    pub side: String,
    pub estimate: Estimate,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    Nothing,
    /// Factors.
    Times(Vec<Found>),
    /// Shares of 1.
    Shares(Vec<Found>),
    Values(Unit, Vec<Found>),
    /// Nanoseconds per byte for each unit of a fact.
    PerFact(String, Vec<Found>),
    /// Pairs of an order that are as it says, and as it does not.
    Pairs {
        /// Pairs in the order.
        kept: usize,
        /// Pairs in the opposite order.
        reversed: usize,
        of: usize,
    },
    /// Ranks that differ between machines.
    Ranks {
        differ: usize,
        of: usize,
    },
}

/// What was found, and whether the claim holds by it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub shown: Shown,
    pub verdict: Verdict,
    /// The number that is farthest beyond a bound, if one is and there are several.
    pub beyond: Option<Found>,
}

impl Shown {
    /// One number in the same form, of a pair its ratio; nothing for what are no numbers.
    pub fn one(&self, found: &Found) -> Shown {
        let one = vec![found.clone()];
        match self {
            Shown::Times(_) | Shown::Pairs { .. } => Shown::Times(one),
            Shown::Shares(_) => Shown::Shares(one),
            Shown::Values(unit, _) => Shown::Values(*unit, one),
            Shown::PerFact(fact, _) => Shown::PerFact(fact.clone(), one),
            Shown::Nothing | Shown::Ranks { .. } => Shown::Nothing,
        }
    }
}

impl Answer {
    /// An answer that nothing can be told from.
    pub fn untold(why: impl Into<String>) -> Answer {
        Answer { shown: Shown::Nothing, verdict: Verdict::CannotBeTold(why.into()), beyond: None }
    }
}

impl Estimate {
    /// A number without an interval.
    pub fn alone(value: f64) -> Estimate {
        Estimate::with_ends(value, None)
    }

    pub(super) fn with_ends(value: f64, ci95: Option<Interval>) -> Estimate {
        Estimate { value, ci95, rule: None }
    }

    pub(super) fn with_rule(value: f64, ci95: RuledInterval) -> Estimate {
        Estimate { value, ci95: Some(ci95.ends), rule: Some(ci95.rule) }
    }
}
