//! Reads in flight through an io_uring: each slot has a buffer and one read at a time; a completed
//! read is delivered to the sink, and the slot gets the next job.
//!
//! The kernel writes into a slot's buffer from submission to completion. The buffer is not accessed
//! in that time. After an error or a panic, `drop` first waits until every read has completed.

use super::Fault;
use crate::buffer::Buffer;
use crate::sink::Sink;
use io_uring::{IoUring, opcode, squeue, types};
use std::io;
use std::mem;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The settings of the reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Bytes of one buffer.
    pub(crate) buffer_bytes: usize,
    /// Buffers that one read fills.
    pub(crate) buffers: usize,
    /// Reads in reads.
    pub(crate) depth: usize,
    /// Entries of the ring; at least `depth`.
    pub(crate) entries: u32,
    /// Whether a read names its buffers one by one (readv).
    pub(crate) vectored: bool,
    /// Whether the buffers are registered with the kernel before the first read.
    pub(crate) registered: Registered,
}

/// Whether the buffers are registered, so that the kernel does not look them up for every read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Registered {
    No,
    /// Unless the limit of locked memory is reached.
    IfAllowed,
    Yes,
}

/// A part of a file to be read by one slot.
#[derive(Debug, Clone)]
pub(crate) struct RingJob<'a> {
    /// Which bytes.
    pub(crate) range: Range<u64>,
    /// Of which file.
    pub(crate) file: BorrowedFd<'a>,
    /// Lengths must be multiples of this (1 if any length is allowed).
    pub(crate) block_bytes: u64,
    /// The same file without special flags, used if the kernel refuses the first.
    pub(crate) fallback: Option<BorrowedFd<'a>>,
}

/// The order in which completed reads are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// In the order of completion.
    Any,
    /// In the order of submission.
    Queued,
}

/// Work that can be done while reads are in flight; returns whether there was any.
pub(crate) type IdleWork<'w, S> = &'w mut dyn FnMut(&mut S) -> Result<bool, Fault>;

/// One read and the memory it fills.
struct Slot<'a> {
    /// Its part of the buffer memory.
    part: Range<usize>,
    /// The buffers that a vectored read fills; the kernel may access the list until the read has
    /// completed.
    vector: Vec<libc::iovec>,
    job: Option<RingJob<'a>>,
    filled: usize,
    full: bool,
}

/// All reads in flight, and their memory.
pub(crate) struct InFlight<'a> {
    // Dropped before the slots: a ring holds on to registered buffers.
    ring: IoUring,
    slots: Vec<Slot<'a>>,
    memory: Buffer,
    in_flight: usize,
    plan: Plan,
}

