//! Everything metered around one turn of a contender, from outside, by its process id: of its
//! process and all that live below it.
//!
//! For each process, a turn costs one write, five reads, a few more for each thread and two
//! readings of a clock, none of them inside the contender's window. A meter that cannot be read is
//! a [`Missing`] with its reason; nothing here panics and nothing becomes 0. How the kernel counts
//! is in [`readlab_system::process`]; `whole` has what a turn is judged by and no sample shows.

mod disturbance;
mod lab_self;
mod whole;

pub use disturbance::Disturbance;
pub use lab_self::{LabSelf, lab_self};
use readlab_system::control_group::ThrottledTime;
use readlab_system::machine_stalls::MachineStalls;
pub(super) use readlab_system::process::tick_ns;
use readlab_system::process::{
    Activity, DelayCounter, Family, FamilyCounts, FamilyError, IoBytes, Unavailable,
};
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
    /// A process that belongs to the contender does not show it, or which belong to it is not
    /// known.
    #[error("{0}")]
    Family(FamilyError),
    /// It counted less than before: a process took its counts along when it ended.
    #[error("processes of its family ended where their counts are not seen")]
    Lost,
    /// The high-water mark still includes the time before.
    #[error("the high-water mark could not be reset: {0}")]
    NotReset(FamilyError),
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

impl Missing {
    /// Whether it is missing because not all processes of the contender were seen.
    pub fn is_of_family(&self) -> bool {
        matches!(self, Missing::Family(_) | Missing::Lost)
    }
}

impl From<FamilyError> for Missing {
    fn from(error: FamilyError) -> Missing {
        match error {
            FamilyError::Program(cause) => Missing::Counter(cause),
            error => Missing::Family(error),
        }
    }
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
    /// CPU time of its processes and their threads, by their own CPU clocks, in nanoseconds.
    pub cpu_total_ns: MeterReading,
    /// The same total split in the proportion of the kernel's clock ticks, for contenders that
    /// cannot ask it.
    pub cpu_split: Result<CpuSplit, Missing>,
    /// High-water mark of resident memory since `begin`, mapped file pages included; of several
    /// processes, the sum of their marks.
    pub peak_rss_bytes: MeterReading,
    /// Page faults served without the device, those of living and of reaped children included.
    pub minor_faults: MeterReading,
    /// Those of reaped children alone: for a contender that starts a program for each reading, the
    /// program's own.
    pub child_minor_faults: MeterReading,
    /// Page faults that waited for the device, of the same processes.
    pub major_faults: MeterReading,
    /// Bytes fetched from the device, for the same processes.
    pub device_read_bytes: MeterReading,
    /// Counts with which claims are compared.
    pub whole: Whole,
    /// What other work took from the turn.
    pub disturbance: Disturbance,
}

/// The meters of one contender. The caller holds its process unreaped for as long as it uses them,
/// so that its number cannot come to mean another process.
#[derive(Debug)]
pub struct Meters {
    family: Family,
    lab_delay: DelayCounter,
    throttled: ThrottledTime,
    before: Snapshot,
}

/// One reading of every counter.
#[derive(Debug)]
struct Snapshot {
    counts: FamilyCounts,
    stalls: MachineStalls,
    lab_delayed_ns: MeterReading,
    throttled_ns: MeterReading,
    reset: Result<(), Missing>,
}

/// The readings at both ends of a turn.
#[derive(Debug, Clone, Copy)]
struct BothEnds<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
}

impl Meters {
    /// Opens the meters of a process and of all that belong to it: those below it and, with the
    /// number of its supervisor, those that it leaves to that. What cannot be opened becomes the
    /// reason of every reading that needs it.
    pub fn open(pid: u32, supervisor: Option<u32>) -> Meters {
        let family = Family::of_program(pid, supervisor);
        let lab_delay = DelayCounter::open(std::process::id());
        let throttled = ThrottledTime::of_process(pid);
        let before = Snapshot::after_reset(&family, &lab_delay, &throttled);
        Meters { family, lab_delay, throttled, before }
    }

    /// Resets the high-water mark and reads all counters. Called before "go".
    pub fn begin(&mut self) {
        self.family.look();
        self.before = Snapshot::after_reset(&self.family, &self.lab_delay, &self.throttled);
    }

