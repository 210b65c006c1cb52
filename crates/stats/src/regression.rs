//! Straight lines through points: least squares with intervals, and a line that is robust to
//! outliers.

use crate::interval::{Confidence, Interval};
use crate::median;
use crate::number::count;
use crate::student::student_t;
use serde::Serialize;

/// `y = intercept + slope * x`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FittedLine {
    /// Rise per unit of x.
    pub slope: f64,
    /// Value at x = 0.
    pub intercept: f64,
}

impl FittedLine {
    /// Its value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    /// Where it has the value `y`; `None` on a level line.
    pub fn solve(&self, y: f64) -> Option<f64> {
        (self.slope != 0.0).then(|| (y - self.intercept) / self.slope)
    }
}

/// A line by ordinary least squares of y on x.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LeastSquares {
    pub line: FittedLine,
    /// Standard error of the slope; `None` with two points.
    pub slope_se: Option<f64>,
    /// Standard error of the intercept; `None` with two points.
    pub intercept_se: Option<f64>,
    /// 95 % interval of the slope (Student's t, n-2 degrees of freedom); `None` with two points.
    pub slope_ci95: Option<Interval>,
    /// 95 % interval of the intercept; `None` with two points.
    pub intercept_ci95: Option<Interval>,
    /// Share of the variance of y that the line explains; `None` where y does not vary.
    pub r_squared: Option<f64>,
    /// Standard deviation of the residuals, n-2; `None` with two points.
    pub residual_sd: Option<f64>,
    /// How many points.
    pub n: usize,
}

/// Fits by ordinary least squares (Draper & Smith, *Applied Regression Analysis*, chapter 1);
/// `None` with fewer than two different x, or where a coordinate is no finite number.
pub fn least_squares(points: &[(f64, f64)]) -> Option<LeastSquares> {
    if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return None;
    }
    let n = count(points.len());
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
    let xx: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let yy: f64 = points.iter().map(|(_, y)| (y - mean_y).powi(2)).sum();
    let xy: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    if points.len() < 2 || xx == 0.0 {
        return None;
    }
    let slope = xy / xx;
    let line = FittedLine { slope, intercept: mean_y - slope * mean_x };
    let residual: f64 = points.iter().map(|&(x, y)| (y - line.at(x)).powi(2)).sum();
    let freedom = n - 2.0;
    let residual_sd = (freedom > 0.0).then(|| (residual / freedom).sqrt());
    let slope_se = residual_sd.map(|sd| sd / xx.sqrt());
    let intercept_se = residual_sd.map(|sd| sd * (1.0 / n + mean_x * mean_x / xx).sqrt());
    let around = |estimate: f64, se: f64| {
        let t = student_t(freedom, Confidence::REPORTED);
        Interval { low: estimate - t * se, high: estimate + t * se }
    };
    Some(LeastSquares {
        line,
        slope_se,
        intercept_se,
        slope_ci95: slope_se.map(|se| around(line.slope, se)),
        intercept_ci95: intercept_se.map(|se| around(line.intercept, se)),
        r_squared: (yy > 0.0).then(|| 1.0 - residual / yy),
        residual_sd,
        n: points.len(),
    })
}

