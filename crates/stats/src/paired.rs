//! Differences of two logarithms that were measured in the same round: the centre of the
//! differences and the interval of that centre.
//!
//! Both are computed by signed ranks ([`SignedRank`]), over the medians of fills if a fill has
//! several rounds ([`GroupedValues`]).
//!
//! A neighbour can make one reading ten times as long. The difference of its pair is then farther
//! from the median than [`DISTURBED_DEVIATIONS_MIN`] robust standard deviations (the median
//! absolute deviation: Hampel, *The Influence Curve and Its Role in Robust Estimation*, Journal of
//! the American Statistical Association 69, 1974). Such a difference keeps its sign, and is moved
//! to a little beyond the farthest of the others: its rank stays the same, and one disturbed
//! reading of the reference does not widen the intervals of all trials. If more than a fifth of the
//! differences are that far from the median, they are not disturbances and are not moved.

use crate::interval::{Confidence, Interval};
use crate::observation::{GroupedValues, Observation};
use crate::signed_rank::SignedRank;
use crate::{quantile, sorted};

/// Differences farther than this many robust standard deviations from the median are disturbed.
const DISTURBED_DEVIATIONS_MIN: f64 = 12.0;

/// Disturbed differences are moved to this many times the largest distance of the other differences
/// from the median.
const DISTURBED_DISTANCE_FACTOR: f64 = 1.2;

/// At most one in this many differences may be disturbed.
const DISTURBED_DIVISOR: usize = 5;

/// The median absolute deviation of normal noise, in standard deviations.
const NORMAL_MAD_PER_SD: f64 = 0.6745;

/// The differences of two logarithms, one for each round that holds both.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PairedDifferences(GroupedValues);

impl PairedDifferences {
    /// Groups the differences of the rounds.
    pub(crate) fn from_differences(differences: &[Observation]) -> PairedDifferences {
        let GroupedValues { values, group_medians: groups } = GroupedValues::from_observations(differences);
        PairedDifferences(GroupedValues {
            values: pull_in_disturbed(values),
            group_medians: groups.map(pull_in_disturbed),
        })
    }

    /// All differences, sorted, after disturbed ones were moved.
    pub(crate) fn sorted(&self) -> &[f64] {
        &self.0.values
    }

    /// The centre of the differences; `None` without differences.
    pub(crate) fn estimate(&self) -> Option<f64> {
        SignedRank::new(self.0.group_medians.as_ref().unwrap_or(&self.0.values)).estimate()
    }

    /// The interval of the centre; `None` with too few differences.
    pub(crate) fn interval(&self, confidence: Confidence) -> Option<Interval> {
        self.0.interval(confidence, |sorted| SignedRank::new(sorted).interval(confidence))
    }
}

/// The values in the same order, with disturbed values moved closer to the others. Sorted values
/// stay sorted.
pub(crate) fn pull_in_disturbed(mut values: Vec<f64>) -> Vec<f64> {
    let centre = quantile(&sorted(values.iter().copied()), 0.5);
    let away = sorted(values.iter().map(|value| (value - centre).abs()));
    let far = DISTURBED_DEVIATIONS_MIN * quantile(&away, 0.5) / NORMAL_MAD_PER_SD;
    let near = away.partition_point(|away| *away <= far);
    let disturbed = away.len() - near;
    // Without any spread, no distance can be called large.
    if disturbed == 0 || disturbed > away.len() / DISTURBED_DIVISOR || far <= 0.0 {
        return values;
    }
    let reach = DISTURBED_DISTANCE_FACTOR * away[near - 1];
    values.iter_mut().for_each(|value| {
        if (*value - centre).abs() > far {
            *value = centre + reach * (*value - centre).signum();
        }
    });
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn paired(values: &[f64]) -> PairedDifferences {
        PairedDifferences::from_differences(&Observation::from_rounds(values.iter().copied()))
    }

    #[test]
    fn one_disturbed_difference_stays_on_its_side_and_near() {
        let ends = |values: &[f64]| paired(values).interval(Confidence::REPORTED).unwrap();
        let disturbed = ends(&[0.0, 0.01, -0.01, 0.02, 2.3]);
        // The others are up to 0.02 from the median of 0.01; the fifth counts as 0.024 away from
        // it.
        let range = 0.034 + 0.01;
        assert!((disturbed.high - 0.034 - 0.08 * range).abs() < 1e-9, "{disturbed:?}");
        assert!(disturbed.low < -0.01 && disturbed.holds(0.0));
    }

    #[test]
    fn more_than_a_fifth_far_out_are_no_disturbance() {
        let two_levels = [0.0, 0.01, -0.01, 0.02, 2.3, 2.31];
        assert!(paired(&two_levels).interval(Confidence::REPORTED).unwrap().high > 2.0);
        assert_eq!(pull_in_disturbed(vec![0.0, 0.0, 0.0, 0.0, 5.0]), [0.0, 0.0, 0.0, 0.0, 5.0]);
    }

    #[test]
    fn the_order_of_the_values_is_kept() {
        let found = pull_in_disturbed(vec![0.02, 2.3, -0.01, 0.01, 0.0]);
        assert!((found[1] - 0.034).abs() < 1e-9, "{found:?}");
        assert_eq!((&found[..1], &found[2..]), (&[0.02][..], &[-0.01, 0.01, 0.0][..]));
    }

    #[test]
    fn fewer_than_five_fills_have_the_interval_of_students_t() {
        let all: Vec<Observation> =
            (0..12_u32).map(|at| Observation { value: f64::from(at / 4), fill: at / 4, round: at }).collect();
        let ends = PairedDifferences::from_differences(&all).interval(Confidence::REPORTED).unwrap();
        assert!((ends.high - 1.0 - 4.303 / 3_f64.sqrt()).abs() < 1e-3, "{ends:?}");
    }

    proptest! {
        #[test]
        fn an_interval_holds_the_estimate_scales_and_turns_with_the_sign(
            values in prop::collection::vec(-5.0..5.0_f64, 5..60),
        ) {
            let ends = |values: &[f64]| paired(values).interval(Confidence::REPORTED).unwrap();
            let of = |factor: f64| values.iter().map(|value| factor * value).collect::<Vec<f64>>();
            let (there, back, double) = (ends(&values), ends(&of(-1.0)), ends(&of(2.0)));
            prop_assert!(there.holds(paired(&values).estimate().unwrap()));
            prop_assert!((there.low + back.high).abs() < 1e-9 && (there.high + back.low).abs() < 1e-9);
            prop_assert!((double.low - 2.0 * there.low).abs() < 1e-9);
            let mut backwards = values.clone();
            backwards.reverse();
            prop_assert_eq!(ends(&backwards), there);
        }
    }
}
