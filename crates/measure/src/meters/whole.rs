//! The kernel's counts of a whole turn, including the programs that a contender ran. The
//! contender's claims are compared with them, and they show whether the contender touched the
//! bytes. They are in no sample.
//!
//! The CPU time of reaped children is in whole clock ticks, so that a difference is wrong by less
//! than a tick, in user and in system time each.

use super::{BothEnds, MeterReading, tick_ns};

/// Counts of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// CPU time of the process, its threads, and of children, whether they were reaped or still
    /// live.
    ///
    /// A contender behind a script is one of these children.
    pub cpu_ns: MeterReading,
    /// Its largest error in either direction: only the time of reaped children is in clock ticks.
    pub cpu_error_ns: u64,
    /// Bytes that passed through read calls, from any file or pipe.
    pub passed_bytes: MeterReading,
    /// Bytes that passed through write calls, to any file or pipe.
    pub written_bytes: MeterReading,
    /// Whether it ran no other program, so that its own high-water mark is that of the whole turn.
    pub alone: bool,
}

impl Whole {
    /// Between the two ends of a turn.
    pub(super) fn measured(turn: BothEnds<'_>) -> Whole {
        // A child that was reaped has made faults; without any, nothing here is in ticks.
        let ran_others = turn.activity().is_ok_and(|activity| activity.child_minor_faults > 0);
        Whole {
            cpu_ns: turn.whole_cpu_ns(),
            cpu_error_ns: if ran_others { 2 * tick_ns() } else { 0 },
            passed_bytes: turn.io_bytes(|io| io.through_calls),
            written_bytes: turn.io_bytes(|io| io.written),
            alone: !ran_others && turn.after.counts.processes == 1,
        }
    }
}
