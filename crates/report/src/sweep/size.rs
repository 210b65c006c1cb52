//! The files of one size in a sweep: their times, their deviation from the line, and their row in
//! tables.

use super::DEVIATING_SHARE_MIN;
use crate::words::{self, Number};
use readlab_analysis::stats::{self, FittedLine, float};
use readlab_model::units::{Bytes, Nanos, Throughput};
use readlab_record::Point;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct SizeRow {
    pub size_bytes: u64,
    /// Number of files.
    pub n: usize,
    pub least_ns: u64,
    pub median_ns: u64,
    pub most_ns: u64,
    /// The size divided by the median time.
    #[serde(rename = "rate_bytes_per_s")]
    pub rate: Throughput,
    /// The time that the robust line predicts, if it is positive.
    pub predicted_ns: Option<u64>,
    /// Median share of the size that came from the device; `None` for writes, and if not metered.
    pub device_share: Option<f64>,
}

impl SizeRow {
    pub(super) fn from_points(points: &[Point], line: Option<&FittedLine>) -> SizeRow {
        let size_bytes = points.first().map_or(0, |point| point.size_bytes);
        let mut walls: Vec<f64> = points.iter().map(|point| float(point.wall_ns)).collect();
        walls.sort_unstable_by(f64::total_cmp);
        let nanos = |share| Nanos::from_secs_f64(stats::quantile(&walls, share) / 1e9).0;
        let shares = points
            .iter()
            .filter_map(|point| Some(float(point.device_read_bytes?) / float(size_bytes.max(1))));
        let predicted = line.map(|line| line.at(float(size_bytes))).filter(|seconds| *seconds > 0.0);
        SizeRow {
            size_bytes,
            n: points.len(),
            least_ns: nanos(0.0),
            median_ns: nanos(0.5),
            most_ns: nanos(1.0),
            rate: Throughput::per(Bytes(size_bytes), Nanos(nanos(0.5))),
            predicted_ns: predicted.map(|seconds| Nanos::from_secs_f64(seconds).0),
            device_share: stats::median(shares),
        }
    }

    /// The predicted time divided by the median time.
    pub(super) fn factor(&self) -> Option<f64> {
        Some(float(self.predicted_ns?) / float(self.median_ns.max(1)))
    }

    /// Whether this size deviates from the line, and then whether it is faster.
    pub(super) fn side(&self) -> Option<bool> {
        let (factor, predicted) = (self.factor()?, self.predicted_ns?);
        if factor > 1.0 + DEVIATING_SHARE_MIN && self.most_ns < predicted {
            Some(true)
        } else if factor < 1.0 / (1.0 + DEVIATING_SHARE_MIN) && self.least_ns > predicted {
            Some(false)
        } else {
            None
        }
    }

    /// The titles of the cells. All cells are numbers, and so aligned right.
    pub(crate) const TITLES: [&'static str; 8] =
        ["size", "files", "median", "least", "most", "rate", "line says", "from device"];

    /// The cells in tables, with the values that those are sorted by; `None` is not known.
    pub(crate) fn cells(&self) -> [Option<Number>; 8] {
        [
            Some(Number::bytes(self.size_bytes)),
            Some(Number::count(self.n as u64)),
            Some(Number::time(self.median_ns)),
            Some(Number::time(self.least_ns)),
            Some(Number::time(self.most_ns)),
            Some(Number::rate(self.rate.0)),
            self.predicted_ns.map(Number::time),
            self.device_share.map(Number::percent),
        ]
    }

    pub(crate) fn texts(&self) -> [String; 8] {
        self.cells().map(|cell| cell.map_or_else(|| words::NONE.to_owned(), |number| number.text))
    }
}
