//! The spread between fillings of the page cache: after a warm file is evicted and filled again,
//! its read time is different. One `fill` is one filling of the page cache.

use crate::median;
use crate::number::{count_as_float, mean, sum_of_squares_about_mean};
use crate::observation::Observation;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The readings of one fill of the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct FillMedian {
    pub fill: u32,
    /// Number of readings.
    pub n: usize,
    /// Median wall time of the readings in nanoseconds.
    pub median_wall_ns: f64,
}

/// How much the fills of one trial differ.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FillSpread {
    /// One median for each fill, in order.
    pub fills: Vec<FillMedian>,
    /// The largest median divided by the smallest, minus one.
    pub range: f64,
    /// Standard deviation of the medians divided by their mean.
    pub cv: f64,
    /// Share of the variance of single readings that is between fills, 0 to 1: the variance
    /// components of one-way analysis of variance with unequal groups (Searle, Casella & McCulloch,
    /// *Variance Components*, 1992, section 3.6). The component between fills is 0 where its
    /// estimate is negative. `None` if no fill was read twice, or nothing varies.
    pub between_share: Option<f64>,
}

/// The spread between fills; `None` with fewer than two fills.
pub fn fill_spread<O: Into<Observation>>(walls_ns: impl IntoIterator<Item = O>) -> Option<FillSpread> {
    let mut groups: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for wall in walls_ns.into_iter().map(Into::into) {
        groups.entry(wall.fill).or_default().push(wall.value);
    }
    if groups.len() < 2 {
        return None;
    }
    let fill_median = |(&fill, walls): (&u32, &Vec<f64>)| {
        Some(FillMedian { fill, n: walls.len(), median_wall_ns: median(walls.iter().copied())? })
    };
    let fills: Vec<FillMedian> = groups.iter().filter_map(fill_median).collect();
    let medians: Vec<f64> = fills.iter().map(|fill| fill.median_wall_ns).collect();
    let smallest = medians.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = medians.iter().copied().fold(0.0, f64::max);
    let variance = sum_of_squares_about_mean(&medians) / (count_as_float(medians.len()) - 1.0);
    Some(FillSpread {
        range: largest / smallest - 1.0,
        cv: variance.sqrt() / mean(&medians),
        between_share: between_share(&groups.into_values().collect::<Vec<_>>()),
        fills,
    })
}

fn between_share(groups: &[Vec<f64>]) -> Option<f64> {
    let all = groups.concat();
    let (n, k) = (count_as_float(all.len()), count_as_float(groups.len()));
    if all.len() == groups.len() {
        return None;
    }
    let within = groups.iter().map(|group| sum_of_squares_about_mean(group)).sum::<f64>();
    let between = (sum_of_squares_about_mean(&all) - within).max(0.0) / (k - 1.0);
    let within = within / (n - k);
    let even =
        (n - groups.iter().map(|group| count_as_float(group.len()).powi(2)).sum::<f64>() / n) / (k - 1.0);
    let component = ((between - within) / even).max(0.0);
    let total = component + within;
    (total > 0.0).then(|| component / total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::reading;

    fn fills(groups: &[&[u64]]) -> Vec<Observation> {
        let groups = groups.iter().zip(0..);
        groups.flat_map(|(walls, fill)| walls.iter().map(move |&wall| reading(fill, fill, wall))).collect()
    }

    #[test]
    fn medians_range_and_variation_are_over_fills() {
        let spread = fill_spread(fills(&[&[90, 100, 110], &[105, 110, 115], &[80, 90, 200]])).unwrap();
        let medians: Vec<f64> = spread.fills.iter().map(|fill| fill.median_wall_ns).collect();
        assert_eq!(medians, [100.0, 110.0, 90.0]);
        assert!((spread.range - (110.0 / 90.0 - 1.0)).abs() < 1e-12);
        assert!((spread.cv - 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_share_between_fills_is_that_of_the_analysis_of_variance() {
        // Mean squares 24 between and 2 within, three readings in each group: component (24 - 2) /
        // 3 = 22 / 3.
        let balanced = fills(&[&[8, 8, 11], &[11, 14, 11], &[14, 14, 17]]);
        let spread = fill_spread(&balanced).unwrap();
        let (between, within) = ((27.0 - 3.0) / 3.0, 3.0);
        assert!((spread.between_share.unwrap() - between / (between + within)).abs() < 1e-12, "{spread:?}");
    }

    #[test]
    fn equal_fills_have_no_variance_between_them() {
        let spread = fill_spread(fills(&[&[10, 20], &[10, 20]])).unwrap();
        assert_eq!((spread.range, spread.cv, spread.between_share), (0.0, 0.0, Some(0.0)));
    }

    #[test]
    fn the_share_between_fills_is_none_where_it_is_undefined() {
        assert_eq!(fill_spread(fills(&[&[1, 2, 3]])), None);
        assert_eq!(fill_spread::<Observation>([]), None);
        assert_eq!(fill_spread(fills(&[&[1], &[2]])).unwrap().between_share, None);
        assert_eq!(fill_spread(fills(&[&[5, 5], &[5, 5]])).unwrap().between_share, None);
    }
}
