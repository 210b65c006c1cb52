//! An interval, and the confidence at which it holds the true value.

use crate::number::count;
use crate::quantile;
use schemars::JsonSchema;
use serde::Serialize;

/// With more comparisons, the share that is called slower by chance hardly grows.
const COMPARISONS_MAX: usize = 7;

/// A range that holds the true value as often as its confidence says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// By which rule an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntervalRule {
    /// By the noise that all trials of a state show together ([`crate::SharedVariance`]).
    SharedVariance,
    /// By the exact signed-rank test.
    SignedRank,
    /// By the sign test.
    SignTest,
    /// By Student's t of one trial or of one pair of trials.
    Student,
}

/// An interval and its rule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RuledInterval {
    #[serde(flatten)]
    pub ends: Interval,
    pub rule: IntervalRule,
}

/// How often an interval may miss the true value, both sides together.
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

    /// Both ends through a rising function.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Interval {
        Interval { low: f(self.low), high: f(self.high) }
    }

    /// The interval from the lower of both lower ends to the higher of both upper ends.
    pub(crate) fn and(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// From the quantiles of what resamples gave, that much farther from the centre.
    pub(crate) fn of_resampled(values: impl Iterator<Item = f64>, centre: f64, widening: f64) -> Interval {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let end = |share| centre + widening * (quantile(&sorted, share) - centre);
        let tail = Confidence::REPORTED.tail();
        Interval { low: end(tail), high: end(1.0 - tail) }
    }

    /// As far in both directions.
    pub(crate) fn around(centre: f64, reach: f64) -> Interval {
        Interval { low: centre - reach, high: centre + reach }
    }
}

impl Confidence {
    /// That of every reported interval: 5 of 100 miss.
    pub const REPORTED: Confidence = Confidence { two_sided_error: 0.05 };

    /// An interval that misses in this share of experiments, for example 0.005; not more than half
    /// of them, and not none.
    pub fn with_error(two_sided_error: f64) -> Confidence {
        Confidence { two_sided_error: two_sided_error.clamp(1e-12, 0.5) }
    }

    /// That of each of so many comparisons with a trial that was chosen because it looked fast.
    ///
    /// The first was chosen because it looked fast, so it is slower than its readings: at 95 %,
    /// every tenth of eight identical trials and every sixth of thirty would be called slower. So
    /// the error is divided by the number of comparisons (Dunn, *Multiple Comparisons among Means*,
    /// Journal of the American Statistical Association 56, 1961), by [`COMPARISONS_MAX`] at most:
    /// simulated races show that this is enough.
    pub(crate) fn against_chosen(comparisons: usize) -> Confidence {
        let comparisons = comparisons.clamp(1, COMPARISONS_MAX);
        Confidence::with_error(Confidence::REPORTED.error() / count(comparisons))
    }

    /// The share of experiments in which the interval misses.
    pub fn error(self) -> f64 {
        self.two_sided_error
    }

    /// The probability beyond each end.
    pub(crate) fn tail(self) -> f64 {
        self.two_sided_error / 2.0
    }
}
