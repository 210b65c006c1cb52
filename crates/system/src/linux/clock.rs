//! The monotonic clock: its resolution, the cost of reading it, and sleeping until a given time.

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

/// Number of differences between consecutive clock readings, of which the cost is the median.
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

/// The cost of reading the monotonic clock: the median difference between two consecutive readings.
pub fn reading_cost_ns() -> u64 {
    let readings: Vec<u64> = (0..=COST_READINGS).map(|_| monotonic_ns()).collect();
    let mut costs: Vec<u64> = readings.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    costs.sort_unstable();
    costs[costs.len() / 2]
}

/// Sleeps until this time of the monotonic clock; returns at once if it has passed.
pub fn sleep_until(time_ns: u64) {
    let tv_sec = i64::try_from(time_ns / 1_000_000_000).unwrap_or(i64::MAX);
    let tv_nsec = i64::try_from(time_ns % 1_000_000_000).expect("less than a second");
    while monotonic_ns() < time_ns {
        // A signal may interrupt the sleep; the loop then continues it.
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &Timespec { tv_sec, tv_nsec });
    }
}

fn nanoseconds(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).unwrap_or(0)
}
