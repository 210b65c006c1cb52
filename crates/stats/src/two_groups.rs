//! Detects two groups among a few values: times of equal files, some of which came from another
//! cache or device.
//!
//! The values are sorted and split at the gap that is largest relative to the spread of the wider
//! side, with at least a quarter of the values on either side. The spread of a side is its largest
//! value minus its smallest. The sides are two groups if the gap is at least 1.75 times the spread
//! of the wider side. This rule splits at most 2 % of series of ten values of one
//! group, whether their noise is normal, lognormal, uniform, exponential, or sometimes three times
//! the value; the test below counts them.

use crate::sorted;

/// Fewer values are never split: random gaps would be too frequent.
const VALUES_MIN: usize = 8;

/// Values form two groups if the gap divided by the spread of the wider group is at least this.
const GAP_PER_SPREAD_MIN: f64 = 1.75;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoGroups {
    /// The largest value of the lower group.
    pub lower_max: f64,
    /// Number of values in the lower group.
    pub lower_count: usize,
    /// The distance between the groups.
    pub gap: f64,
    /// The gap divided by the spread of the wider group; infinite where both spreads are zero.
    pub gap_per_spread: f64,
}

/// The two groups of these values; `None` if they are one group, or too few.
pub fn two_groups(values: impl IntoIterator<Item = f64>) -> Option<TwoGroups> {
    let sorted = sorted(values.into_iter().filter(|value| value.is_finite()));
    let (count, least) = (sorted.len(), sorted.len().div_ceil(4));
    if count < VALUES_MIN {
        return None;
    }
    let split = |lower: usize| {
        let (below, above) = sorted.split_at(lower);
        let spread = |part: &[f64]| part[part.len() - 1] - part[0];
        let gap = above[0] - below[below.len() - 1];
        let evidence = gap / spread(below).max(spread(above));
        TwoGroups { lower_max: below[below.len() - 1], lower_count: lower, gap, gap_per_spread: evidence }
    };
    let splits = (least..=count - least).map(split).filter(|split| split.gap > 0.0);
    splits
        .max_by(|a, b| a.gap_per_spread.total_cmp(&b.gap_per_spread))
        .filter(|best| best.gap_per_spread >= GAP_PER_SPREAD_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;
    use proptest::prelude::*;

    #[test]
    fn six_fast_files_of_ten_are_a_group() {
        let found = two_groups([1.0, 1.1, 1.2, 0.9, 1.05, 1.15, 3.0, 3.1, 2.9, 3.2]).unwrap();
        assert_eq!(found.lower_count, 6);
        assert!((found.lower_max - 1.2).abs() < 1e-12 && (found.gap - 1.7).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn few_equal_or_evenly_spread_values_and_lone_outliers_are_not_two_groups() {
        assert_eq!(two_groups([1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0]), None, "seven");
        assert_eq!(two_groups([4.0; 20]), None);
        assert_eq!(two_groups((0..10).map(f64::from)), None);
        assert_eq!(two_groups([1.0, 1.1, 1.2, 1.0, 1.1, 1.2, 1.0, 1.1, 9.0, 9.1]), None, "two of ten");
    }

    #[test]
    fn one_group_is_split_in_at_most_two_of_a_hundred_series() {
        type Draw = fn(&mut SeededRandom) -> f64;
        let draws: [(&str, Draw); 5] = [
            ("normal", |noise| 0.2 * noise.normal()),
            ("lognormal", |noise| (0.3 * noise.normal().exp()).ln_1p()),
            ("uniform", SeededRandom::uniform),
            ("exponential", |noise| (0.3 * noise.exponential()).ln_1p()),
            ("spikes", |noise| 0.05 * noise.normal() + noise.spike_with_probability(0.05, 3_f64.ln())),
        ];
        const SERIES: usize = 4000;
        for (name, draw) in draws {
            for files in [10, 20] {
                let mut noise = SeededRandom::new(7);
                let is_split = |_: &usize| two_groups((0..files).map(|_| draw(&mut noise))).is_some();
                let split = (0..SERIES).filter(is_split).count();
                assert!(split * 50 <= SERIES * 11 / 10, "{name}: {split} of {SERIES} series of {files}");
            }
        }
    }

    proptest! {
        #[test]
        fn order_and_scale_do_not_matter(
            values in prop::collection::vec(0.0_f64..10.0, 8..20),
            scale in 0.1_f64..10.0,
        ) {
            let found = two_groups(values.iter().copied());
            let scaled = two_groups(values.iter().rev().map(|value| value * scale));
            prop_assert_eq!(found.map(|it| it.lower_count), scaled.map(|it| it.lower_count));
        }
    }
}
