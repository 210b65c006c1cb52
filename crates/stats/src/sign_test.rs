//! The interval of a median, by the sign test: between two of the sorted values.
//!
//! A value is below the median as often as a fair coin shows heads, whatever the distribution is.
//! So the interval leaves out as many values on each side as the binomial distribution allows
//! (Hollander & Wolfe, *Nonparametric Statistical Methods*, 1973, section 3.6). The allowed error
//! falls between two steps of that distribution, so the ends are interpolated between neighbours,
//! as in Hettmansperger & Sheather, *Confidence Intervals Based on Interpolated Order Statistics*,
//! Statistics & Probability Letters 4 (1986). Very few values have the widened range of
//! [`crate::signed_rank`].

use crate::interval::{Confidence, Interval};
use crate::number::count_as_float;
use crate::observation::{GroupedValues, Observation};
use crate::quantile;
use crate::signed_rank::widened_range;
use statrs::function::factorial::ln_factorial;

/// Up to this many values all probabilities are added; with more values, the first are too small to
/// matter.
const FULL_SUM_VALUES_MAX: usize = 2_000;

/// The number of values that an interval leaves out on each side, with its probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OutsideCount {
    count: usize,
    /// The probability that at most `count` values are below the median.
    tail: f64,
    next_tail: f64,
}

/// The interval of the median; `None` with fewer than [`crate::OBSERVATIONS_MIN`] observations, or
/// too few for this confidence. Readings of one fill resemble each other, so the interval is
/// computed from the medians of the fills, or of the rounds if there is one fill. It also holds the
/// median of all observations.
pub fn median_interval(observations: &[Observation], confidence: Confidence) -> Option<Interval> {
    let grouped = GroupedValues::from_observations(observations);
    let ends = grouped.interval(confidence, |sorted| interval_of_sorted(sorted, confidence))?;
    let centre = quantile(&grouped.values, 0.5);
    Some(ends.hull_with(Interval { low: centre, high: centre }))
}

/// The interval of the median of sorted values.
fn interval_of_sorted(sorted: &[f64], confidence: Confidence) -> Option<Interval> {
    let Some(outside) = OutsideCount::find(sorted.len(), confidence) else {
        return widened_range(sorted, confidence);
    };
    let share = outside.share_of_next(sorted.len(), confidence);
    let last = sorted.len() - 1 - outside.count;
    let between = |from: f64, to: f64| from + share * (to - from);
    Some(Interval {
        low: between(sorted[outside.count], sorted[outside.count + 1]),
        high: between(sorted[last], sorted[last - 1]),
    })
}

impl OutsideCount {
    /// The largest number of values that may be left out; `None` where even the whole range misses
    /// too often.
    fn find(n: usize, confidence: Confidence) -> Option<OutsideCount> {
        // The probabilities more than twelve standard deviations from the middle are too small to
        // change the sum.
        let first = if n > FULL_SUM_VALUES_MAX { n / 2 - 6 * n.isqrt() } else { 0 };
        let mut tail = binomial(n, first);
        if tail > confidence.tail() {
            return None;
        }
        for count in first..n / 2 {
            let next_tail = tail + binomial(n, count + 1);
            if next_tail > confidence.tail() {
                return Some(OutsideCount { count, tail, next_tail });
            }
            tail = next_tail;
        }
        None
    }

    /// The fraction by which each end moves towards the next value, from 0 to 1.
    fn share_of_next(&self, n: usize, confidence: Confidence) -> f64 {
        let (n, rank) = (count_as_float(n), count_as_float(self.count) + 1.0);
        let step = (confidence.tail() - self.tail) / (self.next_tail - self.tail);
        (n - rank) * step / (rank + (n - 2.0 * rank) * step)
    }
}

