//! The monotonic clock: its resolution, what reading it costs, and sleeping until a time.

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

/// Readings of the clock from which its cost is the median of the differences.
const COST_READINGS: usize = 1001;

pub fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

pub fn process_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ProcessCPUTime))
}

pub fn resolution_ns() -> u64 {
    nanoseconds(clock_getres(ClockId::Monotonic))
}

/// What reading the monotonic clock costs: the median difference of two readings in a row.
pub fn reading_cost_ns() -> u64 {
    let readings: Vec<u64> = (0..=COST_READINGS).map(|_| monotonic_ns()).collect();
    let mut costs: Vec<u64> = readings.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    costs.sort_unstable();
    costs[costs.len() / 2]
}

/// Sleeps until this time of the monotonic clock, at once if it has passed.
pub fn sleep_until(time_ns: u64) {
    let tv_sec = i64::try_from(time_ns / 1_000_000_000).unwrap_or(i64::MAX);
    let tv_nsec = i64::try_from(time_ns % 1_000_000_000).expect("less than a second");
    while monotonic_ns() < time_ns {
        // Interrupted by a signal, it goes on.
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &Timespec { tv_sec, tv_nsec });
    }
}

fn nanoseconds(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).unwrap_or(0)
}
