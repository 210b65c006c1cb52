//! Samples of the stacks of a process and its children: which event is opened, and its records.

use super::records::{self, PerfRecord};
use super::ring::Rings;
use super::{cpu_clock, cycles, refusal, registers};
use perf_event_open_sys::bindings::{self, perf_event_attr};
use std::io;
use std::time::Duration;

/// Samples per second of processor time: not round, lest it be in step with periodic work.
pub const FREQUENCY: u64 = 997;

/// Bytes of the user's stack in a sample; deeper stacks are cut.
const STACK_BYTES: u32 = 16 << 10;

/// Bytes in a ring after which its reader is woken.
const WAKEUP_BYTES: u32 = 64 << 10;

/// Up to this `kernel.perf_event_paranoid` users may sample their processes without the kernel.
const PARANOID_USER: i32 = 2;

/// What decides when a sample is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Cycles,
    CpuClock,
}

/// The open samples of one process and its children.
#[derive(Debug)]
pub struct StackSampler {
    rings: Rings,
    event: Event,
    kernel: bool,
}

#[derive(Debug)]
pub struct StackRecords {
    /// The records, in no order.
    pub records: Vec<PerfRecord>,
    /// Records that the kernel had no room for, and malformed ones.
    pub lost: u64,
}

impl StackSampler {
    /// Opens the best event that is permitted: cycles before the clock, with the kernel before
    /// without. Threads and children that come later are sampled too.
    pub fn open(pid: u32) -> Result<StackSampler, String> {
        let mut refused = io::Error::from(io::ErrorKind::Unsupported);
        for kernel in [true, false] {
            for (event, attr) in [(Event::Cycles, cycles()), (Event::CpuClock, cpu_clock())] {
                match Rings::open(pid, &[sampled(attr, kernel)]) {
                    Ok(rings) => return Ok(StackSampler { rings, event, kernel }),
                    Err(cause) => refused = cause,
                }
            }
        }
        Err(refusal(&refused, PARANOID_USER))
    }

    pub fn event(&self) -> Event {
        self.event
    }

    pub fn sees_kernel(&self) -> bool {
        self.kernel
    }

    pub fn wait(&self, at_most: Duration) {
        self.rings.wait(at_most);
    }

    pub fn drain(&mut self) -> StackRecords {
        let drained = self.rings.drain();
        let records = drained.records.iter().filter_map(records::parse).collect();
        StackRecords { records, lost: drained.lost }
    }
}

fn sampled(mut attr: perf_event_attr, kernel: bool) -> perf_event_attr {
    attr.set_freq(1);
    attr.__bindgen_anon_1.sample_freq = FREQUENCY;
    attr.sample_type = u64::from(
        bindings::PERF_SAMPLE_TID
            | bindings::PERF_SAMPLE_TIME
            | bindings::PERF_SAMPLE_CALLCHAIN
            | bindings::PERF_SAMPLE_REGS_USER
            | bindings::PERF_SAMPLE_STACK_USER,
    );
    attr.sample_regs_user = registers::mask();
    attr.sample_stack_user = STACK_BYTES;
    attr.set_exclude_callchain_user(1);
    attr.set_exclude_hv(1);
    attr.set_exclude_kernel(u64::from(!kernel));
    attr.set_inherit(1);
    // Executable mappings; names, and whether an exec gives them; forks and exits.
    attr.set_mmap(1);
    attr.set_mmap2(1);
    attr.set_comm(1);
    attr.set_comm_exec(1);
    attr.set_task(1);
    // Every record has its thread, and its time on the clock that the lab reads.
    attr.set_sample_id_all(1);
    attr.set_use_clockid(1);
    attr.clockid = libc::CLOCK_MONOTONIC;
    attr.set_watermark(1);
    attr.__bindgen_anon_2.wakeup_watermark = WAKEUP_BYTES;
    attr
}