impl<'a> InFlight<'a> {
    /// Allocates the buffers, no more than there are jobs, and registers them if so planned.
    pub(crate) fn prepare(ring: IoUring, plan: &Plan, jobs: u64) -> Result<InFlight<'a>, Fault> {
        let used = plan.depth.min(usize::try_from(jobs).unwrap_or(usize::MAX));
        let part_bytes = plan.buffer_bytes * plan.buffers;
        let slots = (0..used).map(|index| Slot::new(index, part_bytes)).collect();
        let memory = Buffer::huge(part_bytes * used.max(1))?;
        let mut reads = InFlight { ring, slots, memory, in_flight: 0, plan: *plan };
        if plan.registered != Registered::No && used > 0 {
            match reads.register() {
                Err(_) if plan.registered == Registered::IfAllowed => reads.plan.registered = Registered::No,
                registered => registered?,
            }
        }
        Ok(reads)
    }

    /// One registered buffer for each slot, under the slot's number.
    fn register(&mut self) -> Result<(), Fault> {
        let whole = |slot: &Slot<'_>| {
            let part = &mut self.memory[slot.part.clone()];
            libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: part.len() }
        };
        let vectors: Vec<libc::iovec> = self.slots.iter().map(whole).collect();
        // SAFETY: the buffer memory is dropped after the ring.
        unsafe { self.ring.submitter().register_buffers(&vectors) }.map_err(|cause| {
            Fault::Unavailable(format!("io_uring: registered buffers (limited by ulimit -l): {cause}"))
        })
    }

    /// Runs all jobs.
    pub(crate) fn run<S: Sink>(
        mut self,
        order: Order,
        jobs: &mut dyn FnMut() -> Option<RingJob<'a>>,
        sink: &mut S,
        mut idle_work: Option<IdleWork<'_, S>>,
    ) -> Result<(), Fault> {
        for index in 0..self.slots.len() {
            self.queue_next(index, jobs)?;
        }
        let mut next = 0;
        while self.in_flight > 0 {
            self.wait_or_work(sink, &mut idle_work)?;
            while let Some((index, result)) = self.next_completion() {
                if !self.slots[index].complete(result)? {
                    self.queue(index)?;
                    continue;
                }
                if order == Order::Any {
                    next = index;
                }
                while self.slots[next].full {
                    self.slots[next].deliver(&self.memory, self.plan.buffer_bytes, sink);
                    self.queue_next(next, jobs)?;
                    next = (next + 1) % self.slots.len();
                }
            }
        }
        Ok(())
    }

    /// Submits the next job, if there is one, in this slot.
    fn queue_next(
        &mut self,
        index: usize,
        jobs: &mut dyn FnMut() -> Option<RingJob<'a>>,
    ) -> Result<(), Fault> {
        let slot = &mut self.slots[index];
        (slot.job, slot.filled, slot.full) = (jobs(), 0, false);
        if slot.job.is_some() { self.queue(index) } else { Ok(()) }
    }

    /// Puts a read of the bytes that the slot still lacks into the ring.
    fn queue(&mut self, index: usize) -> Result<(), Fault> {
        let Some(entry) = self.slots[index].entry(&mut self.memory, index, &self.plan) else { return Ok(()) };
        // SAFETY: the slot's part of the memory and its vector stay untouched until the read has
        // completed; `drop` waits for that.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(index as u64)) };
        pushed.map_err(|_| io::Error::other("io_uring: the ring has no room for a read"))?;
        self.in_flight += 1;
        Ok(())
    }

    /// Does other work while reads are in flight, or waits if there is no other work.
    fn wait_or_work<S>(&self, sink: &mut S, idle_work: &mut Option<IdleWork<'_, S>>) -> Result<(), Fault> {
        if let Some(work) = idle_work {
            self.submit(0)?;
            if work(sink)? {
                return Ok(());
            }
            *idle_work = None;
        }
        Ok(self.submit(1)?)
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
                // The kernel may write into the buffers at any time from now on: they must never be
                // used again.
                mem::forget((mem::take(&mut self.slots), mem::take(&mut self.memory)));
                return;
            }
            while self.next_completion().is_some() {}
        }
    }
}

