//! Stack samples of a process and its children: the event that is opened, and its records.

use super::records::{self, PerfRecord};
use super::ring::Rings;
use super::{cpu_clock, cycles, refusal, registers};
use perf_event_open_sys::bindings::{self, perf_event_attr};
use std::io;
use std::time::Duration;

/// Samples for each second of CPU time. The number is not round, so that sampling does not run in
/// step with periodic work.
pub const SAMPLES_PER_S: u64 = 997;

/// Bytes of the user stack in a sample; deeper stacks are cut off.
const STACK_BYTES: u32 = 16 << 10;

/// Bytes in a ring buffer at which its reader is woken.
const WAKEUP_BYTES: u32 = 64 << 10;

/// Highest `kernel.perf_event_paranoid` at which users may sample their own processes, without the
/// kernel.
const USER_PARANOID_MAX: i32 = 2;

/// The event that triggers samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamplingEvent {
    Cycles,
    CpuClock,
}

/// Samples the stacks of one process and its children as long as this value exists.
#[derive(Debug)]
pub struct StackSampler {
    rings: Rings,
    event: SamplingEvent,
    has_kernel_frames: bool,
}

#[derive(Debug)]
pub struct PerfRecords {
    /// The records, unordered.
    pub records: Vec<PerfRecord>,
    /// Records that the kernel dropped because a buffer was full, and malformed records.
    pub lost: u64,
}

impl StackSampler {
    /// Opens the best permitted event. Events with kernel frames are better than those without; among
    /// these, CPU cycles are better than the CPU clock. Threads and children that start later are
    /// sampled too.
    pub fn open(pid: u32) -> Result<StackSampler, String> {
        let mut refused = io::Error::from(io::ErrorKind::Unsupported);
        for kernel in [true, false] {
            for (event, attr) in [(SamplingEvent::Cycles, cycles()), (SamplingEvent::CpuClock, cpu_clock())] {
                match Rings::open(pid, &sampling_attr(attr, kernel)) {
                    Ok(rings) => return Ok(StackSampler { rings, event, has_kernel_frames: kernel }),
                    Err(cause) => refused = cause,
                }
            }
        }
        Err(refusal(&refused, USER_PARANOID_MAX))
    }

    pub fn event(&self) -> SamplingEvent {
        self.event
    }

    pub fn has_kernel_frames(&self) -> bool {
        self.has_kernel_frames
    }

    pub fn wait(&self, at_most: Duration) {
        self.rings.wait(at_most);
    }

    pub fn drain(&mut self) -> PerfRecords {
        let drained = self.rings.drain();
        let records = drained.records.iter().filter_map(records::parse).collect();
        PerfRecords { records, lost: drained.lost }
    }
}

fn sampling_attr(mut attr: perf_event_attr, kernel: bool) -> perf_event_attr {
    attr.set_freq(1);
    attr.__bindgen_anon_1.sample_freq = SAMPLES_PER_S;
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
    // Requests records of executable mappings, of names and execs, and of forks and exits.
    attr.set_mmap(1);
    attr.set_mmap2(1);
    attr.set_comm(1);
    attr.set_comm_exec(1);
    attr.set_task(1);
    // Requests that every record contains its thread, and its time on the lab's clock.
    attr.set_sample_id_all(1);
    attr.set_use_clockid(1);
    attr.clockid = libc::CLOCK_MONOTONIC;
    attr.set_watermark(1);
    attr.__bindgen_anon_2.wakeup_watermark = WAKEUP_BYTES;
    attr
}
