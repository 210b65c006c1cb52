//! Time that tasks anywhere on this machine lost: processor time that the hypervisor gave to other
//! guests, and the kernel's pressure stall information.
//!
//! `steal` in /proc/stat is in clock ticks of 10 ms, over all processors. `some total` in
//! /proc/pressure is the time in which at least one task waited for a processor, a device or
//! memory, in microseconds. The kernel reports the mean over processors, weighted by their busy time.

use super::process::{CounterError, tick_ns};
use std::fs;

const PRESSURE_FIELD: &str = "some total";

/// Time of all processors that the hypervisor gave to other guests so far.
pub(super) fn steal_ns() -> Result<u64, CounterError> {
    read_counter("/proc/stat", parse_steal_ns, "steal")
}

pub(super) fn cpu_pressure_ns() -> Result<u64, CounterError> {
    read_counter("/proc/pressure/cpu", pressure_ns, PRESSURE_FIELD)
}

pub(super) fn io_pressure_ns() -> Result<u64, CounterError> {
    read_counter("/proc/pressure/io", pressure_ns, PRESSURE_FIELD)
}

pub(super) fn memory_pressure_ns() -> Result<u64, CounterError> {
    read_counter("/proc/pressure/memory", pressure_ns, PRESSURE_FIELD)
}

fn read_counter(
    file: &str,
    parse: fn(&str) -> Option<u64>,
    field: &'static str,
) -> Result<u64, CounterError> {
    let unreadable =
        |cause: std::io::Error| CounterError::Unreadable { file: file.to_owned(), cause: cause.to_string() };
    let text = fs::read_to_string(file).map_err(unreadable)?;
    parse(&text).ok_or_else(|| CounterError::NoField { file: file.to_owned(), field })
}

/// Parses the steal time: the eighth number of the first line (proc_stat(5)).
fn parse_steal_ns(stat: &str) -> Option<u64> {
    let ticks: u64 = stat.strip_prefix("cpu ")?.split_ascii_whitespace().nth(7)?.parse().ok()?;
    ticks.checked_mul(tick_ns())
}

/// Parses the total in the line that begins with `some`, from a pressure file of the machine or of a
/// control group, and converts it to nanoseconds.
pub(super) fn pressure_ns(pressure: &str) -> Option<u64> {
    let some = pressure.lines().find_map(|line| line.strip_prefix("some "))?;
    let total_us: u64 = some.split_once("total=")?.1.trim().parse().ok()?;
    total_us.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_the_kernel_are_parsed() {
        let stat = "cpu  55344 0 9106 60659 543 0 173 256 0 0\ncpu0 27065 0 3988 31724 121 0 20 124 0 0\n";
        assert_eq!(parse_steal_ns(stat), Some(256 * tick_ns()));
        assert_eq!(parse_steal_ns("cpu  55344 0 9106 60659 543 0 173"), None, "before Linux 2.6.11");
        let pressure = "some avg10=6.42 avg60=3.28 avg300=11.50 total=111217\nfull avg10=0.00 total=7\n";
        assert_eq!(pressure_ns(pressure), Some(111_217_000));
        assert_eq!(pressure_ns("full avg10=0.00 total=7\n"), None);
    }

    #[test]
    fn a_kernel_without_a_counter_gives_a_reason() {
        let absent = read_counter("/proc/pressure/absent", pressure_ns, PRESSURE_FIELD).unwrap_err();
        assert!(absent.to_string().starts_with("/proc/pressure/absent: No such file"), "{absent}");
        let stat = read_counter("/proc/stat", pressure_ns, PRESSURE_FIELD).unwrap_err();
        assert_eq!(stat.to_string(), "/proc/stat has no some total on this kernel");
    }
}