impl<'a> Slot<'a> {
    fn new(index: usize, part_bytes: usize) -> Slot<'a> {
        let part = index * part_bytes..(index + 1) * part_bytes;
        Slot { part, vector: Vec::new(), job: None, filled: 0, full: false }
    }

    fn entry(&mut self, memory: &mut Buffer, index: usize, plan: &Plan) -> Option<squeue::Entry> {
        let job = self.job.as_ref()?;
        let buffer = &mut memory[self.part.clone()];
        let lacking = self.filled..job.requested_bytes();
        let offset = job.range.start + lacking.start as u64;
        let fd = types::Fd(job.file.as_raw_fd());
        if plan.vectored {
            self.vector = vectors(buffer, lacking, plan.buffer_bytes);
            let (vector, count) = (self.vector.as_ptr(), self.vector.len() as u32);
            return Some(opcode::Readv::new(fd, vector, count).offset(offset).build());
        }
        let len = lacking.len() as u32;
        let start = buffer[lacking].as_mut_ptr();
        Some(if plan.registered != Registered::No {
            opcode::ReadFixed::new(fd, start, len, index as u16).offset(offset).build()
        } else {
            opcode::Read::new(fd, start, len).offset(offset).build()
        })
    }

    /// Records the result of a read. Returns whether the slot is complete. A short read is
    /// continued. A read of no bytes, or past the cache a read that ends within a block, is at the
    /// end of the file.
    fn complete(&mut self, result: i32) -> Result<bool, Fault> {
        let job = self.job.as_mut().expect("a completed read has a job");
        if let Ok(count) = usize::try_from(result) {
            self.filled += count;
            let filled = self.filled as u64;
            let complete = filled >= job.range.end - job.range.start;
            self.full = complete || count == 0 || !filled.is_multiple_of(job.block_bytes);
            return Ok(self.full);
        }
        if is_passing(Some(-result)) {
            return Ok(false);
        }
        if let (libc::EINVAL | libc::EOPNOTSUPP, Some(file)) = (-result, job.fallback.take()) {
            (job.file, job.block_bytes) = (file, 1);
            return Ok(false);
        }
        let at = job.range.start + self.filled as u64;
        Err(Fault::at(at, io::Error::from_raw_os_error(-result)))
    }

    /// Delivers the bytes of the slot, buffer by buffer.
    fn deliver(&mut self, memory: &Buffer, buffer_bytes: usize, sink: &mut impl Sink) {
        self.full = false;
        let Some(job) = &self.job else { return };
        let mut at = job.range.start;
        for piece in memory[self.part.clone()][..self.filled].chunks(buffer_bytes) {
            sink.take(at, piece);
            at += piece.len() as u64;
        }
    }
}

impl RingJob<'_> {
    /// The number of bytes to request. Past the cache only whole blocks are possible.
    fn requested_bytes(&self) -> usize {
        (self.range.end - self.range.start).next_multiple_of(self.block_bytes) as usize
    }
}

/// The parts of `range` by buffers of `buffer_bytes`, as the kernel needs them.
fn vectors(buffer: &mut [u8], range: Range<usize>, buffer_bytes: usize) -> Vec<libc::iovec> {
    let mut vectors = Vec::with_capacity(range.len().div_ceil(buffer_bytes) + 1);
    let mut start = range.start;
    while start < range.end {
        let end = range.end.min((start / buffer_bytes + 1) * buffer_bytes);
        let part = &mut buffer[start..end];
        vectors.push(libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: part.len() });
        start = end;
    }
    vectors
}

