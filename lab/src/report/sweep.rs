//! Many files of many sizes: how long each took, and the line through them.
//!
//! The slope of time on size is the transfer rate and its value at size 0 the fixed cost of a file. Fed with points,
//! wherever they come from.

use crate::stats::{LeastSquares, least_squares, quantile};
use crate::units::{Bytes, Nanos, Throughput};
use std::collections::BTreeMap;

/// Which way the bytes went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// To the device.
    Write,
    /// From the device.
    Read,
}

/// One file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweepPoint {
    /// Its size.
    pub size: Bytes,
    /// How long all of it took.
    pub wall: Nanos,
}

/// All files that were written, or read, in one manner.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepSeries {
    /// Written or read.
    pub way: Way,
    /// How, such as `O_DIRECT`.
    pub name: String,
    /// The files.
    pub points: Vec<SweepPoint>,
}

impl Way {
    /// The word for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Way::Write => "writes",
            Way::Read => "reads",
        }
    }
}

impl SweepPoint {
    /// Its size over its time; infinite when no time passed.
    #[must_use]
    pub fn rate(&self) -> Throughput {
        Throughput::of(self.size, self.wall)
    }
}

impl SweepSeries {
    /// Time in nanoseconds on size in bytes; `None` with fewer than two sizes.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "exact up to 104 days and 9 PB")]
    pub fn line(&self) -> Option<LeastSquares> {
        let points = self.points.iter().map(|point| (point.size.0 as f64, point.wall.0 as f64));
        least_squares(&points.collect::<Vec<_>>())
    }

    /// The median rate of each size, in rising order of the sizes.
    #[must_use]
    pub fn medians(&self) -> Vec<(Bytes, Throughput)> {
        let mut sizes: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
        for point in self.points.iter().filter(|point| point.rate().0.is_finite()) {
            sizes.entry(point.size).or_default().push(point.rate().0);
        }
        let median = |(size, mut rates): (Bytes, Vec<f64>)| {
            rates.sort_unstable_by(f64::total_cmp);
            (size, Throughput(quantile(&rates, 0.5)))
        };
        sizes.into_iter().map(median).collect()
    }

    /// The line in words: rate and fixed cost with their intervals.
    #[must_use]
    pub fn line_words(&self) -> String {
        let Some(fit) = self.line() else { return "too few sizes for a line".to_owned() };
        let rate = |slope: f64| Throughput(1e9 / slope);
        let time = |ns: f64| Nanos::from_secs_f64(ns / 1e9);
        if fit.line.slope <= 0.0 {
            return "larger files took no longer: the line gives no rate".to_owned();
        }
        let mut words = format!("the line gives {}", rate(fit.line.slope));
        if let Some(ends) = fit.slope_ci95.filter(|ends| ends.low > 0.0) {
            words += &format!(" [{}, {}]", rate(ends.high), rate(ends.low));
        }
        match fit.intercept_ci95 {
            Some(ends) if ends.low > 0.0 => {
                words += &format!(
                    " and a fixed cost of {} [{}, {}] a file",
                    time(fit.line.intercept),
                    time(ends.low),
                    time(ends.high)
                );
            }
            _ => words += "; its fixed cost cannot be told from none",
        }
        words
    }
}
