//! Ratios of two things measured in turns: one ratio for each pair, their median, and its interval.
//!
//! The machine's drift affects both halves of a pair and cancels in their ratio. With logarithms,
//! the ratio of A to B is the inverse of that of B to A. The interval is the lab's own, over pairs.

use crate::row::Row;
use anyhow::Context;
use readlab_analysis::stats::{self, Confidence, Interval, Observation, SharedRatio, SharedVariance};
use readlab_record::TrialRecord;

/// The time of the first of each pair divided by that of the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairRatio {
    pub(crate) estimate: f64,
    /// 95 % interval; `None` with fewer than five pairs.
    pub(crate) ci95: Option<Interval>,
}

/// The ratio over these pairs of times; NaN without pairs.
pub(crate) fn ratio(pairs: &[(f64, f64)]) -> PairRatio {
    let observations = Observation::from_rounds(pairs.iter().map(|(a, b)| (a / b).ln()));
    let ci95 = stats::median_interval(&observations, Confidence::REPORTED).map(|ends| ends.map(f64::exp));
    PairRatio { estimate: median(observations.iter().map(|it| it.value)).exp(), ci95 }
}

/// The time of one trial divided by that of another, as readlab reports it, from the rounds that
/// contain both.
pub(crate) fn of_trials(slow: &TrialRecord, fast: &TrialRecord) -> anyhow::Result<SharedRatio> {
    SharedVariance::new([&slow.samples, &fast.samples]).ratio(1, 0).context("no round holds both")
}

/// The median; NaN without values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    stats::median(values).unwrap_or(f64::NAN)
}

pub(crate) fn wall_ns(trial: &TrialRecord) -> f64 {
    median(trial.samples.iter().map(|sample| stats::float(sample.wall_ns)))
}

/// The trial with the shortest median time.
pub(crate) fn fastest<'r>(trials: impl Iterator<Item = &'r TrialRecord>) -> Option<&'r TrialRecord> {
    trials.min_by(|a, b| wall_ns(a).total_cmp(&wall_ns(b)))
}

impl PairRatio {
    /// The ratio as text, such as `1.004 [0.998, 1.011]`.
    fn words(&self) -> String {
        let ends = self.ci95.map(|ends| format!(" [{:.3}, {:.3}]", ends.low, ends.high)).unwrap_or_default();
        format!("{:.3}{ends}", self.estimate)
    }

    fn row(&self, figure: impl Into<String>, target: String, ok: bool) -> Row {
        Row::judged(figure, target, self.estimate, ok, self.words()).with_interval(self.ci95)
    }

    pub(crate) fn row_within(&self, figure: impl Into<String>, share: f64) -> Row {
        let ok = (self.estimate - 1.0).abs() <= share;
        self.row(figure, format!("within {:.0} %", share * 100.0), ok)
    }

    pub(crate) fn row_at_least(&self, figure: impl Into<String>, least: f64) -> Row {
        self.row(figure, format!("at least {least:.2}"), self.estimate >= least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_that_both_halves_share_cancels() {
        let pairs: Vec<(f64, f64)> =
            (0..7).map(|n| (1.02 * f64::from(100 + n * 50), f64::from(100 + n * 50))).collect();
        let found = ratio(&pairs);
        assert!((found.estimate - 1.02).abs() < 1e-9);
        assert_eq!(
            (found.row_within("x", 0.021).ok, found.row_within("x", 0.019).ok),
            (Some(true), Some(false))
        );
        let ends = found.ci95.unwrap();
        assert!((ends.low - 1.02).abs() < 1e-9 && (ends.high - 1.02).abs() < 1e-9);
    }

    #[test]
    fn swapping_the_halves_gives_the_inverse() {
        let pairs = [(1.0, 2.0), (3.0, 5.0), (2.0, 3.0), (7.0, 11.0), (1.0, 1.5)];
        let swapped: Vec<_> = pairs.iter().map(|&(a, b)| (b, a)).collect();
        assert!((ratio(&pairs).estimate * ratio(&swapped).estimate - 1.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_pairs_have_no_interval() {
        assert_eq!(ratio(&[(1.0, 1.0); 4]).ci95, None);
        assert!(ratio(&[]).estimate.is_nan());
    }
}