/// Whether a call failed for a temporary reason: a signal, or a resource that the kernel lacks at
/// the moment.
fn is_passing(code: Option<i32>) -> bool {
    matches!(code, Some(libc::EINTR | libc::EAGAIN | libc::EBUSY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;

    const PLAN: Plan = Plan {
        buffer_bytes: 1024,
        buffers: 4,
        depth: 1,
        entries: 1,
        vectored: true,
        registered: Registered::No,
    };

    fn job(file: &File, range: Range<u64>, block_bytes: u64) -> RingJob<'_> {
        RingJob { range, file: file.as_fd(), block_bytes, fallback: None }
    }

    fn slot(file: &File, range: Range<u64>, block_bytes: u64) -> Slot<'_> {
        Slot { job: Some(job(file, range, block_bytes)), ..Slot::new(0, 4096) }
    }

    fn nothing() -> File {
        File::open("/dev/null").unwrap()
    }

    #[test]
    fn a_short_read_is_continued_where_it_stopped() {
        let file = nothing();
        let mut slot = slot(&file, 4096..8192, 1);
        assert!(!slot.complete(1500).unwrap());
        assert_eq!(slot.filled, 1500);
        let lens =
            vectors(&mut [0; 4096], 1500..4096, 1024).iter().map(|part| part.iov_len).collect::<Vec<_>>();
        assert_eq!(lens, [548, 1024, 1024]);
        assert!(slot.complete(2596).unwrap());
    }

    #[test]
    fn the_end_of_the_file_fills_a_slot() {
        let file = nothing();
        assert!(slot(&file, 4096..8192, 1).complete(0).unwrap());
        let mut last = slot(&file, 4096..5000, 512);
        assert_eq!(last.job.as_ref().unwrap().requested_bytes(), 1024);
        assert!(last.complete(904).unwrap());
    }

    #[test]
    fn a_temporary_error_is_retried_and_another_error_has_its_offset() {
        let file = nothing();
        let mut slot = slot(&file, 4096..8192, 1);
        assert!(!slot.complete(-libc::EINTR).unwrap());
        assert!(!slot.complete(-libc::EAGAIN).unwrap());
        assert!(!slot.complete(1000).unwrap());
        assert!(slot.complete(-libc::EIO).unwrap_err().to_string().ends_with("at byte 5096"));
    }

    #[test]
    fn the_rest_of_a_short_read_lands_behind_it() {
        let bytes: Vec<u8> = (0..4096u32).map(|i| (i / 7) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, &bytes).unwrap();
        for (vectored, registered) in [
            (false, Registered::No),
            (false, Registered::Yes),
            (false, Registered::IfAllowed),
            (true, Registered::No),
        ] {
            let plan = Plan { vectored, registered, ..PLAN };
            let ring = match IoUring::new(1) {
                Ok(ring) => ring,
                Err(cause) => return eprintln!("SKIPPED: io_uring: {cause}"),
            };
            let mut reads = InFlight::prepare(ring, &plan, 1).unwrap();
            (reads.slots[0].job, reads.slots[0].filled) = (Some(job(&file, 0..4096, 1)), 1500);
            reads.queue(0).unwrap();
            reads.submit(1).unwrap();
            assert_eq!(reads.next_completion(), Some((0, 2596)));
            assert_eq!(reads.memory[1500..4096], bytes[1500..]);
        }
    }

    #[test]
    fn reads_are_delivered_in_order_of_submission_and_other_work_is_done_before() {
        let bytes: Vec<u8> = (0..64 * 1024u32).map(|i| (i / 11) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, &bytes).unwrap();
        let plan = Plan { buffers: 1, depth: 5, entries: 8, vectored: false, ..PLAN };
        let ring = match IoUring::new(8) {
            Ok(ring) => ring,
            Err(cause) => return eprintln!("SKIPPED: io_uring: {cause}"),
        };
        let mut starts = (0..bytes.len() as u64).step_by(1024);
        let mut jobs = || starts.next().map(|start| job(&file, start..start + 1024, 1));
        let (seen, worked) = (std::cell::RefCell::new(Vec::new()), std::cell::Cell::new(0));
        let mut sink = |at: u64, piece: &[u8]| {
            assert_eq!(at, seen.borrow().len() as u64);
            seen.borrow_mut().extend_from_slice(piece);
        };
        let mut idle_work = |_: &mut _| {
            worked.set(worked.get() + 1);
            Ok(worked.get() < 3)
        };
        let reads = InFlight::prepare(ring, &plan, 64).unwrap();
        reads.run(Order::Queued, &mut jobs, &mut sink, Some(&mut idle_work)).unwrap();
        assert_eq!((seen.take(), worked.get()), (bytes, 3));
    }

    #[test]
    fn a_refused_read_uses_the_fallback() {
        let (file, plain) = (nothing(), nothing());
        let mut slot = slot(&file, 4096..8192, 512);
        slot.job.as_mut().unwrap().fallback = Some(plain.as_fd());
        assert!(!slot.complete(-libc::EINVAL).unwrap());
        let job = slot.job.clone().unwrap();
        assert_eq!((job.file.as_raw_fd(), job.block_bytes), (plain.as_raw_fd(), 1));
        assert!(slot.complete(-libc::EINVAL).is_err());
    }
}
