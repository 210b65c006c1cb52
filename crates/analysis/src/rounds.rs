//! Numbers by round: the times of a trial, and means over rounds with their intervals.

use crate::stats::{Confidence, Interval, float, mean, mean_interval, median};
use readlab_record::TrialRecord;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// With fewer rounds, no interval is reported.
pub(crate) const ROUNDS_MIN: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    #[serde(rename = "estimate")]
    pub value: f64,
    // `None` with too few rounds.
    #[serde(rename = "ci95", serialize_with = "Interval::serialize_ends")]
    #[schemars(with = "Option<[f64; 2]>")]
    pub interval: Option<Interval>,
}

impl Estimate {
    /// The mean of one number for each round; `None` without rounds.
    pub(crate) fn mean(values: &[f64]) -> Option<Estimate> {
        (!values.is_empty()).then(|| Estimate { value: mean(values), interval: interval_of_mean(values) })
    }

    pub(crate) fn map(self, outward: impl Fn(f64) -> f64) -> Estimate {
        let interval = self.interval.map(|it| it.map(&outward));
        Estimate { value: outward(self.value), interval }
    }

    /// Whether the whole interval is above zero; without an interval, whether the value is.
    pub fn is_clearly_positive(&self) -> bool {
        self.value > 0.0 && self.interval.is_none_or(|it| it.low > 0.0)
    }
}

/// The interval of a mean over rounds; `None` with too few rounds.
pub(crate) fn interval_of_mean(values: &[f64]) -> Option<Interval> {
    if values.len() < ROUNDS_MIN { None } else { mean_interval(values, Confidence::REPORTED) }
}

/// The median wall time of each round, in nanoseconds.
pub(crate) fn median_walls_ns(it: &TrialRecord) -> BTreeMap<u32, f64> {
    let mut walls = BTreeMap::<u32, Vec<f64>>::new();
    for sample in &it.samples {
        walls.entry(sample.round).or_default().push(float(sample.wall_ns.max(1)));
    }
    walls.into_iter().filter_map(|(round, walls)| Some((round, median(walls)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_over_rounds_has_an_interval_from_three_on() {
        let two = Estimate::mean(&[0.0, 2.0_f64.ln()]).unwrap().map(f64::exp);
        assert!((two.value - 2.0_f64.sqrt()).abs() < 1e-12 && two.interval.is_none());
        let three = Estimate::mean(&[1.0, 1.0, 1.0]).unwrap();
        assert_eq!((three.value, three.interval), (1.0, Some(Interval { low: 1.0, high: 1.0 })));
        assert_eq!(Estimate::mean(&[]), None);
    }

    #[test]
    fn a_number_is_clearly_positive_if_its_whole_interval_is_above_zero() {
        let estimate = |value, low| Estimate { value, interval: Some(Interval { low, high: 9.0 }) };
        assert!(estimate(2.0, 1.0).is_clearly_positive() && !estimate(2.0, -1.0).is_clearly_positive());
        assert!(!Estimate { value: -1.0, interval: None }.is_clearly_positive());
    }
}
