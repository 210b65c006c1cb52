//! One timed reading: the wall clock around it, the CPU clock around that.

use crate::reading::{ReadError, Reading};
use crate::work::Answer;
use std::io;
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

/// What one timed reading took, and what came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// From before the open to after the close, by the monotonic clock.
    pub wall_ns: u64,
    /// CPU time of the process during the window.
    pub cpu: CpuTime,
    /// Proof of work.
    pub answer: Answer,
    /// From the beginning of the window until the first byte from a server was there.
    pub first_byte_ns: Option<u64>,
    /// Requests to a server.
    pub requests: Option<u64>,
}

/// CPU time of all threads of a process, from getrusage(2), which counts microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTime {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
}

impl Sample {
    /// Reads the file once.
    pub fn take(reading: &mut Reading) -> Result<Sample, ReadError> {
        let before = CpuTime::now();
        let start = Instant::now();
        let answer = reading.read()?;
        let wall = start.elapsed();
        let cpu = CpuTime::now().since(before);
        let traffic = reading.traffic();
        Ok(Sample {
            wall_ns: whole_nanoseconds(wall),
            cpu,
            answer,
            first_byte_ns: traffic.first_byte.map(|at| whole_nanoseconds(at.duration_since(start))),
            requests: traffic.requests,
        })
    }
}

impl CpuTime {
    /// What this process has used so far.
    fn now() -> CpuTime {
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: the pointer is valid for writing one `rusage`.
        let done = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
        assert_eq!(
            done,
            0,
            "getrusage of the own process fails only for a bad argument: {}",
            io::Error::last_os_error()
        );
        // SAFETY: the call has filled it in.
        let usage = unsafe { usage.assume_init() };
        CpuTime { user_ns: nanoseconds(usage.ru_utime), system_ns: nanoseconds(usage.ru_stime) }
    }

    fn since(self, before: CpuTime) -> CpuTime {
        CpuTime {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
        }
    }
}

fn whole_nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1000
}
