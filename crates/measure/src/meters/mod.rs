//! Everything metered around one turn of a contender, from outside, by its process id: of its
//! process and all that live below it.
//!
//! For each process, a turn costs one write, five reads, a few more for each thread and two
//! readings of a clock, none of them inside the contender's window. A meter that cannot be read is
//! a [`Missing`] with its reason; nothing here panics and nothing becomes 0. How the kernel counts
//! is in [`readlab_system::process`].

use readlab_model::sample::Meter;
use readlab_system::control_group::ThrottledTime;
use readlab_system::machine_stalls::MachineStalls;
pub(super) use readlab_system::process::tick_ns;
use readlab_system::process::{
    Activity, DelayCounter, Family, FamilyCounts, FamilyError, THREAD_COUNTERS, Unavailable,
};
use std::collections::BTreeMap;

pub type MeterReading = Result<u64, Missing>;

/// Clock ticks of CPU time below which their proportion is too coarse to split a total by.
const TICKS_MIN: u64 = 10;

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
    #[error("only {ticks} clock ticks passed: too few to split user from system time (at least {TICKS_MIN})")]
    TooFewTicks { ticks: u64 },
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
    pub user_ns: u64,
    pub system_ns: u64,
}

/// What was counted between [`Meters::begin`] and [`Meters::end`], summed over all readings of the
/// turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metered {
    /// CPU time of its processes and their threads, by their own CPU clocks, split in the proportion
    /// of the kernel's clock ticks, for contenders that cannot ask it.
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
    pub whole: Whole,
    /// All others, as they were read; samples have them by the table of meters. Most are what other
    /// work took from the turn: waits of the contender and of the lab, and stalls of the whole machine.
    ///
    /// No reading is repeated or left out because of these meters; METHOD.md has the reason. The waits
    /// only excuse what windows leave out of a turn.
    pub others: BTreeMap<Meter, MeterReading>,
}

/// The kernel's counts of a whole turn, including the programs that a contender ran. The
/// contender's claims are compared with them, and they show whether the contender touched the
/// bytes. They are in no sample.
///
/// The CPU time of reaped children is in whole clock ticks, so that a difference is wrong by less
/// than a tick, in user and in system time each.
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

/// The meters of one contender. The caller holds its process unreaped for as long as it uses them,
/// so that its number cannot come to mean another process.
#[derive(Debug)]
pub struct Meters {
    counters: Counters,
    before: Snapshot,
}

#[derive(Debug)]
struct Counters {
    family: Family,
    lab_delay: DelayCounter,
    throttled: ThrottledTime,
}

#[derive(Debug)]
struct Snapshot {
    counts: FamilyCounts,
    stalls: MachineStalls,
    lab_delayed_ns: Result<u64, Unavailable>,
    throttled_ns: Result<u64, Unavailable>,
    /// Whether the high-water mark was reset before.
    reset: Result<(), Missing>,
}

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
        let counters = Counters {
            family: Family::of_program(pid, supervisor),
            lab_delay: DelayCounter::open(std::process::id()),
            throttled: ThrottledTime::of_process(pid),
        };
        Meters { before: counters.reset_and_read(), counters }
    }

    /// Resets the high-water mark and reads all counters. Called before "go".
    pub fn begin(&mut self) {
        self.counters.family.look();
        self.before = self.counters.reset_and_read();
    }

    /// Reads all counters again. Called after the contender has answered; `begin` comes before the
    /// next turn.
    pub fn end(&mut self) -> Metered {
        self.counters.family.look();
        let after = self.counters.read(self.before.reset.clone());
        let turn = BothEnds { before: &self.before, after: &after };
        let activity = turn.activity();
        let reaped_none = match &activity {
            Ok(activity) if activity.child_minor_faults > 0 => Err(Missing::OtherPrograms),
            Ok(_) => Ok(()),
            Err(why) => Err(why.clone()),
        };
        let cpu_ns = reaped_none.clone().and(turn.risen(|counts| counts.cpu_ns.clone()));
        Metered {
            cpu_split: cpu_ns.and_then(|total_ns| split(total_ns, &activity.clone()?)),
            peak_rss_bytes: reaped_none.and_then(|()| self.counters.peak(&after)),
            minor_faults: turn.risen(|counts| counts.activity.clone().map(|it| it.faults()[0])),
            child_minor_faults: activity.map(|it| it.child_minor_faults),
            major_faults: turn.risen(|counts| counts.activity.clone().map(|it| it.faults()[1])),
            device_read_bytes: turn.risen(|counts| counts.io.clone().map(|io| io.from_devices)),
            whole: turn.whole(),
            others: turn.others().into_iter().chain(turn.of_threads()).collect(),
        }
    }
}

