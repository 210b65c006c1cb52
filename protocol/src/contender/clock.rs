//! The timed window of one reading: the wall clock runs around the reading, and the CPU clock
//! around the wall clock.

use crate::{Answer, SampleLine};
use std::io;
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

/// The times of one reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    start: Instant,
    /// Wall time from before the open to after the close, in nanoseconds of the monotonic clock.
    pub wall_ns: u64,
    /// CPU time of the process during the window.
    pub cpu: CpuTime,
}

/// CPU time of all threads of a process, from getrusage(2), which counts microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTime {
    /// Nanoseconds in user mode.
    pub user_ns: u64,
    /// Nanoseconds in the kernel.
    pub system_ns: u64,
}

impl Window {
    /// Runs one reading between two readings of the clocks.
    ///
    /// # Errors
    /// The errors of `read`.
    pub fn around<T, E>(read: impl FnOnce() -> Result<T, E>) -> Result<(T, Window), E> {
        let before = CpuTime::now();
        let start = Instant::now();
        let read = read()?;
        let wall = start.elapsed();
        let cpu = CpuTime::now().since(before);
        Ok((read, Window { start, wall_ns: saturated_nanoseconds(wall), cpu }))
    }

    /// Nanoseconds from the beginning of the window to this instant.
    #[must_use]
    pub fn until_ns(&self, at: Instant) -> u64 {
        saturated_nanoseconds(at.duration_since(self.start))
    }

    /// The sample of a reading with this answer.
    #[must_use]
    pub fn sample(&self, answer: Answer) -> SampleLine {
        SampleLine {
            wall_ns: self.wall_ns,
            cpu_user_ns: Some(self.cpu.user_ns),
            cpu_system_ns: Some(self.cpu.system_ns),
            ..answer.into()
        }
    }
}

impl From<&libc::rusage> for CpuTime {
    /// The CPU time in the kernel's account of this process, or of a process that was waited for.
    fn from(usage: &libc::rusage) -> CpuTime {
        CpuTime { user_ns: nanoseconds(usage.ru_utime), system_ns: nanoseconds(usage.ru_stime) }
    }
}

impl CpuTime {
    /// The CPU time that this process has used so far.
    #[must_use]
    pub fn now() -> CpuTime {
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: the pointer is valid for writing one `rusage`.
        let done = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
        assert_eq!(
            done,
            0,
            "getrusage of the own process fails only for a bad argument: {}",
            io::Error::last_os_error()
        );
        // SAFETY: the call has filled in the structure.
        CpuTime::from(&unsafe { usage.assume_init() })
    }

    /// The CPU time used since `before`.
    #[must_use]
    pub fn since(self, before: CpuTime) -> CpuTime {
        CpuTime {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
        }
    }
}

fn saturated_nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_only_the_time_of_its_reading() {
        let begun = Instant::now();
        let ((), window) = Window::around(|| {
            while begun.elapsed() < Duration::from_millis(5) {}
            Ok::<(), ()>(())
        })
        .unwrap();
        assert!(window.wall_ns <= saturated_nanoseconds(begun.elapsed()));
        assert!(window.until_ns(Instant::now()) >= window.wall_ns);
        assert_eq!(Window::around(|| Err::<(), _>("broken")), Err("broken"));
    }

    #[test]
    fn cpu_time_covers_the_window() {
        let (_, window) = Window::around(|| {
            let before = CpuTime::now();
            while CpuTime::now().since(before).user_ns + CpuTime::now().since(before).system_ns < 5_000_000 {}
            Ok::<(), ()>(())
        })
        .unwrap();
        assert!(window.cpu.user_ns + window.cpu.system_ns >= 5_000_000, "{window:?}");
        let sample = window.sample(Answer { lines: Some(3), ..Answer::default() });
        assert_eq!((sample.cpu_user_ns, sample.lines), (Some(window.cpu.user_ns), Some(3)));
        assert_eq!(nanoseconds(libc::timeval { tv_sec: 2, tv_usec: 3 }), 2_000_003_000);
    }
}
