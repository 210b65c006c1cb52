//! The summary of many readings of one number: centre with its interval, spread, percentiles and
//! number of outliers.
//!
//! Percentiles are type 7 of Hyndman & Fan, *Sample Quantiles in Statistical Packages*, The
//! American Statistician 50 (1996): linear between the two nearest readings, as R, NumPy and Julia
//! compute them by default. Values are integers in the number's unit, and so are all results, which
//! are rounded half up.

use crate::interval::Confidence;
use crate::number::{count_as_float, float, sorted};
use crate::observation::Observation;
use crate::sign_test::median_interval;
use crate::student::mean_and_sd;
use schemars::JsonSchema;
use serde::Serialize;

/// The summary of one number, in its own unit (nanoseconds, bytes or a count).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Number of readings.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: u64,
    /// Standard deviation with n-1; `None` for a single reading.
    pub sd: Option<u64>,
    pub median: u64,
    /// 95 % interval of the median, lower and upper end; `None` with fewer than five readings.
    pub median_ci95: Option<[u64; 2]>,
    /// Smallest reading.
    pub p0: u64,
    /// First quartile.
    pub p25: u64,
    /// Median again, where percentiles are listed.
    pub p50: u64,
    /// Third quartile.
    pub p75: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest reading.
    pub p100: u64,
    /// Numbers of readings far from the rest. Outliers are not left out of the other numbers.
    pub outliers: Outliers,
}

/// Readings beyond Tukey's fences (*Exploratory Data Analysis*, 1977).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Outliers {
    /// More than 1.5 and at most 3 interquartile ranges outside the quartiles.
    pub mild: usize,
    /// More than 3 interquartile ranges outside the quartiles.
    pub severe: usize,
}

/// Summarises readings; `None` when there are none.
pub fn summary<O: Into<Observation>>(readings: impl IntoIterator<Item = O>) -> Option<Summary> {
    summarise(&readings.into_iter().map(Into::into).collect::<Vec<_>>())
}

pub fn count_summary(counts: &[u64]) -> Option<Summary> {
    summarise(&Observation::from_rounds(counts.iter().copied().map(float)))
}

fn summarise(observations: &[Observation]) -> Option<Summary> {
    let sorted = sorted(observations.iter().map(|it| it.value));
    let (&first, &last) = (sorted.first()?, sorted.last()?);
    let at = |share| round(quantile(&sorted, share));
    let (mean, sd) = mean_and_sd(&sorted);
    let interval = median_interval(observations, Confidence::REPORTED);
    Some(Summary {
        n: sorted.len(),
        mean: round(mean),
        sd: sd.map(round),
        median: at(0.5),
        median_ci95: interval.map(|interval| [round(interval.low), round(interval.high)]),
        p0: round(first),
        p25: at(0.25),
        p50: at(0.5),
        p75: at(0.75),
        p90: at(0.9),
        p99: at(0.99),
        p100: round(last),
        outliers: outliers(&sorted),
    })
}

/// The precision of the median: half its interval divided by the median, for example 0.01. It is
/// computed after every round. `None` with fewer than five readings.
/// With a single fill, the precision holds for that fill alone, so a run continues until it has
/// seen all its fills.
pub fn precision(observations: &[Observation]) -> Option<f64> {
    let interval = median_interval(observations, Confidence::REPORTED)?;
    let median = median(observations.iter().map(|o| o.value))?;
    (median > 0.0).then(|| interval.half_width() / median)
}

/// The median of values in any order; `None` without values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    median_in_place(&mut values.into_iter().collect::<Vec<f64>>())
}

/// The median by selection: sorting a million slopes would take most of the time of a fit.
fn median_in_place(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let is_odd = values.len() % 2 == 1;
    let (below, &mut above, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if is_odd {
        return Some(above);
    }
    let below = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(below + 0.5 * (above - below))
}

/// The quantile of type 7 of sorted values, for a share from 0 to 1; NaN without values.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = count_as_float(last) * share.clamp(0.0, 1.0);
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (place - place.floor()) * (sorted[above] - sorted[below])
}

fn outliers(sorted: &[f64]) -> Outliers {
    let (first, third) = (quantile(sorted, 0.25), quantile(sorted, 0.75));
    let beyond = |ranges: f64| {
        let reach = ranges * (third - first);
        sorted.iter().filter(|&&value| value < first - reach || value > third + reach).count()
    };
    let severe = beyond(3.0);
    Outliers { mild: beyond(1.5) - severe, severe }
}

