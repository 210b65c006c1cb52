//! The files of one size in a sweep: their times, their deviation from the line, and their row in
//! tables. Also mixed sizes, which have fast files and slow files with a gap between the two
//! groups: in the published experiment, six of ten files of 500 kB and five of ten files of 1 MB
//! were fast.
//!
//! A band is a run of sizes whose files are all on one side of the line. A mixed size is found from
//! single files: by [`stats::two_groups`] on the logarithms of their times, with a gap of at least
//! a fifth.

use super::DEVIATING_SHARE_MIN;
use crate::words::{self, Number};
use readlab_analysis::stats::{self, FittedLine, float};
use readlab_model::target::TargetIndex;
use readlab_model::units::{Bytes, Nanos, Throughput};
use readlab_record::SweepPoint;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct SizeRow {
    pub size_bytes: u64,
    /// Number of files.
    #[serde(rename = "n")]
    pub file_count: usize,
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
    pub(super) fn from_points(points: &[SweepPoint], line: Option<&FittedLine>) -> SizeRow {
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
            file_count: points.len(),
            least_ns: nanos(0.0),
            median_ns: nanos(0.5),
            most_ns: nanos(1.0),
            rate: Throughput::per(Bytes(size_bytes), Nanos(nanos(0.5))),
            predicted_ns: predicted.map(|seconds| Nanos::from_secs_f64(seconds).0),
            device_share: stats::median(shares),
        }
    }

    /// The predicted time divided by the median time; `None` without a prediction.
    pub(super) fn speed_ratio(&self) -> Option<f64> {
        Some(float(self.predicted_ns?) / float(self.median_ns.max(1)))
    }

    /// Whether this size is faster than the line predicts; `None` if it does not deviate.
    pub(super) fn deviates_as_faster(&self) -> Option<bool> {
        let (factor, predicted) = (self.speed_ratio()?, self.predicted_ns?);
        if factor > 1.0 + DEVIATING_SHARE_MIN && self.most_ns < predicted {
            Some(true)
        } else if factor < 1.0 / (1.0 + DEVIATING_SHARE_MIN) && self.least_ns > predicted {
            Some(false)
        } else {
            None
        }
    }

    /// The titles of the cells, which are all numbers.
    pub(crate) const TITLES: [&'static str; 8] =
        ["size", "files", "median", "least", "most", "rate", "line says", "from device"];

    /// The cells in tables; `None` if a number is not known.
    pub(crate) fn cells(&self) -> [Option<Number>; 8] {
        [
            Some(Number::bytes(self.size_bytes)),
            Some(Number::count(self.file_count as u64)),
            Some(Number::time(self.median_ns)),
            Some(Number::time(self.least_ns)),
            Some(Number::time(self.most_ns)),
            Some(Number::rate(self.rate.0)),
            self.predicted_ns.map(Number::time),
            self.device_share.map(Number::percent),
        ]
    }

    pub(crate) fn cell_texts(&self) -> [String; 8] {
        self.cells().map(|cell| cell.map_or_else(|| words::NONE.to_owned(), |number| number.text))
    }
}

/// A size with fast and slow files.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MixedSize {
    pub size_bytes: u64,
    #[serde(rename = "fast")]
    pub fast_files: Vec<String>,
    #[serde(rename = "slow")]
    pub slow_files: Vec<String>,
    /// The time of the fastest slow file divided by that of the slowest fast file.
    pub gap_factor: f64,
    /// The gap divided by the spread of the wider group, both in logarithms; `None` if neither
    /// group spreads.
    pub evidence: Option<f64>,
}

impl MixedSize {
    /// The mixed sizes of a series, ascending. Each file counts once, with its first pass.
    pub(super) fn all(points: &[SweepPoint], name: impl Fn(TargetIndex) -> String) -> Vec<MixedSize> {
        let mut by_size: BTreeMap<u64, Vec<&SweepPoint>> = BTreeMap::new();
        let mut first: BTreeMap<TargetIndex, &SweepPoint> = BTreeMap::new();
        for point in points {
            let kept = first.entry(point.target).or_insert(point);
            if point.pass < kept.pass {
                *kept = point;
            }
        }
        for point in first.into_values() {
            by_size.entry(point.size_bytes).or_default().push(point);
        }
        by_size.into_values().filter_map(|points| MixedSize::find(&points, &name)).collect()
    }

