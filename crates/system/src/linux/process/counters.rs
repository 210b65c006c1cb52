//! The kernel's counters of one process, except time on run queues ([`super::thread_waits`]).
//!
//! Most files of /proc are kept open and read again with pread.
//!
//! Verified on Linux 6.18. `read_bytes` and `rchar` include reads by threads that have ended, by
//! io_uring's kernel workers and polling thread, and by a child process once it is reaped. The CPU
//! time of reaped children is summed in nanoseconds and shown in whole clock ticks. The ordinary
//! user who owns a child can reset its high-water mark of memory. The `stat` and `io` files of a
//! zombie stay readable; its peak memory does not, and resetting it then has no effect. After the
//! process is reaped, every open file returns ESRCH. The CPU clock of a process includes its living
//! and ended threads but not its children; peak memory is that of the process alone.

use super::proc_file::{CounterError, ProcFile};
use crate::kernel_file::number_after;
use std::io;

/// The open counters of one process. The caller must not reap the process while it uses them, so
/// that its process id cannot be reused.
#[derive(Debug)]
pub struct ProcessCounters {
    pid: u32,
    stat: ProcFile,
    status: ProcFile,
    io: ProcFile,
    clear_refs: ProcFile,
    cpu_clock: Result<libc::clockid_t, CounterError>,
}

/// Page faults and CPU time of a process and of its reaped children, from /proc/PID/stat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultsAndTicks {
    /// True if the process has ended and was not reaped.
    pub has_ended: bool,
    /// Page faults served without the device.
    pub minor_faults: u64,
    pub child_minor_faults: u64,
    /// Page faults that waited for the device.
    pub major_faults: u64,
    pub child_major_faults: u64,
    pub user_ticks: u64,
    pub system_ticks: u64,
    pub child_ticks: u64,
}

/// Bytes that a process and its reaped children have read and written, from /proc/PID/io.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoBytes {
    pub read_from_devices: u64,
    /// Bytes that read calls returned, from any file or pipe.
    pub read_by_calls: u64,
    /// Bytes that write calls took, to any file or pipe.
    pub written_by_calls: u64,
}

impl ProcessCounters {
    /// Opens the counters of a process. An open that fails is reported when the counter is read.
    pub fn open(pid: u32) -> ProcessCounters {
        ProcessCounters {
            pid,
            stat: ProcFile::open(pid, "stat"),
            status: ProcFile::open(pid, "status"),
            io: ProcFile::open(pid, "io"),
            // This file is write-only, and only for the owner of the process.
            clear_refs: ProcFile::open_to_write(pid, "clear_refs"),
            cpu_clock: cpu_clock_of(pid),
        }
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// CPU time of all threads of the process, in nanoseconds.
    pub fn cpu_ns(&self) -> Result<u64, CounterError> {
        self.cpu_clock.clone().and_then(|clock| cpu_ns(clock, self.pid))
    }

    pub fn faults_and_ticks(&self) -> Result<FaultsAndTicks, CounterError> {
        self.stat.read(FaultsAndTicks::parse, "fault and tick counters")
    }

    pub fn io_bytes(&self) -> Result<IoBytes, CounterError> {
        self.io.read(IoBytes::parse, "read_bytes")
    }

    pub fn peak_rss_bytes(&self) -> Result<u64, CounterError> {
        self.status.read(peak_rss_bytes, "VmHWM")
    }

    /// Resets the high-water mark of memory to the memory that is resident now.
    pub fn reset_peak_memory(&self) -> Result<(), CounterError> {
        self.clear_refs.write(b"5")
    }
}

impl FaultsAndTicks {
    /// Parses the fields after the command's name, which may contain any characters
    /// (proc_pid_stat(5)).
    fn parse(text: &str) -> Option<FaultsAndTicks> {
        let fields: Vec<&str> = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at - 3)?.parse().ok();
        Some(FaultsAndTicks {
            has_ended: *fields.first()? == "Z",
            minor_faults: number(10)?,
            child_minor_faults: number(11)?,
            major_faults: number(12)?,
            child_major_faults: number(13)?,
            user_ticks: number(14)?,
            system_ticks: number(15)?,
            child_ticks: number(16)? + number(17)?,
        })
    }

    /// The sum of both activities; `has_ended` is taken from `other`.
    pub(super) fn plus(self, other: FaultsAndTicks) -> FaultsAndTicks {
        other.combine(&self, |one, more| one + more)
    }

