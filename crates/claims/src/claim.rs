//! A claim of a publication: its text, its place in the publication, and the expression that is
//! judged.

use super::bounds::Bounds;
use super::metric::Metric;
use readlab_model::target::memory::MemoryBound;
use readlab_model::trial::CacheState;
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::RangeInclusive;

#[derive(Debug, Clone, PartialEq)]
pub struct ClaimsFile {
    pub name: String,
    /// The publication, in one line.
    pub publication: String,
    /// The name of the publication's tables in readlab, such as `urlsession`; `None` if it
    /// published none.
    pub tables_name: Option<String>,
    /// The records that can answer the claims.
    pub answered_by: AnsweredBy,
    pub claims: Vec<Claim>,
}

/// The records that can answer claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnsweredBy {
    Suite(String),
    Sweep,
    /// Any record: a user's own claims.
    AnyRecord,
}

// One claim, or one possible answer to an open question.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Claim {
    // The claim, paraphrased.
    #[serde(rename = "says")]
    pub statement: String,
    /// The part of the publication that contains the claim.
    #[serde(rename = "where")]
    pub passage: String,
    /// The open question that the claim may answer; `None` for a claim that the publication makes.
    pub question: Option<String>,
    #[serde(skip)]
    pub expression: Expression,
    // Both are `None` for a claim about an order.
    pub bounds: Bounds,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// One number divided by another, for each pair.
    Ratio { pairs: Vec<Pair>, form: RatioForm },
    /// One number minus another, for each pair.
    Difference(Vec<Pair>),
    /// The numbers of the trials themselves.
    Value(Vec<Quantity>),
    /// The numbers rise: each is less than the next.
    Order(Vec<Quantity>),
    /// The trials have the same order on all machines.
    SameOrder(Vec<Quantity>),
    /// The number on one machine divided by that on another, for each trial. A record replaces the
    /// first machine.
    Machines {
        trials: Vec<Quantity>,
        /// The machine whose numbers are compared.
        machine: String,
        /// The machine with which `machine` is compared.
        reference_machine: String,
        /// A fact that both machines must share, such as `cpu`; with `None`, they may differ in
        /// all.
        shared_fact: Option<String>,
    },
    /// Time per byte against a fact of the machines, as the slope of a straight line.
    Slope {
        quantity: Quantity,
        /// The name of the fact, such as `max_turbo_ghz`.
        fact: String,
        /// The factor by which a record's time per byte may differ from the line and still agree
        /// with it.
        factor_max: f64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatioForm {
    /// The ratio is shown as a factor.
    Times,
    /// The ratio is shown in percent.
    Share,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub quantity: Quantity,
    /// The number by which `quantity` is divided, or which is subtracted from it.
    pub reference: Quantity,
}

/// A number of a trial, or of a series of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// The trial's label in the suite, the trial's name, or the published row.
    pub trial: String,
    pub metric: Metric,
    /// The metric to look up in the published table, if it differs from `metric`.
    pub published_metric: Option<Metric>,
    /// The cache state; with `None`, any state for which the record has a number.
    pub state: Option<CacheState>,
    /// The bound on memory of a pressed trial; with `None`, any bound.
    pub memory: Option<MemoryBound>,
    /// For a sweep, only files of these sizes.
    pub size_range_bytes: Option<RangeInclusive<u64>>,
}

impl Expression {
    pub fn quantities(&self) -> Vec<&Quantity> {
        match self {
            Expression::Ratio { pairs, .. } | Expression::Difference(pairs) => {
                pairs.iter().flat_map(|pair| [&pair.quantity, &pair.reference]).collect()
            }
            Expression::Value(all)
            | Expression::Order(all)
            | Expression::SameOrder(all)
            | Expression::Machines { trials: all, .. } => all.iter().collect(),
            Expression::Slope { quantity, .. } => vec![quantity],
        }
    }
}