    fn find(points: &[&SweepPoint], name: &impl Fn(TargetIndex) -> String) -> Option<MixedSize> {
        let log = |point: &SweepPoint| float(point.wall_ns.max(1)).ln();
        let groups = stats::two_groups(points.iter().map(|point| log(point)))?;
        if groups.gap < DEVIATING_SHARE_MIN.ln_1p() {
            return None;
        }
        let (fast, slow): (Vec<&SweepPoint>, Vec<&SweepPoint>) =
            points.iter().partition(|point| log(point) <= groups.lower_max);
        let names = |points: Vec<&SweepPoint>| points.iter().map(|point| name(point.target)).collect();
        Some(MixedSize {
            size_bytes: points[0].size_bytes,
            fast_files: names(fast),
            slow_files: names(slow),
            gap_factor: groups.gap.exp(),
            evidence: Some(groups.gap_per_spread).filter(|it| it.is_finite()),
        })
    }

    /// One sentence on the number of files of each kind, the gap between them, and their names.
    pub fn sentence(&self) -> String {
        let all = self.fast_files.len() + self.slow_files.len();
        let evidence = self.evidence.map_or_else(
            || "neither group spreads".to_owned(),
            |it| format!("a gap of {} times the spread of either group", words::factor(it)),
        );
        format!(
            "{}: {} of {all} files are faster than the others by at least {} times; {evidence}: {}",
            Bytes(self.size_bytes),
            self.fast_files.len(),
            words::factor(self.gap_factor),
            self.fast_files.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(file: usize, size_bytes: u64, wall_ns: u64, pass: u32) -> SweepPoint {
        SweepPoint { target: TargetIndex::new(file), size_bytes, wall_ns, device_read_bytes: None, pass }
    }

    #[test]
    fn six_fast_files_of_ten_are_named() {
        let wall = |file: usize| if file.is_multiple_of(5) || file % 3 == 1 { 50_000 } else { 200_000 };
        let of_ten: Vec<SweepPoint> =
            (0..10).map(|file| point(file, 500_000, wall(file) + file as u64 * 1_000, 0)).collect();
        let even = (10..20).map(|file| point(file, 2_000_000, 700_000 + file as u64 * 20_000, 0));
        let points: Vec<SweepPoint> = of_ten.iter().copied().chain(even).collect();
        let mixed = MixedSize::all(&points, |file| format!("f{file}"));
        assert_eq!(mixed.len(), 1, "{mixed:?}");
        assert_eq!(mixed[0].size_bytes, 500_000);
        assert_eq!(mixed[0].fast_files, ["f0", "f1", "f4", "f5", "f7"]);
        assert_eq!(mixed[0].slow_files.len(), 5);
        let sentence = mixed[0].sentence();
        assert!(sentence.starts_with("500 kB: 5 of 10 files are faster"), "{sentence}");
        assert!(sentence.ends_with("f0, f1, f4, f5, f7"), "{sentence}");
    }

    #[test]
    fn later_passes_and_small_gaps_make_no_group() {
        // Each file is slow at first, and fast from a cache afterwards.
        let first = (0..10).map(|n| point(n, 1_000_000, 400_000 + n as u64, 0));
        let later = (0..10).map(|n| point(n, 1_000_000, 90_010 + n as u64, 1));
        let points: Vec<SweepPoint> = first.chain(later).collect();
        assert_eq!(MixedSize::all(&points, |file| file.to_string()), []);
        let close: Vec<SweepPoint> =
            (0..10).map(|n| point(n, 1_000_000, if n < 5 { 400_000 } else { 440_000 }, 0)).collect();
        assert_eq!(MixedSize::all(&close, |file| file.to_string()), []);
    }
}
