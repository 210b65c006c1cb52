//! Reads in flight through an io_uring: each slot has a buffer and one read at a time. A completed
//! read is delivered to the visitor, and the slot gets the next job.
//!
//! The kernel writes into a slot's buffer from submission to completion. The buffer is not accessed
//! in that time. After an error, a break or a panic, `drop` first waits until every read has
//! completed. [`Auto`](crate::Auto) uses this module where it suits a file. A program that wants to
//! choose sizes and depth itself may use the module, too.

mod slot;
#[cfg(test)]
mod tests;

use crate::buffer::Buffer;
use crate::{ReadError, Visitor};
use io_uring::IoUring;
use slot::Slot;
use std::ops::{ControlFlow, Range};
use std::os::fd::BorrowedFd;
use std::{fmt, io, mem};

/// The settings of the reads.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Bytes of one buffer.
    pub buffer_bytes: usize,
    /// Number of buffers that one read fills.
    pub buffers: usize,
    /// Reads in flight at most.
    pub depth: usize,
    /// Entries of the ring; at least `depth`.
    pub entries: u32,
    /// Whether a read names its buffers one by one (readv).
    pub vectored: bool,
    /// Whether the buffers are registered with the kernel before the first read.
    pub registered: Registered,
}

/// Whether the buffers are registered. The kernel need not look up registered buffers for every
/// read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registered {
    /// The buffers are not registered.
    No,
    /// The buffers are registered, unless the limit of locked memory is reached.
    IfAllowed,
    /// The buffers are registered, or the reading fails.
    Yes,
}

/// A ring in which nothing is in flight.
///
/// Only this module has the ring's queues. A completion of a foreign read would be taken for one of
/// a slot, whose memory would then be visited while the kernel writes into it.
pub struct Ring(IoUring);

impl Ring {
    /// Makes a ring with this number of entries.
    ///
    /// # Errors
    /// If the kernel allows no ring.
    pub fn new(entries: u32) -> io::Result<Ring> {
        IoUring::new(entries).map(Ring)
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").finish_non_exhaustive()
    }
}

/// A part of a file to be read by one slot.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// The bytes of the file to read.
    pub range: Range<u64>,
    /// The file to read.
    pub file: BorrowedFd<'a>,
    /// Lengths must be multiples of this number, which is 1 if any length is allowed.
    pub block_bytes: u64,
    /// The same file without special flags. It is used if the kernel refuses to read `file`.
    pub fallback: Option<BorrowedFd<'a>>,
}

/// The order in which completed reads are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Completed reads are delivered in the order of their completion.
    Any,
    /// Completed reads are delivered in the order of their submission.
    Queued,
}

/// Work that can be done while reads are in flight. It returns whether there was any work to do, or
/// a break.
pub type IdleWork<'w, V> = &'w mut dyn FnMut(&mut V) -> Result<ControlFlow<(), bool>, ReadError>;

/// All reads in flight, and their memory.
pub struct InFlight<'a> {
    // Dropped before the slots: a ring holds on to registered buffers.
    ring: IoUring,
    slots: Vec<Slot<'a>>,
    memory: Buffer,
    in_flight: usize,
    plan: Plan,
}

