//! A claim of a publication: what it says, where, and the expression that is judged.

use super::bounds::Bounds;
use super::metric::Metric;
use readlab_model::trial::CacheState;
use std::ops::RangeInclusive;

/// The claims of one publication.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimsFile {
    pub name: String,
    /// The publication in one line.
    pub source: String,
    /// Its tables here, such as `urlsession`; `None` where it published none.
    pub published: Option<String>,
    /// Whose record answers the claims.
    pub answered_by: AnsweredBy,
    pub claims: Vec<Claim>,
}

/// Whose record answers claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnsweredBy {
    Suite(String),
    Sweep,
    /// Any record: a user's own claims.
    Anything,
}

/// One claim, or one possible answer to an open question.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// What it says, in our own words.
    pub says: String,
    /// The part of the publication that says it.
    pub place: String,
    /// The open question that it may answer.
    pub question: Option<String>,
    pub expression: Expression,
    /// The values for which it holds; none for orders.
    pub bounds: Bounds,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// One number over another, for each pair.
    Ratio { pairs: Vec<Pair>, form: RatioForm },
    /// One number less another, for each pair.
    Difference(Vec<Pair>),
    /// The numbers themselves.
    Value(Vec<Quantity>),
    /// Each number is less than the next.
    Order(Vec<Quantity>),
    /// The order of these is the same on all machines.
    SameOrder(Vec<Quantity>),
    /// The number on one machine over that on another, for each trial. A record stands in for the
    /// first machine.
    Machines {
        trials: Vec<Quantity>,
        /// The machine.
        of: String,
        /// The machine that it is compared with.
        to: String,
        /// The fact that both must share, such as `cpu`.
        same: Option<String>,
    },
    /// Time per byte over a fact of the machines, as the slope of a straight line.
    Slope {
        of: Quantity,
        /// The fact, such as `max_turbo_ghz`.
        over: String,
        /// By what factor a machine may be off the line and still be on it.
        within: f64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatioForm {
    /// As a factor.
    Times,
    /// In percent.
    Share,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub of: Quantity,
    /// What it is compared with.
    pub to: Quantity,
}

/// A number of a trial, or of a series of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// The trial's label in the suite, its name, or the published row.
    pub trial: String,
    pub metric: Metric,
    /// Which number of the published table stands for it, if it is another.
    pub published_metric: Option<Metric>,
    /// The state of the cache; any where the record has one.
    pub state: Option<CacheState>,
    /// Only files of these sizes, of a sweep.
    pub sizes: Option<RangeInclusive<u64>>,
}

impl Expression {
    pub fn quantities(&self) -> Vec<&Quantity> {
        match self {
            Expression::Ratio { pairs, .. } | Expression::Difference(pairs) => {
                pairs.iter().flat_map(|pair| [&pair.of, &pair.to]).collect()
            }
            Expression::Value(all)
            | Expression::Order(all)
            | Expression::SameOrder(all)
            | Expression::Machines { trials: all, .. } => all.iter().collect(),
            Expression::Slope { of, .. } => vec![of],
        }
    }
}
