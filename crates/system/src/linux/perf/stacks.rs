//! Samples of the stacks of a process and its children: which event is opened, and its records.

use super::records::{self, PerfRecord};
use super::ring::Rings;
use super::{Attr, flag, refusal, registers, sample};
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
            for (event, attr) in [(Event::Cycles, Attr::cycles()), (Event::CpuClock, Attr::cpu_clock())] {
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

fn sampled(mut attr: Attr, kernel: bool) -> Attr {
    attr.sample_period = FREQUENCY;
    attr.sample_type =
        sample::TID | sample::TIME | sample::CALLCHAIN | sample::REGS_USER | sample::STACK_USER;
    attr.flags = flag::INHERIT
        | flag::FREQ
        | flag::MMAP2
        | flag::COMM
        | flag::COMM_EXEC
        | flag::TASK
        | flag::SAMPLE_ID_ALL
        | flag::EXCLUDE_CALLCHAIN_USER
        | flag::EXCLUDE_HYPERVISOR
        | flag::WATERMARK
        | flag::USE_CLOCKID;
    if !kernel {
        attr.flags |= flag::EXCLUDE_KERNEL;
    }
    attr.wakeup = WAKEUP_BYTES;
    attr.sample_regs_user = registers::mask();
    attr.sample_stack_user = STACK_BYTES;
    attr
}
