//! The series of a sweep, taken from its record: for each method of writing and of reading, one
//! point for each file and pass. `readlab_report` and `readlab_analysis::compare` interpret the
//! points.

use super::{Record, RunKind, TrialRecord, WriteWay};
use readlab_model::target::TargetIndex;
use readlab_model::units::Nanos;
use schemars::JsonSchema;
use serde::Serialize;

/// One method of writing or reading over all sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepSeries {
    /// `write plain` and the like, or the name of the reading method.
    pub name: String,
    pub is_write: bool,
    /// One point for each file, in the order of the record.
    pub points: Vec<SweepPoint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename = "Point")]
pub struct SweepPoint {
    #[serde(skip)]
    pub target: TargetIndex,
    pub size_bytes: u64,
    pub wall_ns: u64,
    /// Bytes that came from the device, if the file was read and the meter is known.
    pub device_read_bytes: Option<u64>,
    pub pass: u32,
}

impl SweepSeries {
    /// The size in bytes and the time in seconds of every point.
    pub fn sizes_and_seconds(&self) -> Vec<(f64, f64)> {
        self.points.iter().map(|point| (point.size_bytes as f64, point.seconds())).collect()
    }
}

impl SweepPoint {
    pub fn seconds(&self) -> f64 {
        Nanos(self.wall_ns).as_secs_f64()
    }

    /// The rate in bytes per second.
    pub fn rate(&self) -> f64 {
        self.size_bytes as f64 / self.seconds()
    }
}

impl Record {
    /// The series of a sweep: writes first, in the order of the record, then methods in the order
    /// of their numbers. Only accepted samples are included.
    pub fn sweep_series(&self) -> Vec<SweepSeries> {
        let mut all = Vec::new();
        if self.header.kind != RunKind::Sweep {
            return all;
        }
        let size_bytes = |target: TargetIndex| self.targets.get(target).map(|facts| facts.size_bytes);
        for (target, way, times) in &self.writes {
            let Some(size_bytes) = size_bytes(*target) else { continue };
            let point = |wall_ns| SweepPoint {
                target: *target,
                size_bytes,
                wall_ns,
                device_read_bytes: None,
                pass: 0,
            };
            add_points(&mut all, format!("write {}", write_method_name(*way)), true, [point(times.write_ns)]);
            let both = times.sync_ns.map(|sync_ns| point(times.write_ns + sync_ns));
            add_points(&mut all, "write and sync".to_owned(), true, both);
        }
        let mut accepted: Vec<&TrialRecord> = self.trials.iter().filter(|it| it.is_accepted()).collect();
        accepted.sort_by_key(|it| it.trial.index);
        for it in accepted {
            let Some(size_bytes) = size_bytes(it.trial.target) else { continue };
            let points = it.samples.iter().map(|sample| SweepPoint {
                target: it.trial.target,
                size_bytes,
                wall_ns: sample.wall_ns,
                device_read_bytes: sample.device_read_bytes,
                pass: sample.round,
            });
            add_points(&mut all, it.trial.id.to_string(), false, points);
        }
        all
    }
}

fn add_points(
    all: &mut Vec<SweepSeries>,
    name: String,
    is_write: bool,
    points: impl IntoIterator<Item = SweepPoint>,
) {
    let mut points = points.into_iter().peekable();
    if points.peek().is_none() {
        return;
    }
    match all.iter_mut().find(|it| (it.is_write, &it.name) == (is_write, &name)) {
        Some(it) => it.points.extend(points),
        None => all.push(SweepSeries { name, is_write, points: points.collect() }),
    }
}

fn write_method_name(way: WriteWay) -> &'static str {
    match way {
        WriteWay::Plain => "plain",
        WriteWay::Fdatasync => "before its sync",
        WriteWay::Direct => "direct",
    }
}