/// The probability that a fair coin thrown `n` times shows `heads` heads.
fn binomial(n: usize, heads: usize) -> f64 {
    let ways = ln_factorial(n as u64) - ln_factorial(heads as u64) - ln_factorial((n - heads) as u64);
    (ways - count_as_float(n) * std::f64::consts::LN_2).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;
    use crate::median;
    use proptest::prelude::*;

    fn outside(n: usize) -> Option<usize> {
        OutsideCount::find(n, Confidence::REPORTED).map(|it| it.count)
    }

    #[test]
    fn ranks_are_those_of_printed_tables() {
        // Tables give the rank of the lower end, which is one more than the number of values
        // outside.
        for (n, rank) in [(6, 1), (8, 1), (9, 2), (10, 2), (15, 4), (20, 6), (30, 10), (50, 18), (100, 40)] {
            assert_eq!(outside(n), Some(rank - 1), "{n}");
        }
        assert_eq!(outside(5), None);
        assert_eq!(outside(10_001), Some(4_901), "as summed from the very end");
    }

    #[test]
    fn ends_are_between_neighbours_as_hettmansperger_and_sheather_say() {
        // Ten values: 2 to 9 hold 97.85 %, 3 to 8 hold 89.06 %. I = 0.0285 / 0.0879 = 0.3246 and
        // the share is 8 I / (2 + 6 I) = 0.6577.
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let ends = interval_of_sorted(&ten, Confidence::REPORTED).unwrap();
        assert!((ends.low - 2.6577).abs() < 1e-3 && (ends.low + ends.high - 11.0).abs() < 1e-9, "{ends:?}");
    }

    #[test]
    fn five_values_have_a_widened_range_and_four_have_nothing() {
        let ends = interval_of_sorted(&[0.0, 1.0, 2.0, 3.0, 10.0], Confidence::REPORTED).unwrap();
        assert!((ends.low + 0.8).abs() < 1e-12 && (ends.high - 10.8).abs() < 1e-12);
        assert_eq!(interval_of_sorted(&[0.0, 1.0, 2.0, 3.0], Confidence::REPORTED), None);
        assert_eq!(interval_of_sorted(&[], Confidence::REPORTED), None);
        assert_eq!(interval_of_sorted(&[1.0; 8], Confidence::with_error(0.005)), None);
        assert!(interval_of_sorted(&[1.0; 9], Confidence::with_error(0.005)).is_some());
    }

    fn observations_in_fills(values: &[(f64, u32)]) -> Vec<Observation> {
        values.iter().zip(0..).map(|(&(value, fill), round)| Observation { value, fill, round }).collect()
    }

    #[test]
    fn fills_that_differ_widen_the_interval() {
        let mut noise = SeededRandom::new(3);
        let levels: Vec<f64> = (0..4).map(|_| 0.05 * noise.normal()).collect();
        let all: Vec<(f64, u32)> =
            (0..100_u32).map(|at| (levels[at as usize / 25] + 0.02 * noise.normal(), at / 25)).collect();
        let blind: Vec<(f64, u32)> = all.iter().map(|&(value, _)| (value, 0)).collect();
        let width = |all: &[(f64, u32)]| {
            median_interval(&observations_in_fills(all), Confidence::REPORTED).unwrap().half_width()
        };
        assert!(width(&all) > 2.0 * width(&blind), "{} {}", width(&all), width(&blind));
    }

    #[test]
    fn few_observations_have_no_interval_and_equal_ones_no_width() {
        let interval =
            |values: &[(f64, u32)]| median_interval(&observations_in_fills(values), Confidence::REPORTED);
        assert_eq!(interval(&[(3.0, 0); 4]), None);
        assert_eq!(interval(&[(3.0, 0); 5]), Some(Interval { low: 3.0, high: 3.0 }));
        let three_fills = [(1.0, 0), (1.0, 0), (2.0, 1), (3.0, 2), (9.0, 2)];
        assert!(interval(&three_fills).is_some_and(|ends| ends.holds(2.0)));
    }

    proptest! {
        #[test]
        fn an_interval_holds_the_median_scales_and_knows_no_order(
            values in prop::collection::vec((1.0..1e9_f64, 0_u32..9), 5..40),
        ) {
            let interval = |all: &[Observation]| median_interval(all, Confidence::REPORTED).unwrap();
            let all = observations_in_fills(&values);
            let ends = interval(&all);
            let backwards: Vec<Observation> = all.iter().rev().copied().collect();
            let again = interval(&backwards);
            prop_assert!((again.low - ends.low).abs() < 1e-3 && (again.high - ends.high).abs() < 1e-3);
            prop_assert!(ends.holds(median(values.iter().map(|it| it.0)).unwrap()));
            let double: Vec<Observation> =
                all.iter().map(|it| Observation { value: 2.0 * it.value, ..*it }).collect();
            prop_assert!((interval(&double).low / 2.0 - ends.low).abs() < 1e-3);
        }
    }
}
