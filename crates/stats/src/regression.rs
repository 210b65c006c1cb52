//! Straight lines through points: least squares with intervals, least squares of relative errors
//! with intervals, and a line that is robust to outliers.
//!
//! If y spans powers of ten, its errors usually grow with it. Ordinary least squares then assumes
//! the error of the largest y for all points, and the interval of an intercept of microseconds is
//! as wide as the noise of a second. For points whose errors grow with y, use
//! [`weighted_least_squares`] and [`theil_sen_intervals`].

use crate::interval::{Confidence, Interval};
use crate::number::count_as_float;
use crate::student::{normal_quantile, student_t};
use crate::{OBSERVATIONS_MIN, median};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use schemars::JsonSchema;
use serde::Serialize;

/// The largest number of iterations. The weights of the points come from the line of the previous
/// iteration.
const ITERATIONS_MAX: usize = 50;

/// The iterations end when no fitted value changes by more than this share.
const FITTED_CHANGE_SHARE_MIN: f64 = 1e-12;

/// The fitted value that determines the weight of a point is kept between y divided by this factor
/// and y times this factor, because a line through outliers may even be negative.
const FITTED_VALUE_FACTOR_MAX: f64 = 10.0;

/// Number of bootstrap resamples.
const RESAMPLE_COUNT: usize = 500;

/// At most this many points are drawn for a resample: the run time grows with the square of their
/// number.
const RESAMPLED_POINTS_MAX: usize = 200;

/// The line `y = intercept + slope * x`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct FittedLine {
    /// The rise of y per unit of x.
    pub slope: f64,
    /// The value of y at x = 0.
    pub intercept: f64,
}

impl FittedLine {
    /// The y of the line at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    /// The x at which the line has the value `y`; `None` on a level line.
    pub fn solve(&self, y: f64) -> Option<f64> {
        (self.slope != 0.0).then(|| (y - self.intercept) / self.slope)
    }
}

/// A line fitted by least squares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LeastSquares<E> {
    pub line: FittedLine,
    /// 95 % interval of the slope (Student's t, n-2 degrees of freedom); `None` with two points.
    pub slope_ci95: Option<Interval>,
    /// 95 % interval of the intercept; `None` with two points.
    pub intercept_ci95: Option<Interval>,
    #[serde(flatten)]
    pub errors: E,
    /// Number of points.
    pub n: usize,
}

/// The errors of a line by ordinary least squares of y on x.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct AbsoluteErrors {
    /// Standard error of the slope; `None` with two points.
    pub slope_se: Option<f64>,
    /// Standard error of the intercept; `None` with two points.
    pub intercept_se: Option<f64>,
    /// Share of the variance of y that the line explains; `None` if y does not vary.
    pub r_squared: Option<f64>,
    /// Standard deviation of the residuals, with n-2 degrees of freedom; `None` with two points.
    pub residual_sd: Option<f64>,
}

/// The errors of a line by weighted least squares of relative errors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct RelativeErrors {
    /// Standard deviation of the relative residuals (residual / fitted value), with n-2 degrees of
    /// freedom; `None` with two points.
    pub relative_sd: Option<f64>,
}

/// Fits by ordinary least squares (Draper & Smith, *Applied Regression Analysis*, chapter 1);
/// `None` with fewer than two different x, or where a coordinate is not finite.
pub fn least_squares(points: &[(f64, f64)]) -> Option<LeastSquares<AbsoluteErrors>> {
    if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return None;
    }
    let unweighted = vec![1.0; points.len()];
    let sums = WeightedSums::new(points, &unweighted)?;
    let (line, t) = (sums.line(), student_t_of_line(points));
    let yy: f64 = points.iter().map(|(_, y)| (y - sums.mean_y).powi(2)).sum();
    let residual_sd = residual_sd(points, &line, &unweighted);
    let slope_se = residual_sd.map(|sd| sd / sums.xx.sqrt());
    let intercept_se = residual_sd.map(|sd| sd * sums.intercept_error());
    Some(LeastSquares {
        line,
        slope_ci95: slope_se.map(|se| Interval::around(line.slope, t * se)),
        intercept_ci95: intercept_se.map(|se| Interval::around(line.intercept, t * se)),
        errors: AbsoluteErrors {
            slope_se,
            intercept_se,
            r_squared: (yy > 0.0).then(|| 1.0 - sum_of_relative_squares(points, &line, &unweighted) / yy),
            residual_sd,
        },
        n: points.len(),
    })
}

