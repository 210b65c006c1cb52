//! Ratios of two things measured in turns: one quotient for each pair, their median, and its
//! interval.
//!
//! What drifts with the machine is in both halves of a pair and falls out of their quotient.
//! Logarithms make the ratio of A to B the inverse of that of B to A; the interval is the lab's
//! own, over pairs.

use readlab_analysis::stats::{self, Confidence, Interval, Observation};
use readlab_record::TrialRecord;
use std::collections::BTreeMap;

/// How many times as long the first of each pair took as the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairRatio {
    /// Median over the pairs.
    pub(crate) estimate: f64,
    /// 95 % interval; `None` with fewer than five pairs.
    pub(crate) ci95: Option<Interval>,
}

/// The ratio over these pairs of times, not a number when there are none.
pub(crate) fn ratio(pairs: &[(f64, f64)]) -> PairRatio {
    let logs = pairs.iter().map(|(a, b)| (a / b).ln());
    let observations: Vec<Observation> =
        (0..).zip(logs).map(|(pair, value)| Observation { value, fill: pair, round: pair }).collect();
    let values: Vec<f64> = observations.iter().map(|observation| observation.value).collect();
    let ends = stats::median_interval(&observations, Confidence::REPORTED);
    let ci95 = ends.map(|ends| Interval { low: ends.low.exp(), high: ends.high.exp() });
    PairRatio { estimate: median(&values).exp(), ci95 }
}

/// The median; not a number when there is nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    stats::median(values.iter().copied()).unwrap_or(f64::NAN)
}

/// The median time of a trial's readings.
pub(crate) fn wall_ns(trial: &TrialRecord) -> f64 {
    median(&floats(trial.samples.iter().map(|sample| sample.wall_ns)))
}

/// The median times of two trials in each round that has both.
pub(crate) fn in_rounds(one: &TrialRecord, other: &TrialRecord) -> Vec<(f64, f64)> {
    let by_round = |trial: &TrialRecord| {
        let mut walls: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        trial.samples.iter().for_each(|sample| walls.entry(sample.round).or_default().push(sample.wall_ns));
        walls
    };
    let others = by_round(other);
    let both = by_round(one).into_iter().filter_map(|(round, walls)| {
        let of_other = others.get(&round)?;
        Some((median(&floats(walls)), median(&floats(of_other.iter().copied()))))
    });
    both.collect()
}

/// Nanoseconds as numbers to calculate with.
#[expect(clippy::cast_precision_loss, reason = "exact up to 104 days")]
pub(crate) fn floats(nanoseconds: impl IntoIterator<Item = u64>) -> Vec<f64> {
    nanoseconds.into_iter().map(|ns| ns as f64).collect()
}

impl PairRatio {
    /// `1.004 [0.998, 1.011]`.
    pub(crate) fn words(&self) -> String {
        let ends = self.ci95.map(|ends| format!(" [{:.3}, {:.3}]", ends.low, ends.high)).unwrap_or_default();
        format!("{:.3}{ends}", self.estimate)
    }

    /// Whether it is no further from 1 than this share.
    pub(crate) fn within(&self, share: f64) -> bool {
        (self.estimate - 1.0).abs() <= share
    }

    /// Whether its interval holds 1, and is no wider than this share to both sides.
    pub(crate) fn holds_one_within(&self, share: f64) -> bool {
        let is_narrow = |it: Interval| it.high / it.low <= 1.0 + 2.0 * share;
        self.ci95.is_some_and(|it| it.low <= 1.0 && 1.0 <= it.high && is_narrow(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_that_both_halves_share_falls_out() {
        let pairs: Vec<(f64, f64)> =
            (0..7).map(|n| (1.02 * f64::from(100 + n * 50), f64::from(100 + n * 50))).collect();
        let found = ratio(&pairs);
        assert!((found.estimate - 1.02).abs() < 1e-9 && found.within(0.021) && !found.within(0.019));
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
        let few = [(1.0, 1.0); 4];
        assert_eq!(ratio(&few).ci95, None);
        assert!(ratio(&[]).estimate.is_nan());
    }
}
