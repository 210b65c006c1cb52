//! What other work took from a turn: waits of the contender and of the lab, and stalls of the whole
//! machine.
//!
//! No reading is repeated or left out because of these meters; METHOD.md has the reason. The waits
//! only excuse what windows leave out of a turn.

use super::{BothEnds, MeterReading, Missing, since};
use readlab_system::machine_stalls::MachineStalls;
use readlab_system::process::{ThreadWaits, Unavailable};

/// What was counted during one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disturbance {
    /// Time in which the contender's threads were runnable but had no processor, all together.
    pub delayed_ns: MeterReading,
    /// The same of the lab.
    pub lab_delayed_ns: MeterReading,
    /// How often a processor was taken from a thread of the contender.
    pub preemptions: MeterReading,
    /// Time of all processors that the hypervisor gave to other guests, in clock ticks.
    pub steal_ns: MeterReading,
    /// Time in which any task of the machine waited for a processor.
    pub cpu_pressure_ns: MeterReading,
    /// Time in which any task waited for a device.
    pub io_pressure_ns: MeterReading,
    /// Time in which any task waited for memory.
    pub memory_pressure_ns: MeterReading,
    /// Time in which the contender's control groups had used up their quota of processors, over all
    /// processors on which threads of theirs could have run.
    pub throttled_ns: MeterReading,
}

impl Disturbance {
    /// Between the two ends of a turn.
    pub(super) fn measured(turn: BothEnds<'_>) -> Disturbance {
        let BothEnds { before, after } = turn;
        let waits = |count: fn(&ThreadWaits, &ThreadWaits) -> Result<u64, Unavailable>| -> MeterReading {
            let [before, after] = [before, after].map(|end| end.counts.waits.clone());
            Ok(count(&after?, &before?)?)
        };
        let stalled = |count: fn(&MachineStalls) -> &Result<u64, Unavailable>| {
            let [before, after] = [&before.stalls, &after.stalls].map(|stalls| count(stalls).clone());
            since(&before.map_err(Missing::from), &after.map_err(Missing::from))
        };
        Disturbance {
            delayed_ns: waits(ThreadWaits::delay_ns_since),
            lab_delayed_ns: since(&before.lab_delayed_ns, &after.lab_delayed_ns),
            preemptions: waits(ThreadWaits::preemptions_since),
            steal_ns: stalled(|stalls| &stalls.steal_ns),
            cpu_pressure_ns: stalled(|stalls| &stalls.cpu_pressure_ns),
            io_pressure_ns: stalled(|stalls| &stalls.io_pressure_ns),
            memory_pressure_ns: stalled(|stalls| &stalls.memory_pressure_ns),
            throttled_ns: since(&before.throttled_ns, &after.throttled_ns),
        }
    }
}
