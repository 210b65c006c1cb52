//! Everything metered around one turn of a contender, from outside, by its process id.
//!
//! A turn costs one write, seven reads, one more for each thread and two readings of a clock, none
//! of them inside the contender's window. A meter that cannot be read is a [`Missing`] with its
//! reason; nothing here panics and nothing becomes 0. How the kernel counts is in
//! [`crate::linux::process`]; `whole` has what a turn is judged by and no sample shows.

mod disturbance;
mod lab_self;
mod whole;

use crate::linux::machine_stalls::MachineStalls;
pub(super) use crate::linux::process::tick_ns;
use crate::linux::process::{Activity, DelayCounter, IoBytes, ProcessCounters, ThreadWaits, Unavailable};
pub use disturbance::Disturbance;
pub use lab_self::{LabSelf, lab_self};
pub use whole::Whole;

/// A meter's reading, or why there is none.
pub type MeterReading = Result<u64, Missing>;

/// Clock ticks of CPU time below which their proportion is too coarse to split a total by.
const TICKS_MIN: u64 = 10;

/// Why a meter has no reading.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// The kernel does not show the counter, or not to this user.
    #[error(transparent)]
    Counter(#[from] Unavailable),
    /// The high-water mark still includes the time before.
    #[error("the high-water mark could not be reset: {0}")]
    NotReset(Unavailable),
    /// The process ran other programs, and this meter counts the process alone.
    #[error("it ran other programs, of which this meter knows nothing")]
    OtherPrograms,
    /// Too little CPU time to be split.
    #[error("only {ticks} clock ticks passed: too few to split user from system time (at least {TICKS_MIN})")]
    TooFewTicks {
        /// How many passed.
        ticks: u64,
    },
}

/// CPU time by where it was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuSplit {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
}

/// What was counted between [`Meters::begin`] and [`Meters::end`], summed over all readings of the
/// turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metered {
    /// CPU time of the process and its threads, by its own CPU clock, in nanoseconds.
    pub cpu_total_ns: MeterReading,
    /// The same total split in the proportion of the kernel's clock ticks, for contenders that
    /// cannot ask it.
    pub cpu_split: Result<CpuSplit, Missing>,
    /// High-water mark of resident memory since `begin`, mapped file pages included.
    pub peak_rss_bytes: MeterReading,
    /// Page faults served without the device, those of reaped children included.
    pub minor_faults: MeterReading,
    /// Those of reaped children alone: for a contender that starts a program for each reading, the
    /// program's own.
    pub child_minor_faults: MeterReading,
    /// Page faults that waited for the device, those of reaped children included.
    pub major_faults: MeterReading,
    /// Bytes fetched from the device, those of reaped children included.
    pub device_read_bytes: MeterReading,
    /// Counts with which claims are compared.
    pub whole: Whole,
    /// What other work took from the turn.
    pub disturbance: Disturbance,
}

/// The meters of one process. The caller holds the process unreaped for as long as it uses them, so
/// that its number cannot come to mean another process.
#[derive(Debug)]
pub struct Meters {
    process: ProcessCounters,
    lab_delay: DelayCounter,
    before: Snapshot,
}

/// One reading of every counter.
#[derive(Debug)]
struct Snapshot {
    cpu_ns: MeterReading,
    io: Result<IoBytes, Missing>,
    waits: Result<ThreadWaits, Missing>,
    stalls: MachineStalls,
    lab_delayed_ns: MeterReading,
    children_ns: MeterReading,
    activity: Result<Activity, Missing>,
    reset: Result<(), Missing>,
}

/// The readings at both ends of a turn.
#[derive(Debug, Clone, Copy)]
struct BothEnds<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
}

impl Meters {
    /// Opens the meters of a process. What cannot be opened becomes the reason of every reading
    /// that needs it.
    #[must_use]
    pub fn open(pid: u32) -> Meters {
        let process = ProcessCounters::open(pid);
        let lab_delay = DelayCounter::open(std::process::id());
        let before = Snapshot::after_reset(&process, &lab_delay);
        Meters { process, lab_delay, before }
    }

    /// Resets the high-water mark and reads all counters. Called before "go".
    pub fn begin(&mut self) {
        self.before = Snapshot::after_reset(&self.process, &self.lab_delay);
    }

