//! Quantiles of Student's t, and the interval of the mean of a few values (Student, *The Probable
//! Error of a Mean*, Biometrika 6, 1908).

use crate::interval::{Confidence, Interval};
use crate::number::{count_as_float, float, mean, sum_of_squares_about_mean};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use std::sync::OnceLock;

/// From this many degrees of freedom on, the series expansion has six correct digits. There the
/// library's search takes milliseconds and would be the slowest part of a summary.
const EXPANSION_FREEDOM_MIN: f64 = 18.0;

/// The quantile for these degrees of freedom, at least one, that is exceeded at each end of an
/// interval of this confidence. Large degrees of freedom use the expansion 26.7.5 of Abramowitz &
/// Stegun, *Handbook of Mathematical Functions* (1964).
pub(crate) fn student_t(freedom: f64, confidence: Confidence) -> f64 {
    if freedom < EXPANSION_FREEDOM_MIN {
        return searched_quantile(freedom.max(1.0), confidence);
    }
    let z = normal_quantile(confidence);
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
        (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1482.0 * z.powi(5) - 1920.0 * z.powi(3) - 945.0 * z)
            / 92_160.0,
    ];
    terms.iter().rfold(0.0, |sum, term| (sum + term) / freedom) + z
}

/// The quantile as the library's search finds it. Quantiles of reported intervals are cached,
/// because each trial of a state needs them.
fn searched_quantile(freedom: f64, confidence: Confidence) -> f64 {
    static REPORTED: [OnceLock<f64>; EXPANSION_FREEDOM_MIN as usize] =
        [const { OnceLock::new() }; EXPANSION_FREEDOM_MIN as usize];
    let search = || {
        let t = StudentsT::new(0.0, 1.0, freedom).expect("the freedom is at least one");
        t.inverse_cdf(1.0 - confidence.tail())
    };
    let is_kept = confidence == Confidence::REPORTED && freedom.fract() == 0.0;
    let kept = REPORTED.iter().zip(0..).find(|(_, of)| is_kept && f64::from(*of) == freedom);
    kept.map_or_else(search, |(kept, _)| *kept.get_or_init(search))
}

/// The quantile of the normal distribution that is exceeded at each end of an interval of this
/// confidence: 1.96 at 95 %.
pub(crate) fn normal_quantile(confidence: Confidence) -> f64 {
    -Normal::standard().inverse_cdf(confidence.tail())
}

/// The interval of a mean that was published with the standard deviation of `n` values; `None` with
/// fewer than two.
pub fn interval_of_mean(mean: f64, sd: f64, n: u64) -> Option<Interval> {
    (n > 1).then(|| interval_around_mean(mean, sd, float(n), Confidence::REPORTED))
}

/// The mean of some values, and their standard deviation with n−1; `None` with fewer than two.
pub fn mean_and_sd(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len();
    (mean(values), (n > 1).then(|| (sum_of_squares_about_mean(values) / count_as_float(n - 1)).sqrt()))
}

/// The interval of the mean of these values; `None` with fewer than two.
pub fn mean_interval(values: &[f64], confidence: Confidence) -> Option<Interval> {
    let (mean, sd) = mean_and_sd(values);
    Some(interval_around_mean(mean, sd?, count_as_float(values.len()), confidence))
}

fn interval_around_mean(mean: f64, sd: f64, n: f64, confidence: Confidence) -> Interval {
    Interval::around(mean, student_t(n - 1.0, confidence) * sd / n.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_printed_tables() {
        for (freedom, t) in [
            (1.0, 12.706),
            (2.0, 4.303),
            (4.0, 2.776),
            (9.0, 2.262),
            (30.0, 2.042),
            (120.0, 1.980),
            (1e9, 1.960),
        ] {
            assert!((student_t(freedom, Confidence::REPORTED) - t).abs() < 5.1e-4, "{freedom}");
        }
    }

    #[test]
    fn the_expansion_agrees_with_the_library() {
        for freedom in [18.0, 25.0, 60.0, 400.0] {
            let library = StudentsT::new(0.0, 1.0, freedom).unwrap().inverse_cdf(0.975);
            assert!(
                (student_t(freedom, Confidence::REPORTED) - library).abs() < 2e-6,
                "{freedom}: {library}"
            );
        }
    }

    #[test]
    fn the_interval_of_a_mean_is_that_of_a_printed_table() {
        // The standard error of 1, 2, 3 is 1 / √3; t is 4.303 at 5 % and 2.920 at 10 %.
        for (error, t) in [(0.05, 4.303), (0.1, 2.920)] {
            let ends = mean_interval(&[1.0, 2.0, 3.0], Confidence::with_error(error)).unwrap();
            assert!((ends.high - 2.0 - t / 3_f64.sqrt()).abs() < 5e-4, "{ends:?}");
            assert!((ends.low + ends.high - 4.0).abs() < 1e-12);
        }
        assert_eq!(mean_interval(&[1.0], Confidence::REPORTED), None);
    }
}
