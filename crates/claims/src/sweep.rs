//! The quantities of a sweep: numbers of the files of a series, with all sizes or a range of sizes,
//! and numbers of the straight line through time against size.

use super::answer::Estimate;
use super::claim::Quantity;
use super::figures::MissingFigure;
use super::metric::Metric;
use super::operand::Operand;
use readlab_analysis::compare::Measure;
use readlab_analysis::stats::{self, Interval, LeastSquares, Observation, RelativeErrors};
use readlab_model::units::Bytes;
use readlab_record::{Record, SweepPoint, SweepSeries};
use std::ops::RangeInclusive;

/// The names that publications use for plain writing and plain reading.
const PUBLISHED_WRITE: &str = "write";
const PUBLISHED_READ: &str = "read";

pub(super) fn series_operand(record: &Record, quantity: &Quantity) -> Result<Operand, MissingFigure> {
    let swept = record.sweep_series();
    let series =
        find_series(&swept, &quantity.trial).ok_or_else(|| MissingFigure::Absent(quantity.trial.clone()))?;
    match quantity.metric {
        Metric::Measure(Measure::Slope) => {
            fitted_line(series).and_then(|fit| rate_by_slope(&fit)).ok_or_else(no_line_error)
        }
        Metric::FixedCost => fitted_line(series).map(|fit| fixed_cost(&fit)).ok_or_else(no_line_error),
        Metric::Measure(Measure::Most) => highest_rate(series).ok_or_else(no_line_error),
        metric => file_readings(series, metric, quantity.size_range_bytes.as_ref()),
    }
}

fn find_series<'a>(swept: &'a [SweepSeries], name: &str) -> Option<&'a SweepSeries> {
    match name {
        PUBLISHED_WRITE => swept.iter().find(|it| it.is_write),
        PUBLISHED_READ => swept.iter().find(|it| !it.is_write),
        _ => swept.iter().find(|it| it.name == name || it.name.split('@').next() == Some(name)),
    }
}

fn no_line_error() -> MissingFigure {
    MissingFigure::NoNumber("no line goes through the files: sizes are too few".to_owned())
}

/// The line by least squares of relative errors, because sizes span powers of ten and the error of
/// a time grows with the size. With ordinary least squares, as published, a fixed cost of
/// microseconds has an interval of milliseconds.
fn fitted_line(series: &SweepSeries) -> Option<LeastSquares<RelativeErrors>> {
    stats::weighted_least_squares(&series.sizes_and_seconds())
}

/// The rate as the inverse of the slope; `None` where time does not grow with size.
fn rate_by_slope(fit: &LeastSquares<RelativeErrors>) -> Option<Operand> {
    let slope = fit.line.slope;
    let ends = fit.slope_ci95.filter(|ends| ends.low > 0.0);
    let ci95 = ends.map(|ends| Interval { low: 1.0 / ends.high, high: 1.0 / ends.low });
    (slope > 0.0).then(|| Operand::Single(Estimate::with_ends(1.0 / slope, ci95)))
}

/// The intercept at size 0, in nanoseconds.
fn fixed_cost(fit: &LeastSquares<RelativeErrors>) -> Operand {
    let ci95 = fit.intercept_ci95.map(|ends| Interval { low: ends.low * 1e9, high: ends.high * 1e9 });
    Operand::Single(Estimate::with_ends(fit.line.intercept * 1e9, ci95))
}

fn highest_rate(series: &SweepSeries) -> Option<Operand> {
    let most = series.points.iter().map(SweepPoint::rate).reduce(f64::max)?;
    Some(Operand::Single(Estimate::without_interval(most)))
}

/// One value for each file. The index of the file takes the place of the round, so that two values
/// of one file are paired.
fn file_readings(
    series: &SweepSeries,
    metric: Metric,
    sizes: Option<&RangeInclusive<u64>>,
) -> Result<Operand, MissingFigure> {
    let is_meant = |point: &SweepPoint| sizes.is_none_or(|sizes| sizes.contains(&point.size_bytes));
    let files = (0..).zip(&series.points).filter(|(_, point)| is_meant(point));
    let files: Vec<(u32, &SweepPoint)> = files.filter(|(_, point)| point.size_bytes > 0).collect();
    if let Some(sizes) = sizes.filter(|_| files.is_empty()) {
        let (low, high) = (Bytes(*sizes.start()), Bytes(*sizes.end()));
        return Err(MissingFigure::NoNumber(format!("no file has a size from {low} to {high}")));
    }
    let observation = |(nth, point): (u32, &SweepPoint)| {
        Some(Observation { value: point_number(point, metric)?, fill: nth, round: nth })
    };
    let observations: Vec<Observation> = files.into_iter().filter_map(observation).collect();
    if observations.is_empty() {
        return Err(MissingFigure::NoNumber(format!("{} of {} was not metered", metric.name(), series.name)));
    }
    Ok(Operand::Readings { round_group: series.name.clone(), observations, noise: None })
}

fn point_number(point: &SweepPoint, metric: Metric) -> Option<f64> {
    match metric {
        Metric::Size => Some(point.size_bytes as f64),
        Metric::Measure(Measure::Wall) => Some(point.wall_ns as f64),
        Metric::Measure(Measure::Rate) => Some(point.rate()),
        Metric::Measure(Measure::Device) => Some(point.device_read_bytes? as f64),
        _ => None,
    }
}