    /// Reads all counters again. Called after the contender has answered; `begin` comes before the
    /// next turn.
    #[must_use]
    pub fn end(&self) -> Metered {
        let after = Snapshot::read(&self.process, &self.lab_delay, self.before.reset.clone());
        let turn = BothEnds { before: &self.before, after: &after };
        let activity = turn.activity();
        let alone = match &activity {
            Ok(activity) if activity.child_minor_faults > 0 => Err(Missing::OtherPrograms),
            Ok(_) => Ok(()),
            Err(why) => Err(why.clone()),
        };
        let cpu_total_ns = alone.clone().and(turn.cpu_ns());
        Metered {
            cpu_split: both(&cpu_total_ns, &activity).and_then(|(total, activity)| split(*total, activity)),
            peak_rss_bytes: alone.and_then(|()| self.peak(&after)),
            minor_faults: activity.clone().map(|it| it.minor_faults + it.child_minor_faults),
            child_minor_faults: activity.clone().map(|it| it.child_minor_faults),
            major_faults: activity.map(|it| it.major_faults + it.child_major_faults),
            device_read_bytes: turn.io().map(|io| io.from_devices),
            cpu_total_ns,
            whole: Whole::of(turn),
            disturbance: Disturbance::of(turn),
        }
    }

    /// The high-water mark, which means something only when it was reset.
    fn peak(&self, after: &Snapshot) -> MeterReading {
        after.reset.clone()?;
        if after.activity.as_ref().is_ok_and(|activity| activity.has_ended) {
            return Err(Unavailable::Ended { pid: self.process.pid() }.into());
        }
        Ok(self.process.peak_rss_bytes()?)
    }
}

impl Snapshot {
    /// Resets the high-water mark, then reads.
    fn after_reset(process: &ProcessCounters, lab_delay: &DelayCounter) -> Snapshot {
        let reset = process.reset_peak().map_err(Missing::NotReset);
        Snapshot::read(process, lab_delay, reset)
    }

    /// Reads every counter, in the same order at both ends of a turn.
    fn read(process: &ProcessCounters, lab_delay: &DelayCounter, reset: Result<(), Missing>) -> Snapshot {
        Snapshot {
            cpu_ns: process.cpu_ns().map_err(Missing::from),
            io: process.io_bytes().map_err(Missing::from),
            waits: ThreadWaits::read(process.pid()).map_err(Missing::from),
            stalls: MachineStalls::read(),
            lab_delayed_ns: lab_delay.read().map_err(Missing::from),
            children_ns: children_cpu_ns(process),
            activity: process.activity().map_err(Missing::from),
            reset,
        }
    }
}

impl BothEnds<'_> {
    fn cpu_ns(self) -> MeterReading {
        since(&self.before.cpu_ns, &self.after.cpu_ns)
    }

    fn io(self) -> Result<IoBytes, Missing> {
        both(&self.before.io, &self.after.io).map(|(before, after)| after.since(before))
    }

    fn activity(self) -> Result<Activity, Missing> {
        both(&self.before.activity, &self.after.activity).map(|(before, after)| after.since(before))
    }
}

/// CPU time of living children, unless there may be some that are not followed.
fn children_cpu_ns(process: &ProcessCounters) -> MeterReading {
    let ns = process.children_cpu_ns()?;
    if process.other_threads_have_children() { Err(Missing::OtherPrograms) } else { Ok(ns) }
}

/// Splits an exact total in the proportion of clock ticks.
fn split(total_ns: u64, activity: &Activity) -> Result<CpuSplit, Missing> {
    let ticks = activity.user_ticks + activity.system_ticks;
    if ticks < TICKS_MIN {
        return Err(Missing::TooFewTicks { ticks });
    }
    let user_ns = u128::from(total_ns) * u128::from(activity.user_ticks) / u128::from(ticks);
    let user_ns = u64::try_from(user_ns).expect("a share of a u64 fits");
    Ok(CpuSplit { user_ns, system_ns: total_ns - user_ns })
}

/// The increase of a counter.
fn since(before: &MeterReading, after: &MeterReading) -> MeterReading {
    both(before, after).map(|(before, after)| after.saturating_sub(*before))
}

/// Both readings, or the first reason why there are none.
fn both<'a, A, B>(
    left: &'a Result<A, Missing>,
    right: &'a Result<B, Missing>,
) -> Result<(&'a A, &'a B), Missing> {
    Ok((left.as_ref().map_err(Missing::clone)?, right.as_ref().map_err(Missing::clone)?))
}

#[cfg(test)]
mod tests;