/// The line of Theil and Sen (Sen, Journal of the American Statistical Association 63, 1968): the
/// median slope over all pairs of points, and the median of the remaining differences. Up to 29 %
/// of the points may be anywhere. Time and memory grow with the square of the number of points.
/// `None` with fewer than two different x.
pub fn theil_sen(points: &[(f64, f64)]) -> Option<FittedLine> {
    let slopes = (points.iter().enumerate())
        .flat_map(|(at, a)| points[at + 1..].iter().map(move |b| (a, b)))
        .filter(|(a, b)| a.0 != b.0)
        .map(|(a, b)| (b.1 - a.1) / (b.0 - a.0));
    let slope = median(slopes)?;
    let intercept = median(points.iter().map(|(x, y)| y - slope * x))?;
    Some(FittedLine { slope, intercept })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Norris, "Calibration of Ozone Monitors", from the Statistical Reference Datasets of NIST, as
    /// (x, y).
    const NORRIS: [(f64, f64); 36] = [
        (0.2, 0.1),
        (337.4, 338.8),
        (118.2, 118.1),
        (884.6, 888.0),
        (10.1, 9.2),
        (226.5, 228.1),
        (666.3, 668.5),
        (996.3, 998.5),
        (448.6, 449.1),
        (777.0, 778.9),
        (558.2, 559.2),
        (0.4, 0.3),
        (0.6, 0.1),
        (775.5, 778.1),
        (666.9, 668.8),
        (338.0, 339.3),
        (447.5, 448.9),
        (11.6, 10.8),
        (556.0, 557.7),
        (228.1, 228.3),
        (995.8, 998.0),
        (887.6, 888.8),
        (120.2, 119.6),
        (0.3, 0.3),
        (0.3, 0.6),
        (556.8, 557.6),
        (339.1, 339.3),
        (887.2, 888.0),
        (999.0, 998.5),
        (779.0, 778.9),
        (11.1, 10.2),
        (118.3, 117.6),
        (229.2, 228.9),
        (669.1, 668.4),
        (448.9, 449.2),
        (0.5, 0.2),
    ];

    fn near(found: f64, certified: f64) {
        assert!((found / certified - 1.0).abs() < 1e-9, "{found} is not {certified}");
    }

    #[test]
    fn least_squares_reach_the_certified_values_of_nist() {
        let fit = least_squares(&NORRIS).unwrap();
        near(fit.line.intercept, -0.262_323_073_774_029);
        near(fit.line.slope, 1.002_116_818_020_45);
        near(fit.intercept_se.unwrap(), 0.232_818_234_301_152);
        near(fit.slope_se.unwrap(), 0.429_796_848_199_937e-3);
        near(fit.residual_sd.unwrap(), 0.884_796_396_144_373);
        near(fit.r_squared.unwrap(), 0.999_993_745_883_712);
        // 97.5 % quantile of Student's t with 34 degrees of freedom, from printed tables: 2.0322.
        let t = fit.slope_ci95.unwrap().half_width() / fit.slope_se.unwrap();
        assert!((t - 2.0322).abs() < 1e-4, "{t}");
    }

    #[test]
    fn the_clocks_that_the_zip_experiment_asks_for_come_out() {
        // published/zip-lines.csv: highest clock in GHz, seconds for the zip; the NUC is the mean
        // of its two drives.
        let nuc = |a: f64, b: f64| f64::midpoint(a, b);
        let zip = [(3.3, 32.326), (4.3, 24.8945), (4.7, nuc(18.8616, 18.8782))];
        let line = least_squares(&zip).unwrap().line;
        let solved = |plain_seconds| format!("{:.2}", line.solve(plain_seconds).unwrap());
        assert_eq!(solved(12.3259), "5.52");
        assert_eq!(solved(nuc(8.9289, 8.6662)), "5.90");
    }

    #[test]
    fn one_wild_point_bends_least_squares_and_not_theil_sen() {
        let mut points: Vec<(f64, f64)> = (0..20).map(|i| (f64::from(i), 5.0 + 2.0 * f64::from(i))).collect();
        points[19].1 = 1e6;
        let robust = theil_sen(&points).unwrap();
        assert_eq!(robust, FittedLine { slope: 2.0, intercept: 5.0 });
        assert!(least_squares(&points).unwrap().line.slope > 1_000.0);
    }

    #[test]
    fn what_is_no_line_is_none() {
        assert_eq!(least_squares(&[]), None);
        assert_eq!(least_squares(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(least_squares(&[(1.0, 1.0), (2.0, f64::NAN)]), None);
        assert_eq!(theil_sen(&[(1.0, 1.0)]), None);
        let two = least_squares(&[(1.0, 1.0), (2.0, 3.0)]).unwrap();
        assert_eq!((two.line.slope, two.line.intercept, two.slope_ci95), (2.0, -1.0, None));
        assert_eq!(least_squares(&[(1.0, 4.0), (2.0, 4.0), (3.0, 4.0)]).unwrap().r_squared, None);
        assert_eq!(two.line.solve(3.0), Some(2.0));
        assert_eq!(FittedLine { slope: 0.0, intercept: 1.0 }.solve(1.0), None);
    }

    proptest! {
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
