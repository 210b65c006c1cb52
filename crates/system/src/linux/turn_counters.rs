//! Counters that are read before and after every turn, except those of the contender's threads: the
//! counters of readlab itself, of the machine, and of control groups. A new counter is an entry in
//! `TURN_COUNTERS`.

use super::control_group::ThrottledTimeCounter;
use super::machine_stalls::{cpu_pressure_ns, io_pressure_ns, memory_pressure_ns, steal_ns};
use super::process::{CounterError, DelayCounter};
use readlab_model::sample::Meter;
use std::fmt;

type CounterReader = Box<dyn Fn() -> Result<u64, CounterError> + Send + Sync>;

struct TurnCounter {
    meter: Meter,
    /// Opens the counter for the contender with this process id.
    open: fn(u32) -> CounterReader,
}

const TURN_COUNTERS: &[TurnCounter] = &[
    TurnCounter { meter: Meter::StealNs, open: |_| Box::new(steal_ns) },
    TurnCounter { meter: Meter::CpuPressureNs, open: |_| Box::new(cpu_pressure_ns) },
    TurnCounter { meter: Meter::IoPressureNs, open: |_| Box::new(io_pressure_ns) },
    TurnCounter { meter: Meter::MemoryPressureNs, open: |_| Box::new(memory_pressure_ns) },
    TurnCounter {
        meter: Meter::LabDelayedNs,
        open: |_| {
            let delay = DelayCounter::open(std::process::id());
            Box::new(move || delay.read())
        },
    },
    TurnCounter {
        meter: Meter::ThrottledNs,
        open: |pid| {
            let throttled = ThrottledTimeCounter::of_process(pid);
            Box::new(move || throttled.read())
        },
    },
];

/// The counters of `TURN_COUNTERS`, open for one contender.
pub struct TurnCounters(Vec<CounterReader>);

/// The counts so far, in the order of `TURN_COUNTERS`; an error states why a counter is missing.
#[derive(Debug, Clone)]
pub struct TurnCounts(Vec<Result<u64, CounterError>>);

impl TurnCounters {
    pub fn open(pid: u32) -> TurnCounters {
        TurnCounters(TURN_COUNTERS.iter().map(|counter| (counter.open)(pid)).collect())
    }

    pub fn read(&self) -> TurnCounts {
        TurnCounts(self.0.iter().map(|read| read()).collect())
    }
}

impl fmt::Debug for TurnCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(TURN_COUNTERS.iter().map(|counter| counter.meter)).finish()
    }
}

impl TurnCounts {
    /// The increase of each counter since an earlier reading.
    pub fn since(&self, before: &TurnCounts) -> Vec<(Meter, Result<u64, CounterError>)> {
        let increase = |(after, before): (&Result<u64, CounterError>, &Result<u64, CounterError>)| {
            let before = before.clone()?;
            Ok(after.clone()?.saturating_sub(before))
        };
        let increases = self.0.iter().zip(&before.0).map(increase);
        TURN_COUNTERS.iter().map(|counter| counter.meter).zip(increases).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_counter_has_its_increase_or_the_reason_why_it_is_missing() {
        let counts = |count: Result<u64, CounterError>| TurnCounts(vec![count; TURN_COUNTERS.len()]);
        let increases = |before, after| counts(after).since(&counts(before));
        let two: Vec<(Meter, Result<u64, CounterError>)> =
            TURN_COUNTERS.iter().map(|counter| (counter.meter, Ok(2))).collect();
        assert_eq!(increases(Ok(3), Ok(5)), two);
        assert_eq!(increases(Ok(5), Ok(3))[0].1, Ok(0), "a counter that fell");
        let ended = || Err(CounterError::Ended { pid: 1 });
        assert_eq!(increases(ended(), Ok(3))[0].1, ended());
        assert_eq!(increases(Ok(3), ended())[0].1, ended());
    }

    #[test]
    fn the_counters_of_this_machine_are_read() {
        let counters = TurnCounters::open(std::process::id());
        let before = counters.read();
        let counted: BTreeMap<_, _> = counters.read().since(&before).into_iter().collect();
        assert_eq!(counted.len(), TURN_COUNTERS.len(), "each meter has one counter");
        for meter in [Meter::StealNs, Meter::LabDelayedNs, Meter::ThrottledNs] {
            assert!(counted[&meter].is_ok(), "{:?}", counted[&meter]);
        }
    }
}
