//! The measures that are compared: a time, a rate, memory, a count, each with its unit and whether
//! more is better.

use readlab_model::sample::Sample;
use serde::{Deserialize, Serialize};

/// One number of a trial, as it is compared.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Open to close, in nanoseconds
    Wall,
    /// CPU time, user and system, in nanoseconds
    Cpu,
    /// Bytes read over wall time, in bytes per second
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

/// What its numbers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Time.
    Nanoseconds,
    /// Memory or data.
    Bytes,
    /// A rate; more is better.
    BytesPerSecond,
    /// A plain count.
    Count,
}

impl Measure {
    /// Those that samples and counts of a record hold.
    pub const OF_RECORDS: [Measure; 9] = [
        Measure::Wall,
        Measure::Cpu,
        Measure::Rate,
        Measure::Peak,
        Measure::Device,
        Measure::Syscalls,
        Measure::Mallocs,
        Measure::Retains,
        Measure::Releases,
    ];

    /// The word used on the command line and in files.
    pub fn word(self) -> &'static str {
        match self {
            Measure::Wall => "wall",
            Measure::Cpu => "cpu",
            Measure::Rate => "rate",
            Measure::Peak => "peak",
            Measure::Device => "device",
            Measure::Syscalls => "syscalls",
            Measure::Mallocs => "mallocs",
            Measure::Retains => "retains",
            Measure::Releases => "releases",
            Measure::Slope => "slope",
            Measure::Most => "most",
            Measure::Fixed => "fixed",
        }
    }

    /// What its numbers count.
    pub fn unit(self) -> Unit {
        match self {
            Measure::Wall | Measure::Cpu | Measure::Fixed => Unit::Nanoseconds,
            Measure::Rate | Measure::Slope | Measure::Most => Unit::BytesPerSecond,
            Measure::Peak | Measure::Device => Unit::Bytes,
            Measure::Syscalls | Measure::Mallocs | Measure::Retains | Measure::Releases => Unit::Count,
        }
    }

    /// Its value in a sample whose reading takes in so many bytes; `None` where a meter is missing
    /// or runs of their own count it.
    #[expect(clippy::cast_precision_loss, reason = "exact up to 104 days and 9 PB")]
    pub(super) fn value_in(self, sample: &Sample, bytes: u64) -> Option<f64> {
        let wall = sample.wall_ns.max(1) as f64;
        match self {
            Measure::Wall => Some(wall),
            Measure::Cpu => Some((sample.cpu_user_ns? + sample.cpu_system_ns?) as f64),
            Measure::Rate => (bytes > 0).then(|| bytes as f64 * 1e9 / wall),
            Measure::Peak => Some(sample.peak_rss_bytes? as f64),
            Measure::Device => Some(sample.device_read_bytes? as f64),
            _ => None,
        }
    }
}

impl std::str::FromStr for Measure {
    type Err = String;

    fn from_str(word: &str) -> Result<Measure, String> {
        <Measure as clap::ValueEnum>::from_str(word, false)
    }
}
