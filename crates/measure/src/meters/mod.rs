//! The meters of one turn of a contender, read from outside by process id, for the contender's
//! process and all its descendants.
//!
//! For each process, a turn costs one write, five reads, a few more for each thread and two
//! readings of a clock, none of them inside the contender's window. A meter that cannot be read is
//! a [`MeterError`] with its reason; it never panics and never becomes 0.
//! [`readlab_system::process`] describes how the kernel counts.

use readlab_model::sample::Meter;
pub(super) use readlab_system::process::tick_ns;
use readlab_system::process::{
    CounterError, FamilyCounts, FamilyError, FaultsAndTicks, ProcessFamily, THREAD_COUNTERS,
};
use readlab_system::turn_counters::{TurnCounters, TurnCounts};
use std::collections::BTreeMap;

pub type MeterReading = Result<u64, MeterError>;

/// Smallest number of clock ticks of CPU time by whose proportion a total is split; fewer ticks are
/// too coarse.
const TICKS_MIN: u64 = 10;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MeterError {
    /// The kernel does not show the counter, or does not show it to this user.
    #[error(transparent)]
    Counter(#[from] CounterError),
    /// A process of the contender's family does not show the counter, or the family is not known.
    #[error("{0}")]
    Family(FamilyError),
    /// The counter fell: a process that ended took its counts along.
    #[error("processes of its family ended where their counts are not seen")]
    Lost,
    /// The high-water mark still includes the time before the turn.
    #[error("the high-water mark could not be reset: {0}")]
    NotReset(FamilyError),
    #[error("it ran other programs, of which this meter knows nothing")]
    OtherPrograms,
    #[error("only {ticks} clock ticks passed: too few to split user from system time (at least {TICKS_MIN})")]
    TooFewTicks { ticks: u64 },
}

impl MeterError {
    /// Whether the meter is missing because a process of the contender was not seen.
    pub fn has_unseen_processes(&self) -> bool {
        matches!(self, MeterError::Family(_) | MeterError::Lost)
    }
}

impl From<FamilyError> for MeterError {
    fn from(error: FamilyError) -> MeterError {
        match error {
            FamilyError::Program(cause) => MeterError::Counter(cause),
            error => MeterError::Family(error),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuSplit {
    pub user_ns: u64,
    pub system_ns: u64,
}

/// Counts between [`Meters::begin`] and [`Meters::end`], summed over all readings of the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterReadings {
    /// CPU time of the contender's processes and their threads by their CPU clocks, split in the
    /// proportion of the kernel's clock ticks. Used for contenders that do not measure their CPU
    /// time.
    pub cpu_split: Result<CpuSplit, MeterError>,
    /// High-water mark of resident memory since `begin`, mapped file pages included; for several
    /// processes, the sum of their marks.
    pub peak_rss_bytes: MeterReading,
    /// Page faults served without the device, including faults of living and of reaped children.
    pub minor_faults: MeterReading,
    /// Minor page faults of reaped children alone. For a contender that starts a program for each
    /// reading, these are the program's.
    pub child_minor_faults: MeterReading,
    /// Page faults that waited for the device, in the same processes.
    pub major_faults: MeterReading,
    /// Bytes fetched from the device by the same processes.
    pub device_read_bytes: MeterReading,
    pub whole_turn: WholeTurnCounts,
    /// All other meters of the whole turn; the table of meters maps each to a field of samples.
    /// Most show what other work took from the turn: waits of the contender and of readlab, and
    /// stalls of the whole machine.
    ///
    /// These meters never cause a reading to be repeated or left out; METHOD.md has the reason.
    /// Waits only excuse time of a turn that lies outside its windows.
    pub other_meters: BTreeMap<Meter, MeterReading>,
}

/// The kernel's counts of a whole turn, including the programs that a contender ran. The
/// contender's claims are checked against them, and they show whether the contender touched the
/// bytes. Samples do not contain them.
///
/// CPU time of reaped children is in whole clock ticks, so a difference may be wrong by just under
/// one tick, in user and in system time each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeTurnCounts {
    /// CPU time of the process, its threads, and its children, reaped or living. If a script
    /// started the contender, the contender is one of these children.
    pub cpu_ns: MeterReading,
    /// Largest error of `cpu_ns` in either direction; only the time of reaped children is in clock
    /// ticks.
    pub cpu_error_ns: u64,
    /// Bytes that passed through read calls, from any file or pipe.
    pub read_call_bytes: MeterReading,
    /// Bytes that passed through write calls, to any file or pipe.
    pub write_call_bytes: MeterReading,
    /// Whether the process ran no other program, so that its own high-water mark covers the whole
    /// turn.
    pub was_alone: bool,
}

/// The meters of one contender. The caller must not reap the process as long as it uses them, so
/// that the process id cannot be reused.
#[derive(Debug)]
pub struct Meters {
    counters: Counters,
    before: Snapshot,
}

#[derive(Debug)]
struct Counters {
    family: ProcessFamily,
    turn_counters: TurnCounters,
}

#[derive(Debug)]
struct Snapshot {
    counts: FamilyCounts,
    turn_counts: TurnCounts,
    /// Whether the high-water mark was reset before the turn.
    peak_reset: Result<(), MeterError>,
}

#[derive(Debug, Clone, Copy)]
struct SnapshotPair<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
}

impl Meters {
    /// Opens the meters of a process and its family: its descendants and, with the process id of
    /// its supervisor, processes that it leaves to the supervisor. If a meter cannot be opened,
    /// each of its readings gives the reason.
    pub fn open(pid: u32, supervisor: Option<u32>) -> Meters {
        let counters = Counters {
            family: ProcessFamily::of_program(pid, supervisor),
            turn_counters: TurnCounters::open(pid),
        };
        Meters { before: counters.reset_and_read(), counters }
    }

    /// Resets the high-water mark and reads all counters. Called before the contender gets the
    /// request to read.
    pub fn begin(&mut self) {
        self.counters.family.update_members();
        self.before = self.counters.reset_and_read();
    }

    /// Reads all counters again. Called after the contender has answered; the next turn begins with
    /// `begin`.
    pub fn end(&mut self) -> MeterReadings {
        self.counters.family.update_members();
        let after = self.counters.read(self.before.peak_reset.clone());
        let turn = SnapshotPair { before: &self.before, after: &after };
        let activity = turn.activity();
        let reaped_none = match &activity {
            Ok(activity) if activity.child_minor_faults > 0 => Err(MeterError::OtherPrograms),
            Ok(_) => Ok(()),
            Err(why) => Err(why.clone()),
        };
        // The counts of a thread are lost when it ends, and no sum has those of reaped children.
        let of_threads = turn.thread_counters().into_iter();
        let of_threads: Vec<(Meter, MeterReading)> =
            of_threads.map(|(meter, count)| (meter, reaped_none.clone().and(count))).collect();
        let cpu_ns = reaped_none.clone().and(turn.family_increase(|counts| counts.cpu_ns.clone()));
        MeterReadings {
            cpu_split: cpu_ns.and_then(|total_ns| split_cpu_time(total_ns, &activity.clone()?)),
            peak_rss_bytes: reaped_none.and_then(|()| self.counters.peak_rss(&after)),
            minor_faults: turn.family_increase(|counts| {
                counts.faults_and_ticks.clone().map(|it| it.minor_and_major_faults()[0])
            }),
            child_minor_faults: activity.map(|it| it.child_minor_faults),
            major_faults: turn.family_increase(|counts| {
                counts.faults_and_ticks.clone().map(|it| it.minor_and_major_faults()[1])
            }),
            device_read_bytes: turn
                .family_increase(|counts| counts.io.clone().map(|io| io.read_from_devices)),
            whole_turn: turn.whole_turn(),
            other_meters: turn.turn_counters().chain(of_threads).collect(),
        }
    }
}

impl Counters {
    fn reset_and_read(&self) -> Snapshot {
        self.read(self.family.reset_peak_memory().map_err(MeterError::NotReset))
    }

    /// Reads every counter, in the same order at both ends of a turn.
    fn read(&self, peak_reset: Result<(), MeterError>) -> Snapshot {
        Snapshot { counts: self.family.counts(), turn_counts: self.turn_counters.read(), peak_reset }
    }

    /// The high-water mark, which is meaningful only if it was reset.
    fn peak_rss(&self, after: &Snapshot) -> MeterReading {
        after.peak_reset.clone()?;
        if after.counts.faults_and_ticks.as_ref().is_ok_and(|activity| activity.has_ended) {
            return Err(CounterError::Ended { pid: self.family.program_pid() }.into());
        }
        Ok(self.family.peak_rss_bytes()?)
    }
}

impl SnapshotPair<'_> {
    /// The increase of a sum over the family; an error if the sum fell, because the counts of a
    /// process were lost.
    fn family_increase(self, count: fn(&FamilyCounts) -> Result<u64, FamilyError>) -> MeterReading {
        let [before, after] = [self.before, self.after].map(|end| count(&end.counts));
        let before = before?;
        after?.checked_sub(before).ok_or(MeterError::Lost)
    }

    fn activity(self) -> Result<FaultsAndTicks, MeterError> {
        let after = self.after.counts.faults_and_ticks.clone()?;
        Ok(after.since(&self.before.counts.faults_and_ticks.clone()?))
    }

    /// The kernel's counters of threads, summed over all threads of the family.
    fn thread_counters(self) -> Vec<(Meter, MeterReading)> {
        let [before, after] = [self.before, self.after].map(|end| end.counts.counts_by_thread.as_ref());
        match after.and_then(|after| Ok((after, before?))) {
            Ok((after, before)) => {
                after.since(before).map(|(meter, count)| (meter, count.map_err(MeterError::from))).collect()
            }
            Err(why) => THREAD_COUNTERS.iter().map(|it| (it.meter, Err(why.clone().into()))).collect(),
        }
    }

    fn whole_turn(self) -> WholeTurnCounts {
        // Every child causes page faults, so without faults of children none was reaped. Only the
        // CPU time of reaped children is in ticks.
        let ran_others = self.activity().is_ok_and(|activity| activity.child_minor_faults > 0);
        WholeTurnCounts {
            cpu_ns: self.family_increase(FamilyCounts::cpu_ns_with_reaped),
            cpu_error_ns: if ran_others { 2 * tick_ns() } else { 0 },
            read_call_bytes: self.family_increase(|counts| counts.io.clone().map(|io| io.read_by_calls)),
            write_call_bytes: self.family_increase(|counts| counts.io.clone().map(|io| io.written_by_calls)),
            was_alone: !ran_others && self.after.counts.process_count == 1,
        }
    }

    /// Counters of readlab itself, of the machine and of control groups.
    fn turn_counters(self) -> impl Iterator<Item = (Meter, MeterReading)> {
        let increases = self.after.turn_counts.since(&self.before.turn_counts).into_iter();
        increases.map(|(meter, count)| (meter, count.map_err(MeterError::from)))
    }
}

/// Splits an exact total in the proportion of clock ticks.
fn split_cpu_time(total_ns: u64, activity: &FaultsAndTicks) -> Result<CpuSplit, MeterError> {
    let ticks = activity.user_ticks + activity.system_ticks;
    if ticks < TICKS_MIN {
        return Err(MeterError::TooFewTicks { ticks });
    }
    let user_ns = u128::from(total_ns) * u128::from(activity.user_ticks) / u128::from(ticks);
    let user_ns = u64::try_from(user_ns).expect("a share of a u64 fits");
    Ok(CpuSplit { user_ns, system_ns: total_ns - user_ns })
}

#[cfg(test)]
mod tests;