/// Rounds half up. A negative value, which only a widened interval can have, becomes zero.
fn round(value: f64) -> u64 {
    (value + 0.5).floor() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::reading;
    use proptest::prelude::*;

    fn of_one_fill(values: &[u64]) -> Vec<Observation> {
        values.iter().zip(0..).map(|(&value, round)| reading(0, round, value)).collect()
    }

    fn summary_of(values: &[u64]) -> Option<Summary> {
        summary(of_one_fill(values))
    }

    #[test]
    fn percentiles_are_those_of_r_and_numpy() {
        // quantile(c(15, 20, 35, 40, 50), c(.25, .5, .75, .9, .99), type = 7) in R: 20, 35, 40, 46,
        // 49.6.
        let five = summary_of(&[50, 15, 40, 20, 35]).unwrap();
        assert_eq!(
            [five.p0, five.p25, five.p50, five.p75, five.p90, five.p99, five.p100],
            [15, 20, 35, 40, 46, 50, 50]
        );
        assert_eq!(quantile(&[15.0, 20.0, 35.0, 40.0, 50.0], 0.99), 49.6);
        let four = summary_of(&[1, 2, 3, 4]).unwrap();
        assert_eq!((four.p25, four.median, four.p75), (2, 3, 3), "1.75, 2.5, 3.25, half up");
        assert!(quantile(&[], 0.5).is_nan());
        assert_eq!((median([4.0, 1.0, 2.0, 3.0]), median([])), (Some(2.5), None));
    }

    #[test]
    fn spread_has_n_minus_one_below_it() {
        let known = summary_of(&[2_000, 4_000, 4_000, 4_000, 5_000, 5_000, 7_000, 9_000]).unwrap();
        assert_eq!((known.mean, known.sd), (5_000, Some(2_138)), "sqrt(32 / 7) = 2.138");
    }

    #[test]
    fn no_observation_and_one_observation_have_a_summary() {
        assert_eq!(summary_of(&[]), None);
        let one = summary_of(&[7]).unwrap();
        assert_eq!((one.n, one.mean, one.sd, one.median, one.median_ci95), (1, 7, None, 7, None));
        assert_eq!((one.p0, one.p99, one.p100, one.outliers), (7, 7, 7, Outliers::default()));
    }

    #[test]
    fn outliers_are_counted_and_kept() {
        // The quartiles are 12 and 16, so the fences are at 6 and 22, and at 0 and 28.
        let tukey = summary_of(&[10, 11, 12, 13, 14, 15, 16, 23, 100]).unwrap();
        assert_eq!(tukey.outliers, Outliers { mild: 1, severe: 1 });
        assert_eq!((tukey.n, tukey.p100), (9, 100));
        assert_eq!(summary_of(&[10, 11, 12, 13, 14, 15, 16]).unwrap().outliers, Outliers::default());
    }

    #[test]
    fn precision_is_half_the_interval_over_the_median() {
        let steady: Vec<u64> = (0..30).map(|i| 1_000_000 + i % 3).collect();
        assert!(precision(&of_one_fill(&steady)).unwrap() < 1e-5);
        let loose: Vec<u64> = (0..31).map(|i| 1_000_000 + 10_000 * i).collect();
        let precision_of_loose = precision(&of_one_fill(&loose)).unwrap();
        let interval = summary_of(&loose).unwrap().median_ci95.unwrap();
        let expected = (interval[1] - interval[0]) as f64 / 2.0 / 1_150_000.0;
        assert!((precision_of_loose / expected - 1.0).abs() < 0.2, "{precision_of_loose} {expected}");
        assert_eq!(precision(&of_one_fill(&[1, 1, 1, 1])), None);
        assert_eq!(precision(&of_one_fill(&[0; 9])), None);
    }

    proptest! {
        #[test]
        fn percentiles_rise_and_stay_within_the_readings(values in prop::collection::vec(0_u64..1 << 50, 1..60)) {
            let s = summary_of(&values).unwrap();
            let rising = [s.p0, s.p25, s.p50, s.p75, s.p90, s.p99, s.p100];
            prop_assert!(rising.is_sorted());
            prop_assert_eq!(Some(&s.p0), values.iter().min());
            prop_assert_eq!(Some(&s.p100), values.iter().max());
            prop_assert!(s.p0 <= s.mean && s.mean <= s.p100);
            if let Some([low, high]) = s.median_ci95 {
                prop_assert!(low <= s.median && s.median <= high);
            }
        }
    }
}
