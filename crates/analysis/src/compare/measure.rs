//! The measures that are compared: a time, a rate, memory, a count, each with its unit and whether
//! more is better.

use crate::stats::float;
use clap::ValueEnum;
use readlab_model::sample::Sample;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A measure: which number of a trial is compared.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Open to close, in nanoseconds
    Wall,
    /// CPU time, user and system, in nanoseconds
    Cpu,
    /// Bytes read over wall time, of an archive its stored bytes, in bytes per second
    Rate,
    /// High-water mark of memory, in bytes
    Peak,
    /// Bytes fetched from the device
    Device,
    /// System calls
    Syscalls,
    /// Allocations
    Mallocs,
    /// Retains of reference counting
    Retains,
    /// Releases of reference counting
    Releases,
    /// Rate by the slope of time on size, in bytes per second
    Slope,
    /// Highest rate of a single reading, in bytes per second
    Most,
    /// Fixed cost of a file: time at size 0 of the line through time on size, in nanoseconds
    Fixed,
}

/// The unit of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Nanoseconds,
    Bytes,
    /// A rate, for which more is better.
    BytesPerSecond,
    Count,
}

readlab_model::worded! {
    Measure {
        Wall = "wall", Cpu = "cpu", Rate = "rate", Peak = "peak", Device = "device", Syscalls = "syscalls",
        Mallocs = "mallocs", Retains = "retains", Releases = "releases", Slope = "slope", Most = "most",
        Fixed = "fixed"
    }
}

impl Measure {
    pub fn unit(self) -> Unit {
        match self {
            Measure::Wall | Measure::Cpu | Measure::Fixed => Unit::Nanoseconds,
            Measure::Rate | Measure::Slope | Measure::Most => Unit::BytesPerSecond,
            Measure::Peak | Measure::Device => Unit::Bytes,
            Measure::Syscalls | Measure::Mallocs | Measure::Retains | Measure::Releases => Unit::Count,
        }
    }

    /// The value of this measure in a sample whose reading reads `bytes`; `None` if the meter is
    /// missing, for counts, which come from separate runs, and for measures of a whole sweep.
    pub(super) fn value_in(self, sample: &Sample, bytes: u64) -> Option<f64> {
        let wall = float(sample.wall_ns.max(1));
        match self {
            Measure::Wall => Some(wall),
            Measure::Cpu => Some(float(sample.cpu_user_ns? + sample.cpu_system_ns?)),
            Measure::Rate => (bytes > 0).then(|| float(bytes) * 1e9 / wall),
            Measure::Peak => Some(float(sample.peak_rss_bytes?)),
            Measure::Device => Some(float(sample.device_read_bytes?)),
            _ => None,
        }
    }
}

impl std::str::FromStr for Measure {
    type Err = String;

    fn from_str(word: &str) -> Result<Measure, String> {
        <Measure as ValueEnum>::from_str(word, false)
    }
}
