//! An interval, and the confidence at which it holds the true value.

use crate::number::{count_as_float, sorted};
use crate::quantile;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// The largest number of comparisons by which an error is divided: with more comparisons, hardly
/// more trials are called slower by chance.
const COMPARISONS_MAX: usize = 7;

/// A range that holds the true value with a given confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The rule by which an interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntervalRule {
    /// The noise of all trials of a state, estimated together ([`crate::SharedVariance`]).
    SharedVariance,
    /// The exact signed-rank test.
    SignedRank,
    /// The sign test.
    SignTest,
    /// Student's t for a single trial or a single pair of trials.
    Student,
}

impl IntervalRule {
    /// The rule of an interval that is computed from the intervals of two numbers: their common
    /// rule, or the only known rule; `None` if the rules differ or none is known.
    pub fn of_both(one: Option<IntervalRule>, other: Option<IntervalRule>) -> Option<IntervalRule> {
        match (one, other) {
            (Some(one), Some(other)) => (one == other).then_some(one),
            (known, None) | (None, known) => known,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct IntervalWithRule {
    #[serde(flatten)]
    pub ends: Interval,
    pub rule: IntervalRule,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct RuledEnds {
    ci95: Option<[f64; 2]>,
    interval: Option<IntervalRule>,
}

impl IntervalWithRule {
    /// Serializes the ends as a list, and the rule beside them.
    pub(crate) fn serialize_ends<S: Serializer>(
        it: &Option<IntervalWithRule>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let (ci95, interval) = (it.map(|it| [it.ends.low, it.ends.high]), it.map(|it| it.rule));
        RuledEnds { ci95, interval }.serialize(serializer)
    }
}

/// The confidence of an interval, kept as its error probability: how often the interval may miss
/// the true value, on both sides together.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Confidence {
    two_sided_error: f64,
}

impl Interval {
    /// Whether a value is within the interval, the ends included.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Maps both ends by an increasing function.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Interval {
        Interval { low: f(self.low), high: f(self.high) }
    }

    /// Serializes an interval as the list of its ends.
    pub fn serialize_ends<S: Serializer>(ends: &Option<Interval>, serializer: S) -> Result<S::Ok, S::Error> {
        ends.map(|it| [it.low, it.high]).serialize(serializer)
    }

    pub(crate) fn hull_with(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The interval between the 2.5 % and the 97.5 % quantile of resampled values, widened around
    /// the centre by a factor.
    pub(crate) fn of_resampled(values: impl Iterator<Item = f64>, centre: f64, widening: f64) -> Interval {
        let sorted = sorted(values);
        let end = |share| centre + widening * (quantile(&sorted, share) - centre);
        let tail = Confidence::REPORTED.tail();
        Interval { low: end(tail), high: end(1.0 - tail) }
    }

    /// The interval from `centre - reach` to `centre + reach`.
    pub(crate) fn around(centre: f64, reach: f64) -> Interval {
        Interval { low: centre - reach, high: centre + reach }
    }
}

impl Confidence {
    /// The confidence of reported intervals, except those with `Confidence::DECIDED`: 5 of 100 miss
    /// the true value.
    pub const REPORTED: Confidence = Confidence { two_sided_error: 0.05 };

    /// The confidence of a ratio of readings that also decided when the race ended
    /// ([`crate::SharedVariance::of_decided_race`]). In simulated races 2.5 % would be enough. On
    /// real machines disturbances last for several rounds, but the test treats rounds as
    /// independent: at 1 % it calls equal commands different in 1 of 100 pairs.
    pub(crate) const DECIDED: Confidence = Confidence { two_sided_error: 0.01 };

    /// The confidence of an interval that misses in this share of experiments, for example 0.005.
    /// The share must be above 0 and at most one half.
    pub fn with_error(two_sided_error: f64) -> Confidence {
        Confidence { two_sided_error: two_sided_error.clamp(1e-12, 0.5) }
    }

    /// The confidence of each of `comparisons` comparisons with a trial that was chosen because its
    /// readings were fast.
    ///
    /// The chosen trial is slower than its readings suggest: at 95 %, every tenth of eight
    /// identical trials and every sixth of thirty would be called slower than it. So the error is
    /// divided by the number of comparisons (Dunn, *Multiple Comparisons among Means*, Journal of
    /// the American Statistical Association 56, 1961), by [`COMPARISONS_MAX`] at most: simulated
    /// races show that this is enough.
    pub(crate) fn against_chosen(comparisons: usize) -> Confidence {
        let comparisons = comparisons.clamp(1, COMPARISONS_MAX);
        Confidence::with_error(Confidence::REPORTED.error_probability() / count_as_float(comparisons))
    }

    /// The share of experiments in which the interval misses the true value.
    pub fn error_probability(self) -> f64 {
        self.two_sided_error
    }

    /// The error probability at each end.
    pub(crate) fn tail(self) -> f64 {
        self.two_sided_error / 2.0
    }
}