impl Counters {
    fn reset_and_read(&self) -> Snapshot {
        self.read(self.family.reset_peak().map_err(Missing::NotReset))
    }

    /// Reads every counter, in the same order at both ends of a turn.
    fn read(&self, reset: Result<(), Missing>) -> Snapshot {
        Snapshot {
            counts: self.family.counts(),
            stalls: MachineStalls::read(),
            lab_delayed_ns: self.lab_delay.read(),
            throttled_ns: self.throttled.read(),
            reset,
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

impl BothEnds<'_> {
    /// The increase of a sum of the family, which never falls unless a part of it is lost.
    fn risen(self, count: fn(&FamilyCounts) -> Result<u64, FamilyError>) -> MeterReading {
        let [before, after] = [self.before, self.after].map(|end| count(&end.counts));
        let before = before?;
        after?.checked_sub(before).ok_or(Missing::Lost)
    }

    /// The increase of another counter.
    fn since(self, count: fn(&Snapshot) -> &Result<u64, Unavailable>) -> MeterReading {
        let [before, after] = [self.before, self.after].map(|end| count(end).clone());
        let before = before?;
        Ok(after?.saturating_sub(before))
    }

    fn activity(self) -> Result<Activity, Missing> {
        let after = self.after.counts.activity.clone()?;
        Ok(after.since(&self.before.counts.activity.clone()?))
    }

    /// What the kernel counted of the threads of the family, all together.
    fn of_threads(self) -> Vec<(Meter, MeterReading)> {
        let [before, after] = [self.before, self.after].map(|end| end.counts.waits.as_ref());
        match after.and_then(|after| Ok((after, before?))) {
            Ok((after, before)) => {
                after.since(before).map(|(meter, count)| (meter, count.map_err(Missing::from))).collect()
            }
            Err(why) => THREAD_COUNTERS.iter().map(|it| (it.meter, Err(why.clone().into()))).collect(),
        }
    }

    fn whole(self) -> Whole {
        // A child that was reaped has made faults; without any, nothing here is in ticks.
        let ran_others = self.activity().is_ok_and(|activity| activity.child_minor_faults > 0);
        Whole {
            cpu_ns: self.risen(FamilyCounts::whole_cpu_ns),
            cpu_error_ns: if ran_others { 2 * tick_ns() } else { 0 },
            passed_bytes: self.risen(|counts| counts.io.clone().map(|io| io.through_calls)),
            written_bytes: self.risen(|counts| counts.io.clone().map(|io| io.written)),
            alone: !ran_others && self.after.counts.processes == 1,
        }
    }

    /// What is counted of the lab, of the machine and of control groups.
    fn others(self) -> Vec<(Meter, MeterReading)> {
        vec![
            (Meter::LabDelayedNs, self.since(|end| &end.lab_delayed_ns)),
            (Meter::StealNs, self.since(|end| &end.stalls.steal_ns)),
            (Meter::CpuPressureNs, self.since(|end| &end.stalls.cpu_pressure_ns)),
            (Meter::IoPressureNs, self.since(|end| &end.stalls.io_pressure_ns)),
            (Meter::MemoryPressureNs, self.since(|end| &end.stalls.memory_pressure_ns)),
            (Meter::ThrottledNs, self.since(|end| &end.throttled_ns)),
        ]
    }
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

#[cfg(test)]
mod tests;
