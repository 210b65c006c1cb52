//! Meters of the lab itself.

use super::{MeterReading, ProcFile, cpu_ns, peak_rss_bytes};

/// What the lab itself has used since it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabSelf {
    /// CPU time of all its threads, in nanoseconds; contenders are not in it.
    pub cpu_ns: MeterReading,
    /// High-water mark of its resident memory.
    pub peak_rss_bytes: MeterReading,
}

/// Meters the lab itself, to show that it stays out of the way.
#[must_use]
pub fn lab_self() -> LabSelf {
    let pid = std::process::id();
    LabSelf {
        cpu_ns: cpu_ns(libc::CLOCK_PROCESS_CPUTIME_ID, pid),
        peak_rss_bytes: ProcFile::open(pid, "status").read(peak_rss_bytes, "VmHWM"),
    }
}