    /// Reads all counters again. Called after the contender has answered; `begin` comes before the
    /// next turn.
    pub fn end(&mut self) -> Metered {
        self.family.look();
        let reset = self.before.reset.clone();
        let after = Snapshot::read(&self.family, &self.lab_delay, &self.throttled, reset);
        let turn = BothEnds { before: &self.before, after: &after };
        let activity = turn.activity();
        let reaped_none = match &activity {
            Ok(activity) if activity.child_minor_faults > 0 => Err(Missing::OtherPrograms),
            Ok(_) => Ok(()),
            Err(why) => Err(why.clone()),
        };
        let cpu_total_ns = reaped_none.clone().and(turn.cpu_ns());
        let [minor_faults, major_faults] = turn.faults();
        Metered {
            cpu_split: both(&cpu_total_ns, &activity).and_then(|(total, activity)| split(*total, activity)),
            peak_rss_bytes: reaped_none.and_then(|()| self.peak(&after)),
            minor_faults,
            child_minor_faults: activity.map(|it| it.child_minor_faults),
            major_faults,
            device_read_bytes: turn.io_bytes(|io| io.from_devices),
            cpu_total_ns,
            whole: Whole::measured(turn),
            disturbance: Disturbance::measured(turn),
        }
    }

    /// The high-water mark, which means something only when it was reset.
    fn peak(&self, after: &Snapshot) -> MeterReading {
        after.reset.clone()?;
        if after.counts.activity.as_ref().is_ok_and(|activity| activity.has_ended) {
            return Err(Unavailable::Ended { pid: self.family.program() }.into());
        }
        Ok(self.family.peak_rss_bytes()?)
    }
}

impl Snapshot {
    /// Resets the high-water mark, then reads.
    fn after_reset(family: &Family, lab_delay: &DelayCounter, throttled: &ThrottledTime) -> Snapshot {
        let reset = family.reset_peak().map_err(Missing::NotReset);
        Snapshot::read(family, lab_delay, throttled, reset)
    }

    /// Reads every counter, in the same order at both ends of a turn.
    fn read(
        family: &Family,
        lab_delay: &DelayCounter,
        throttled: &ThrottledTime,
        reset: Result<(), Missing>,
    ) -> Snapshot {
        Snapshot {
            counts: family.counts(),
            stalls: MachineStalls::read(),
            lab_delayed_ns: lab_delay.read().map_err(Missing::from),
            throttled_ns: throttled.read().map_err(Missing::from),
            reset,
        }
    }
}

impl BothEnds<'_> {
    /// CPU time of living processes by their clocks.
    fn cpu_ns(self) -> MeterReading {
        let of = |end: &Snapshot| Ok(end.counts.cpu_ns.clone()?);
        risen(of(self.before), of(self.after))
    }

    /// The same with that of children that were reaped, in clock ticks.
    fn whole_cpu_ns(self) -> MeterReading {
        let of = |end: &Snapshot| Ok(end.counts.whole_cpu_ns()?);
        risen(of(self.before), of(self.after))
    }

    fn io_bytes(self, which: fn(&IoBytes) -> u64) -> MeterReading {
        let of = |end: &Snapshot| Ok(end.counts.io.as_ref().map(which).map_err(FamilyError::clone)?);
        risen(of(self.before), of(self.after))
    }

    /// Minor and major page faults.
    fn faults(self) -> [MeterReading; 2] {
        [0, 1].map(|kind| {
            let of = |end: &Snapshot| {
                Ok(end.counts.activity.as_ref().map(|it| it.faults()[kind]).map_err(FamilyError::clone)?)
            };
            risen(of(self.before), of(self.after))
        })
    }

    fn activity(self) -> Result<Activity, Missing> {
        let of = |end: &Snapshot| -> Result<Activity, Missing> { Ok(end.counts.activity.clone()?) };
        Ok(of(self.after)?.since(&of(self.before)?))
    }
}

/// The increase of a sum that never falls unless a part of it is lost.
fn risen(before: MeterReading, after: MeterReading) -> MeterReading {
    let before = before?;
    after?.checked_sub(before).ok_or(Missing::Lost)
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