    /// Minor and major page faults, including those of reaped children.
    pub fn minor_and_major_faults(&self) -> [u64; 2] {
        [self.minor_faults + self.child_minor_faults, self.major_faults + self.child_major_faults]
    }

    pub fn since(&self, before: &FaultsAndTicks) -> FaultsAndTicks {
        self.combine(before, u64::saturating_sub)
    }

    fn combine(&self, other: &FaultsAndTicks, of: impl Fn(u64, u64) -> u64) -> FaultsAndTicks {
        FaultsAndTicks {
            has_ended: self.has_ended,
            minor_faults: of(self.minor_faults, other.minor_faults),
            child_minor_faults: of(self.child_minor_faults, other.child_minor_faults),
            major_faults: of(self.major_faults, other.major_faults),
            child_major_faults: of(self.child_major_faults, other.child_major_faults),
            user_ticks: of(self.user_ticks, other.user_ticks),
            system_ticks: of(self.system_ticks, other.system_ticks),
            child_ticks: of(self.child_ticks, other.child_ticks),
        }
    }
}

impl IoBytes {
    pub(super) fn parse(text: &str) -> Option<IoBytes> {
        Some(IoBytes {
            read_from_devices: number_after(text, "read_bytes:")?,
            read_by_calls: number_after(text, "rchar:")?,
            written_by_calls: number_after(text, "wchar:")?,
        })
    }

    pub(super) fn plus(self, other: IoBytes) -> IoBytes {
        self.combine(&other, |one, more| one + more)
    }

    pub fn since(&self, before: &IoBytes) -> IoBytes {
        self.combine(before, u64::saturating_sub)
    }

    fn combine(&self, other: &IoBytes, of: impl Fn(u64, u64) -> u64) -> IoBytes {
        IoBytes {
            read_from_devices: of(self.read_from_devices, other.read_from_devices),
            read_by_calls: of(self.read_by_calls, other.read_by_calls),
            written_by_calls: of(self.written_by_calls, other.written_by_calls),
        }
    }
}

/// Length of a clock tick, the unit in which the kernel shows CPU time.
pub fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// The CPU-time clock of a process. It needs no permission to inspect the process.
fn cpu_clock_of(pid: u32) -> Result<libc::clockid_t, CounterError> {
    let mut clock = 0;
    // SAFETY: the call writes one clockid_t to a place of that type that outlives it.
    let error = unsafe { libc::clock_getcpuclockid(pid.cast_signed(), &raw mut clock) };
    match error {
        0 => Ok(clock),
        libc::ESRCH => Err(CounterError::Ended { pid }),
        _ => {
            let cause = io::Error::from_raw_os_error(error).to_string();
            Err(CounterError::Unreadable { file: format!("CPU clock of process {pid}"), cause })
        }
    }
}

pub(super) fn cpu_ns(clock: libc::clockid_t, pid: u32) -> Result<u64, CounterError> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one timespec to a place of that type that outlives it.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return Err(CounterError::Ended { pid });
    }
    Ok(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
}

/// The high-water mark in /proc/PID/status, which is in KiB.
fn peak_rss_bytes(status: &str) -> Option<u64> {
    Some(number_after(status, "VmHWM:")? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_with_parentheses_in_the_name_is_parsed() {
        let text = "7 (a) Z 1 (b c) S 1 1 1 0 -1 0 10 20 30 40 5 6 0 0 20 0 1 0 1";
        let activity = FaultsAndTicks::parse(text).unwrap();
        assert_eq!((activity.minor_faults, activity.child_minor_faults), (10, 20));
        assert_eq!((activity.major_faults, activity.child_major_faults), (30, 40));
        assert_eq!((activity.user_ticks, activity.system_ticks, activity.has_ended), (5, 6, false));
        assert_eq!(FaultsAndTicks::parse("7 (a) S 1"), None);
    }

    #[test]
    fn all_byte_counters_of_io_are_parsed() {
        let text = "rchar: 7000\nwchar: 1\nsyscr: 2\nsyscw: 3\nread_bytes: 4096\nwrite_bytes: 0\n";
        let expected = IoBytes { read_from_devices: 4096, read_by_calls: 7000, written_by_calls: 1 };
        assert_eq!(IoBytes::parse(text), Some(expected));
        assert_eq!(IoBytes::parse("rchar: 7000\n"), None);
    }
}
