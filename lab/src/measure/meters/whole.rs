//! What the kernel counted of a whole turn, the programs that a contender ran included: what its
//! claims are held against, and what shows that it touched the bytes. None of it is told as a
//! number of a reading.
//!
//! Verified on Linux 6.18: `rchar` holds what reaped children read; their CPU time is added up in
//! nanoseconds and shown in whole clock ticks, so that a difference is wrong by less than a tick,
//! in user and in system time each.

use super::{Counters, MeterReading, Missing, ProcFile, Stat, both, cpu_clock_of, cpu_ns, field, missing};
use std::collections::BTreeMap;
use std::fs;

/// Counts of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// CPU time of the process, its threads, and of children, whether they were reaped or live on.
    ///
    /// A contender behind a script is such a child.
    pub cpu_ns: MeterReading,
    /// How wrong that may be in either direction: only what children used is in clock ticks.
    pub cpu_error_ns: u64,
    /// Bytes that passed through read calls, from whatever file or pipe.
    pub passed_bytes: MeterReading,
    /// Time in which the contender's threads could have run and had no processor, all together.
    pub delayed_ns: MeterReading,
    /// The same of the lab.
    pub lab_delayed_ns: MeterReading,
    /// Whether it ran nothing beside itself, so that its own high-water mark is all there is.
    pub alone: bool,
}

/// The children of a process that live.
#[derive(Debug)]
pub(super) struct Living {
    of_first_thread: ProcFile,
    /// Whether another thread had any when the process was ready: those are not followed.
    elsewhere: bool,
}

/// Time on a run queue so far, by thread.
#[derive(Debug)]
pub(super) struct Delays(BTreeMap<String, u64>);

/// Generations of children that are followed.
const GENERATIONS_MAX: u32 = 8;

/// The counters of /proc/PID/io that are used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Io {
    pub(super) device_read_bytes: u64,
    passed_bytes: u64,
}

impl Whole {
    /// Between two readings of the counters.
    pub(super) fn between(
        before: &Counters,
        after: &Counters,
        (own_cpu, stat): (&MeterReading, &Result<Stat, Missing>),
    ) -> Whole {
        let since = |before: &MeterReading, after: &MeterReading| {
            both(before, after).map(|(before, after)| after.saturating_sub(*before))
        };
        let living_ns = since(&before.living_ns, &after.living_ns);
        // A child that was reaped has made faults; without any, nothing here is in ticks.
        let ran_others = stat.as_ref().is_ok_and(|stat| stat.child_minor_faults > 0);
        Whole {
            cpu_ns: both(own_cpu, stat)
                .map(|(own_ns, stat)| own_ns + stat.child_ticks * tick_ns())
                .and_then(|ns| Ok(ns + living_ns.clone()?)),
            cpu_error_ns: if ran_others { 2 * tick_ns() } else { 0 },
            passed_bytes: both(&before.io, &after.io).map(|(before, after)| after.since(before).passed_bytes),
            delayed_ns: both(&before.delays, &after.delays).map(|(before, after)| after.since(before)),
            lab_delayed_ns: since(&before.lab_delayed_ns, &after.lab_delayed_ns),
            alone: !ran_others && after.living_ns == Ok(0),
        }
    }
}

impl Delays {
    /// Of every thread that there is: in several languages it is not the first that reads.
    pub(super) fn read(pid: u32) -> Result<Delays, Missing> {
        let folder = format!("/proc/{pid}/task");
        let threads = fs::read_dir(&folder).map_err(|cause| missing(&cause, pid, &folder))?;
        let delay = |thread: fs::DirEntry| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            Some((thread.file_name().into_string().ok()?, delay_ns(&text)?))
        };
        let found: BTreeMap<String, u64> = threads.flatten().filter_map(delay).collect();
        match found.is_empty() {
            true => Err(Missing::NoField { file: folder, field: DELAY }),
            false => Ok(Delays(found)),
        }
    }

    /// Of all threads since an earlier reading; what ended meanwhile is lost.
    fn since(&self, before: &Delays) -> u64 {
        let of_one = |(id, now): (&String, &u64)| now.saturating_sub(before.0.get(id).copied().unwrap_or(0));
        self.0.iter().map(of_one).sum()
    }
}

impl Living {
    pub(super) fn of(pid: u32) -> Living {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let others = threads.filter(|thread| thread.file_name().to_str() != Some(&pid.to_string()));
        let has_children = |path: &std::path::Path| fs::read(path).is_ok_and(|list| !list.is_empty());
        let elsewhere = others.into_iter().any(|thread| has_children(&thread.path().join("children")));
        Living { of_first_thread: ProcFile::open(pid, &format!("task/{pid}/children")), elsewhere }
    }

    /// CPU time that the children and theirs have used so far; 0 without any.
    pub(super) fn cpu_ns(&self) -> MeterReading {
        let list = self.of_first_thread.read(|text| Some(text.to_owned()), "list of children")?;
        if self.elsewhere { Err(Missing::OtherPrograms) } else { Ok(sum_ns(&list, GENERATIONS_MAX)) }
    }
}

/// CPU time of the processes in a list and of their children; what ends meanwhile is reaped, and
/// counted elsewhere.
fn sum_ns(list: &str, generations: u32) -> u64 {
    let pids = list.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok());
    let of_one = |pid: u32| {
        let own_ns = cpu_clock_of(pid).and_then(|clock| cpu_ns(clock, pid)).unwrap_or(0);
        let children = match generations {
            0 => String::new(),
            _ => fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default(),
        };
        own_ns + sum_ns(&children, generations.saturating_sub(1))
    };
    pids.map(of_one).sum()
}

impl Io {
    pub(super) fn parse(text: &str) -> Option<Io> {
        Some(Io { device_read_bytes: field(text, "read_bytes:")?, passed_bytes: field(text, "rchar:")? })
    }

    pub(super) fn since(&self, before: &Io) -> Io {
        Io {
            device_read_bytes: self.device_read_bytes.saturating_sub(before.device_read_bytes),
            passed_bytes: self.passed_bytes.saturating_sub(before.passed_bytes),
        }
    }
}

/// What [`delay_ns`] finds, by name.
pub(super) const DELAY: &str = "time waited for a processor";

/// The second number of /proc/PID/schedstat: nanoseconds on a run queue.
pub(super) fn delay_ns(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// One clock tick, in which the kernel shows CPU time.
pub(in crate::measure) fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_counts_of_bytes_are_found() {
        let text = "rchar: 7000\nwchar: 1\nsyscr: 2\nsyscw: 3\nread_bytes: 4096\nwrite_bytes: 0\n";
        assert_eq!(Io::parse(text), Some(Io { device_read_bytes: 4096, passed_bytes: 7000 }));
        assert_eq!(Io::parse("rchar: 7000\n"), None);
    }

    #[test]
    fn time_on_the_run_queue_is_the_second_number() {
        assert_eq!(delay_ns("120 340 5\n"), Some(340));
        assert_eq!(delay_ns(""), None);
    }
}