impl<'a> InFlight<'a> {
    /// Allocates the buffers, at most one read's for each job, and registers them if the plan says
    /// so.
    ///
    /// # Errors
    /// If there is no memory, or if the buffers cannot be registered and the plan requires it.
    pub fn prepare(ring: Ring, plan: &Plan, jobs: usize) -> Result<InFlight<'a>, ReadError> {
        let used = plan.depth.min(jobs);
        let part_bytes = plan.buffer_bytes * plan.buffers;
        let slots = (0..used).map(|index| Slot::new(index, part_bytes)).collect();
        let memory = Buffer::huge(part_bytes * used.max(1))?;
        let mut reads = InFlight { ring: ring.0, slots, memory, in_flight: 0, plan: *plan };
        if plan.registered != Registered::No && used > 0 {
            match reads.register() {
                Err(_) if plan.registered == Registered::IfAllowed => reads.plan.registered = Registered::No,
                registered => registered?,
            }
        }
        Ok(reads)
    }

    /// Registers one buffer for each slot, under the slot's number.
    fn register(&mut self) -> Result<(), ReadError> {
        let whole = |slot: &Slot<'_>| {
            let part = &mut self.memory[slot.part.clone()];
            libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: part.len() }
        };
        let vectors: Vec<libc::iovec> = self.slots.iter().map(whole).collect();
        // SAFETY: the buffer memory is dropped after the ring.
        unsafe { self.ring.submitter().register_buffers(&vectors) }.map_err(|cause| {
            let text = format!("io_uring: registered buffers (limited by ulimit -l): {cause}");
            io::Error::new(cause.kind(), text).into()
        })
    }

    /// Runs all jobs, or runs jobs until the visitor breaks.
    ///
    /// # Errors
    /// If a read fails; the visitor has then seen a part.
    pub fn run<V: Visitor>(
        mut self,
        order: Order,
        jobs: &mut dyn FnMut() -> Option<Job<'a>>,
        visitor: &mut V,
        mut idle_work: Option<IdleWork<'_, V>>,
    ) -> Result<ControlFlow<()>, ReadError> {
        for index in 0..self.slots.len() {
            self.queue_next(index, jobs)?;
        }
        let mut next = 0;
        while self.in_flight > 0 {
            if self.wait_or_work(visitor, &mut idle_work)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            while let Some((index, result)) = self.next_completion() {
                if !self.slots[index].complete(result)? {
                    self.queue(index)?;
                    continue;
                }
                if order == Order::Any {
                    next = index;
                }
                while self.slots[next].full {
                    if self.slots[next].deliver(&self.memory, self.plan.buffer_bytes, visitor).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    self.queue_next(next, jobs)?;
                    next = (next + 1) % self.slots.len();
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Submits the next job in this slot, if a job is left.
    fn queue_next(
        &mut self,
        index: usize,
        jobs: &mut dyn FnMut() -> Option<Job<'a>>,
    ) -> Result<(), ReadError> {
        self.slots[index].begin(jobs());
        self.queue(index)
    }

    /// Queues a read of the bytes that the slot still lacks, if it has a job.
    fn queue(&mut self, index: usize) -> Result<(), ReadError> {
        let Some(entry) = self.slots[index].entry(&mut self.memory, index, &self.plan) else { return Ok(()) };
        // SAFETY: the slot's part of the memory and its vector stay untouched until the read has
        // completed; `drop` waits for that.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(index as u64)) };
        pushed.map_err(|_| io::Error::other("io_uring: the ring has no room for a read"))?;
        self.in_flight += 1;
        Ok(())
    }

    /// Does other work while reads are in flight, or waits if there is no other work.
    fn wait_or_work<V>(
        &self,
        visitor: &mut V,
        idle_work: &mut Option<IdleWork<'_, V>>,
    ) -> Result<ControlFlow<()>, ReadError> {
        if let Some(work) = idle_work {
            self.submit(0)?;
            match work(visitor)? {
                ControlFlow::Break(()) => return Ok(ControlFlow::Break(())),
                ControlFlow::Continue(true) => return Ok(ControlFlow::Continue(())),
                ControlFlow::Continue(false) => *idle_work = None,
            }
        }
        self.submit(1)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Submits the queued reads, and waits until `wanted` reads have completed.
    fn submit(&self, wanted: usize) -> io::Result<()> {
        loop {
            match self.ring.submit_and_wait(wanted) {
                Ok(_) => return Ok(()),
                Err(error) if is_passing(error.raw_os_error()) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The next completed read: its slot and its result.
    fn next_completion(&mut self) -> Option<(usize, i32)> {
        let entry = self.ring.completion().next()?;
        self.in_flight -= 1;
        Some((entry.user_data() as usize, entry.result()))
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.submit(1).is_err() {
                // The kernel may write into the buffers at any time from now on, so they must never
                // be used again.
                mem::forget((mem::take(&mut self.slots), mem::take(&mut self.memory)));
                return;
            }
            while self.next_completion().is_some() {}
        }
    }
}

/// Whether a call failed for a temporary reason: a signal, or a resource that the kernel lacks at
/// present.
pub(crate) fn is_passing(code: Option<i32>) -> bool {
    matches!(code, Some(libc::EINTR | libc::EAGAIN | libc::EBUSY))
}
