//! Meters of the lab itself.

use super::MeterReading;
use readlab_system::process::ProcessCounters;

/// What the lab itself has used since it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabSelf {
    /// CPU time of all its threads, in nanoseconds, without that of contenders.
    pub cpu_ns: MeterReading,
    /// High-water mark of its resident memory.
    pub peak_rss_bytes: MeterReading,
}

/// Meters the lab itself, to show that it does not disturb the measurement.
pub fn lab_self() -> LabSelf {
    let lab = ProcessCounters::open(std::process::id());
    LabSelf {
        cpu_ns: lab.cpu_ns().map_err(Into::into),
        peak_rss_bytes: lab.peak_rss_bytes().map_err(Into::into),
    }
}