/// Fits by least squares with weights 1/ŷ², where ŷ is the fitted value, for errors that are
/// proportional to y. The weights come from the previous line and are iterated until the line no
/// longer changes (Carroll & Ruppert, *Transformation and Weighting in Regression*, 1988, chapter
/// 2); weights 1/y² would prefer points that are too low. `None` with fewer than two different x,
/// or where a coordinate is not finite or a y is not above zero.
pub fn weighted_least_squares(points: &[(f64, f64)]) -> Option<LeastSquares<RelativeErrors>> {
    if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite() || *y <= 0.0) {
        return None;
    }
    let mut fitted: Vec<f64> = points.iter().map(|(_, y)| *y).collect();
    let mut sums = WeightedSums::new(points, &fitted)?;
    for _ in 0..ITERATIONS_MAX {
        let line = sums.line();
        let within =
            |&(x, y): &(f64, f64)| line.at(x).clamp(y / FITTED_VALUE_FACTOR_MAX, y * FITTED_VALUE_FACTOR_MAX);
        let next: Vec<f64> = points.iter().map(within).collect();
        let change = fitted.iter().zip(&next).map(|(old, new)| (new / old - 1.0).abs()).fold(0.0, f64::max);
        fitted = next;
        sums = WeightedSums::new(points, &fitted)?;
        if change < FITTED_CHANGE_SHARE_MIN {
            break;
        }
    }
    let (line, t) = (sums.line(), student_t_of_line(points));
    let relative_sd = residual_sd(points, &line, &fitted);
    let (slope_error, intercept_error) = (sums.xx.sqrt().recip(), sums.intercept_error());
    Some(LeastSquares {
        line,
        slope_ci95: relative_sd.map(|sd| Interval::around(line.slope, t * slope_error * sd)),
        intercept_ci95: relative_sd.map(|sd| Interval::around(line.intercept, t * intercept_error * sd)),
        errors: RelativeErrors { relative_sd },
        n: points.len(),
    })
}

/// The sum of the squares of the relative residuals: each residual is divided by its fitted value.
fn sum_of_relative_squares(points: &[(f64, f64)], line: &FittedLine, fitted: &[f64]) -> f64 {
    points.iter().zip(fitted).map(|(&(x, y), fitted)| ((y - line.at(x)) / fitted).powi(2)).sum()
}

/// The standard deviation of the relative residuals, with n-2 degrees of freedom; `None` with two
/// points.
fn residual_sd(points: &[(f64, f64)], line: &FittedLine, fitted: &[f64]) -> Option<f64> {
    let freedom = count_as_float(points.len()) - 2.0;
    (freedom > 0.0).then(|| (sum_of_relative_squares(points, line, fitted) / freedom).sqrt())
}

/// The quantile of Student's t with n-2 degrees of freedom.
fn student_t_of_line(points: &[(f64, f64)]) -> f64 {
    student_t(count_as_float(points.len()) - 2.0, Confidence::REPORTED)
}

/// Weighted sums over the points, as needed for least squares.
struct WeightedSums {
    weight: f64,
    mean_x: f64,
    mean_y: f64,
    xx: f64,
    xy: f64,
}

impl WeightedSums {
    /// The sums with weights 1/fitted²; `None` with fewer than two different x.
    fn new(points: &[(f64, f64)], fitted: &[f64]) -> Option<WeightedSums> {
        let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            points.iter().zip(fitted).map(|(&(x, y), fitted)| of(x, y) / (fitted * fitted)).sum()
        };
        let weight = sum(&|_, _| 1.0);
        let (mean_x, mean_y) = (sum(&|x, _| x) / weight, sum(&|_, y| y) / weight);
        let xx = sum(&|x, _| (x - mean_x).powi(2));
        let xy = sum(&|x, y| (x - mean_x) * (y - mean_y));
        let has_two = points.iter().any(|(x, _)| *x != points[0].0);
        (has_two && xx > 0.0).then_some(WeightedSums { weight, mean_x, mean_y, xx, xy })
    }

    /// The standard error of the intercept, in units of the standard deviation of a residual.
    fn intercept_error(&self) -> f64 {
        (1.0 / self.weight + self.mean_x * self.mean_x / self.xx).sqrt()
    }

    fn line(&self) -> FittedLine {
        let slope = self.xy / self.xx;
        FittedLine { slope, intercept: self.mean_y - slope * self.mean_x }
    }
}

/// The line of Theil and Sen (Sen, Journal of the American Statistical Association 63, 1968): the
/// median slope over all pairs of points, and the median of the intercepts at that slope. Up to 29
/// % of the points may be outliers. Time and memory grow with the square of the number of points.
/// `None` with fewer than two different x.
pub fn theil_sen(points: &[(f64, f64)]) -> Option<FittedLine> {
    let slopes = (points.iter().enumerate())
        .flat_map(|(at, a)| points[at + 1..].iter().map(move |b| (a, b)))
        .filter(|(a, b)| a.0 != b.0)
        .map(|(a, b)| (b.1 - a.1) / (b.0 - a.0));
    let slope = median(slopes)?;
    Some(FittedLine { slope, intercept: median(points.iter().map(|(x, y)| y - slope * x))? })
}

/// The line of Theil and Sen with the intervals of its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TheilSen {
    pub line: FittedLine,
    /// 95 % interval of the slope; `None` with fewer than five points.
    pub slope_ci95: Option<Interval>,
    /// 95 % interval of the intercept; `None` with fewer than five points.
    pub intercept_ci95: Option<Interval>,
    /// Number of points.
    pub n: usize,
}

/// The line of [`theil_sen`], with intervals by resampling the points (Efron & Tibshirani, *An
/// Introduction to the Bootstrap*, 1993, section 9.5), which need neither normal errors nor equal
/// ones. The intervals are widened by the ratio of Student's quantile to the normal one, because
/// resamples of few points scatter too little. From more than two hundred points, two hundred are
/// drawn, and the intervals are scaled by the root of that share (Bickel, Götze & van Zwet,
/// *Resampling Fewer Than n Observations*, Statistica Sinica 7, 1997). The same seed gives the same
/// intervals.
pub fn theil_sen_intervals(points: &[(f64, f64)], seed: u64) -> Option<TheilSen> {
    let line = theil_sen(points)?;
    let n = points.len();
    if n < OBSERVATIONS_MIN {
        return Some(TheilSen { line, slope_ci95: None, intercept_ci95: None, n });
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let drawn_at_once = n.min(RESAMPLED_POINTS_MAX);
    let resampled: Vec<FittedLine> = (0..RESAMPLE_COUNT)
        .filter_map(|_| {
            let drawn: Vec<_> = (0..drawn_at_once).map(|_| points[random.random_range(0..n)]).collect();
            theil_sen(&drawn)
        })
        .collect();
    let freedom = count_as_float(n) - 2.0;
    let widening = student_t(freedom, Confidence::REPORTED) / normal_quantile(Confidence::REPORTED);
    let factor =
        widening * (1.0 + 1.0 / freedom).sqrt() * (count_as_float(drawn_at_once) / count_as_float(n)).sqrt();
    let around = |of: fn(&FittedLine) -> f64| {
        let centre = of(&line);
        Interval::of_resampled(resampled.iter().map(of), centre, factor)
            .hull_with(Interval::around(centre, 0.0))
    };
    Some(TheilSen {
        line,
        slope_ci95: Some(around(|line| line.slope)),
        intercept_ci95: Some(around(|line| line.intercept)),
        n,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;
    use crate::testing::fewest_holding_draws;
    use proptest::prelude::*;

    /// Norris, "Calibration of Ozone Monitors", from the Statistical Reference Datasets of NIST: x
    /// and y of each point.
    const NIST_NORRIS: [f64; 72] = [
        0.2, 0.1, 337.4, 338.8, 118.2, 118.1, 884.6, 888.0, 10.1, 9.2, 226.5, 228.1, 666.3, 668.5, 996.3,
        998.5, 448.6, 449.1, 777.0, 778.9, 558.2, 559.2, 0.4, 0.3, 0.6, 0.1, 775.5, 778.1, 666.9, 668.8,
        338.0, 339.3, 447.5, 448.9, 11.6, 10.8, 556.0, 557.7, 228.1, 228.3, 995.8, 998.0, 887.6, 888.8,
        120.2, 119.6, 0.3, 0.3, 0.3, 0.6, 556.8, 557.6, 339.1, 339.3, 887.2, 888.0, 999.0, 998.5, 779.0,
        778.9, 11.1, 10.2, 118.3, 117.6, 229.2, 228.9, 669.1, 668.4, 448.9, 449.2, 0.5, 0.2,
    ];

    fn assert_near(found: f64, certified: f64) {
        assert!((found / certified - 1.0).abs() < 1e-9, "{found} is not {certified}");
    }

    #[test]
    fn least_squares_reach_the_certified_values_of_nist() {
        let points: Vec<(f64, f64)> = NIST_NORRIS.as_chunks::<2>().0.iter().map(|&[x, y]| (x, y)).collect();
        let fit = least_squares(&points).unwrap();
        assert_near(fit.line.intercept, -0.262_323_073_774_029);
        assert_near(fit.line.slope, 1.002_116_818_020_45);
        assert_near(fit.errors.intercept_se.unwrap(), 0.232_818_234_301_152);
        assert_near(fit.errors.slope_se.unwrap(), 0.429_796_848_199_937e-3);
        assert_near(fit.errors.residual_sd.unwrap(), 0.884_796_396_144_373);
        assert_near(fit.errors.r_squared.unwrap(), 0.999_993_745_883_712);
        // 97.5 % quantile of Student's t with 34 degrees of freedom, from printed tables: 2.0322.
        let t = fit.slope_ci95.unwrap().half_width() / fit.errors.slope_se.unwrap();
        assert!((t - 2.0322).abs() < 1e-4, "{t}");
    }

    #[test]
    fn the_clock_rates_of_the_zip_experiment_are_reproduced() {
        // From published/zip-lines.csv: the highest clock rate in GHz, and the seconds for the zip.
        // The point of the NUC is the mean of its two drives.
        let nuc = |a: f64, b: f64| f64::midpoint(a, b);
        let zip = [(3.3, 32.326), (4.3, 24.8945), (4.7, nuc(18.8616, 18.8782))];
        let line = least_squares(&zip).unwrap().line;
        let solved = |plain_seconds| format!("{:.2}", line.solve(plain_seconds).unwrap());
        assert_eq!(solved(12.3259), "5.52");
        assert_eq!(solved(nuc(8.9289, 8.6662)), "5.90");
    }

    #[test]
    fn one_outlier_bends_least_squares_but_not_theil_sen() {
        let mut points: Vec<(f64, f64)> = (0..20).map(|i| (f64::from(i), 5.0 + 2.0 * f64::from(i))).collect();
        points[19].1 = 1e6;
        let robust = theil_sen(&points).unwrap();
        assert_eq!(robust, FittedLine { slope: 2.0, intercept: 5.0 });
        assert!(least_squares(&points).unwrap().line.slope > 1_000.0);
    }

    #[test]
    fn points_without_two_different_x_have_no_line() {
        assert_eq!(least_squares(&[]), None);
        assert_eq!(least_squares(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(least_squares(&[(1.0, 1.0), (2.0, f64::NAN)]), None);
        assert_eq!(theil_sen(&[(1.0, 1.0)]), None);
        let two = least_squares(&[(1.0, 1.0), (2.0, 3.0)]).unwrap();
        assert_eq!((two.line.slope, two.line.intercept, two.slope_ci95), (2.0, -1.0, None));
        assert_eq!(least_squares(&[(1.0, 4.0), (2.0, 4.0), (3.0, 4.0)]).unwrap().errors.r_squared, None);
        assert_eq!(two.line.solve(3.0), Some(2.0));
        assert_eq!(FittedLine { slope: 0.0, intercept: 1.0 }.solve(1.0), None);
    }

    /// The line of a sweep with a fixed cost of 20 µs and 4 GB/s: seconds by bytes.
    const SWEEP_LINE: FittedLine = FittedLine { slope: 0.25e-9, intercept: 20e-6 };

    /// Times of files from 10 kB to 2 GB, with relative errors of this standard deviation.
    fn sweep_points(files: u32, sd: f64, noise: &mut SeededRandom) -> Vec<(f64, f64)> {
        let point = |file: u32| {
            let bytes = 1e4 * 2e5_f64.powf(f64::from(file) / f64::from(files - 1));
            (bytes, SWEEP_LINE.at(bytes) * (1.0 + sd * noise.normal()))
        };
        (0..files).map(point).collect()
    }

    #[test]
    fn weighted_least_squares_solve_their_equations() {
        // The relative residuals are orthogonal to 1/ŷ and to x/ŷ.
        let points = [(1.0, 2.1), (2.0, 2.9), (10.0, 10.5), (50.0, 55.0), (200.0, 180.0)];
        let fit = weighted_least_squares(&points).unwrap();
        let sum = |of: fn(f64) -> f64| -> f64 {
            let term = |&(x, y): &(f64, f64)| (y - fit.line.at(x)) / fit.line.at(x).powi(2) * of(x);
            points.iter().map(term).sum()
        };
        assert!(sum(|_| 1.0).abs() < 1e-9 && sum(|x| x).abs() < 1e-9, "{fit:?}");
        // Expected values from numpy: numpy.linalg with weights 1/ŷ² iterated 200 times, and
        // Student's t of scipy.
        assert_near(fit.line.slope, 0.968_310_560_628_162_2);
        assert_near(fit.line.intercept, 1.077_485_266_992_003_9);
        assert_near(fit.errors.relative_sd.unwrap(), 0.083_328_686_357_092_05);
        assert_near(fit.slope_ci95.unwrap().half_width(), 0.161_172_347_663_124_7);
        assert_near(fit.intercept_ci95.unwrap().half_width(), 0.512_328_832_978_527);
    }

    #[test]
    fn the_fixed_cost_of_a_sweep_has_an_interval_of_microseconds() {
        let points = sweep_points(40, 0.1, &mut SeededRandom::new(4));
        let published = least_squares(&points).unwrap().intercept_ci95.unwrap().half_width();
        let weighted = weighted_least_squares(&points).unwrap().intercept_ci95.unwrap();
        let robust = theil_sen_intervals(&points, 1).unwrap().intercept_ci95.unwrap();
        assert!(published > 1e-3, "{published}");
        assert!(weighted.half_width() < 5e-6 && weighted.holds(20e-6), "{weighted:?}");
        assert!(robust.half_width() < 50e-6 && robust.holds(20e-6), "{robust:?}");
    }

    /// The number of intervals of simulated sweeps that hold the true value: slope and intercept by
    /// weighted least squares, then slope and intercept by Theil and Sen.
    fn count_held(files: u32, sd: f64, sweeps: u64) -> [u64; 4] {
        let mut noise = SeededRandom::new(u64::from(files));
        let mut held = [0; 4];
        for seed in 0..sweeps {
            let points = sweep_points(files, sd, &mut noise);
            let weighted = weighted_least_squares(&points).unwrap();
            let robust = theil_sen_intervals(&points, seed).unwrap();
            let holds = [
                weighted.slope_ci95.unwrap().holds(SWEEP_LINE.slope),
                weighted.intercept_ci95.unwrap().holds(SWEEP_LINE.intercept),
                robust.slope_ci95.unwrap().holds(SWEEP_LINE.slope),
                robust.intercept_ci95.unwrap().holds(SWEEP_LINE.intercept),
            ];
            held.iter_mut().zip(holds).for_each(|(held, holds)| *held += u64::from(holds));
        }
        println!("{files} files, errors of {sd}: {held:?} of {sweeps}");
        held
    }

    #[test]
    fn intervals_of_sweeps_hold_the_true_line() {
        for (files, sd) in [(8, 0.05), (20, 0.1), (60, 0.2)] {
            let least = fewest_holding_draws(0.94, 100);
            assert!(
                count_held(files, sd, 100).iter().all(|held| *held >= least),
                "{files} files: at least {least}"
            );
        }
    }

    mod ring2 {
        use super::*;

        #[test]
        fn intervals_of_sweeps_hold_the_true_line_in_93_of_100_simulations() {
            for (files, sd) in [(8, 0.05), (20, 0.1), (60, 0.2)] {
                assert!(count_held(files, sd, 1_000).iter().all(|held| *held >= 930), "{files} files");
            }
        }
    }

    #[test]
    fn resampling_repeats_from_its_seed_and_few_points_have_no_interval() {
        let points = sweep_points(30, 0.1, &mut SeededRandom::new(1));
        assert_eq!(theil_sen_intervals(&points, 7), theil_sen_intervals(&points, 7));
        assert_ne!(theil_sen_intervals(&points, 7), theil_sen_intervals(&points, 8));
        let four = theil_sen_intervals(&points[..4], 1).unwrap();
        assert_eq!((four.slope_ci95, four.intercept_ci95, four.n), (None, None, 4));
        assert_eq!(Some(four.line), theil_sen(&points[..4]));
        assert_eq!(theil_sen_intervals(&points[..1], 1), None);
    }

    #[test]
    fn many_points_have_narrower_intervals() {
        let width = |files| {
            let points = sweep_points(files, 0.1, &mut SeededRandom::new(2));
            theil_sen_intervals(&points, 3).unwrap().slope_ci95.unwrap().half_width()
        };
        let narrower = width(150) / width(1_350);
        assert!((2.0..4.5).contains(&narrower), "nine times as many points: {narrower}");
    }

    #[test]
    fn points_without_a_weighted_line_have_none() {
        assert_eq!(weighted_least_squares(&[]), None);
        assert_eq!(weighted_least_squares(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(weighted_least_squares(&[(1.0, 1.0), (2.0, 0.0)]), None);
        assert_eq!(weighted_least_squares(&[(1.0, 1.0), (2.0, f64::INFINITY)]), None);
        let two = weighted_least_squares(&[(1.0, 1.0), (2.0, 3.0)]).unwrap();
        assert!((two.line.slope - 2.0).abs() < 1e-12 && (two.line.intercept + 1.0).abs() < 1e-12);
        assert_eq!((two.slope_ci95, two.errors.relative_sd), (None, None));
    }

    proptest! {
        #[test]
        fn weighted_lines_scale_with_both_axes(
            ys in prop::collection::vec(1e-6..10.0_f64, 3..30),
            doublings in -20..20_i32,
        ) {
            // Powers of two change only the exponent, so no rounding occurs.
            let factor = 2_f64.powi(doublings);
            let of = |x_unit: f64, y_unit: f64| {
                let points: Vec<_> = (1_u32..).zip(&ys).map(|(x, y)| (x_unit * f64::from(x), y_unit * y)).collect();
                weighted_least_squares(&points).unwrap()
            };
            let (one, other) = (of(1.0, 1.0), of(factor, 8.0));
            prop_assert_eq!(other.line.slope * factor / 8.0, one.line.slope);
            prop_assert_eq!(other.line.intercept / 8.0, one.line.intercept);
            prop_assert!(one.slope_ci95.is_some_and(|ends| ends.low.is_finite() && ends.high.is_finite()));
        }

        #[test]
        fn points_on_a_line_give_that_line(slope in -1e3..1e3_f64, intercept in -1e6..1e6_f64, n in 3_u32..40) {
            let points: Vec<_> = (0..n).map(|i| (f64::from(i), intercept + slope * f64::from(i))).collect();
            for line in [least_squares(&points).unwrap().line, theil_sen(&points).unwrap()] {
                prop_assert!((line.slope - slope).abs() < 1e-6, "{:?}", line);
                prop_assert!((line.intercept - intercept).abs() < 1e-5, "{:?}", line);
            }
        }
    }
}
