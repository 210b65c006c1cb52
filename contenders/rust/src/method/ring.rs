//! Reads in flight: slots with a buffer each, launched into a ring, landed, fed to the consumer, launched again.
//!
//! The kernel writes into a slot's buffer from launch to landing. Nobody looks at the buffer meanwhile, and a flight
//! that ends early, by an error or a panic, first waits until every read has landed.

use super::Fault;
use crate::buffer::Buffer;
use crate::consumer::Consumer;
use crate::segments::Segments;
use io_uring::{IoUring, opcode, squeue, types};
use std::fs::File;
use std::io;
use std::mem;
use std::ops::Range;
use std::os::fd::{AsRawFd, RawFd};

/// The settings of a flight.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Bytes of one buffer.
    pub(super) buffer_bytes: usize,
    /// Buffers that one read fills.
    pub(super) buffers: usize,
    /// Reads in flight.
    pub(super) depth: usize,
    /// Entries of the ring; at least `depth`.
    pub(super) entries: u32,
    /// Whether a read names its buffers one by one (readv).
    pub(super) vectored: bool,
    /// Whether the kernel is told of the buffers once, before the first read.
    pub(super) registered: bool,
}

/// One read and the memory it fills.
struct Slot {
    buffer: Buffer,
    /// The parts of the buffer that a vectored read fills; the kernel may look at it until the read has landed.
    vector: Vec<libc::iovec>,
    range: Range<u64>,
    filled: usize,
}

/// Everything that is in the air.
pub(super) struct Flight<'a> {
    // Dropped before the slots: a ring holds on to registered buffers.
    ring: IoUring,
    slots: Vec<Slot>,
    in_flight: usize,
    fd: RawFd,
    block_bytes: u64,
    plan: &'a Plan,
}

impl<'a> Flight<'a> {
    /// Takes the buffers, as many as there is use for, and tells the kernel of them if so planned.
    pub(super) fn prepare(
        ring: IoUring,
        file: &'a File,
        plan: &'a Plan,
        block_bytes: u64,
        segments: &Segments,
    ) -> Result<Flight<'a>, Fault> {
        let used = plan.depth.min(usize::try_from(segments.count()).unwrap_or(usize::MAX));
        let slots: io::Result<Vec<Slot>> = (0..used).map(|_| Slot::new(plan)).collect();
        let mut flight =
            Flight { ring, slots: slots?, in_flight: 0, fd: file.as_raw_fd(), block_bytes, plan };
        if plan.registered && used > 0 {
            flight.register()?;
        }
        Ok(flight)
    }

    /// One registered buffer for each slot, under the slot's number.
    fn register(&mut self) -> Result<(), Fault> {
        let whole = |slot: &mut Slot| {
            let buffer = &mut slot.buffer[..];
            libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() }
        };
        let vectors: Vec<libc::iovec> = self.slots.iter_mut().map(whole).collect();
        // SAFETY: the buffers live in the slots, which are dropped after the ring.
        unsafe { self.ring.submitter().register_buffers(&vectors) }.map_err(|cause| {
            Fault::Unavailable(format!("io_uring: registered buffers (limited by ulimit -l): {cause}"))
        })
    }

    /// Reads all segments.
    pub(super) fn run(mut self, segments: &Segments, consumer: &mut Consumer) -> Result<(), Fault> {
        for index in 0..self.slots.len() {
            self.launch_next(index, segments)?;
        }
        while self.in_flight > 0 {
            self.wait()?;
            while let Some((index, result)) = self.landed() {
                if self.slots[index].takes(result, self.block_bytes)? {
                    let filled = &self.slots[index].buffer[..self.slots[index].filled];
                    filled.chunks(self.plan.buffer_bytes).for_each(|piece| consumer.feed(piece));
                    self.launch_next(index, segments)?;
                } else {
                    self.launch(index)?;
                }
            }
        }
        Ok(())
    }

    /// Gives the slot the next segment, if there is one.
    fn launch_next(&mut self, index: usize, segments: &Segments) -> Result<(), Fault> {
        let Some(range) = segments.take() else { return Ok(()) };
        let slot = &mut self.slots[index];
        (slot.range, slot.filled) = (range, 0);
        self.launch(index)
    }

    /// Puts a read of what the slot still lacks into the ring.
    fn launch(&mut self, index: usize) -> Result<(), Fault> {
        let entry = self.slots[index].entry(index, self.fd, self.block_bytes, self.plan);
        // SAFETY: buffer and vector live in the slot, untouched until the read has landed; `drop` waits for that.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(index as u64)) };
        pushed.map_err(|_| io::Error::other("io_uring: the ring has no room for a read"))?;
        self.in_flight += 1;
        Ok(())
    }

    /// Submits what was launched, and waits until something has landed.
    fn wait(&self) -> io::Result<()> {
        loop {
            match self.ring.submit_and_wait(1) {
                Ok(_) => return Ok(()),
                Err(error) if is_passing(error.raw_os_error()) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The next read that has landed: its slot and what the kernel said.
    fn landed(&mut self) -> Option<(usize, i32)> {
        let entry = self.ring.completion().next()?;
        self.in_flight -= 1;
        Some((entry.user_data() as usize, entry.result()))
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.wait().is_err() {
                // The kernel may write into the buffers at any time from now on: they must never be used again.
                mem::forget(mem::take(&mut self.slots));
                return;
            }
            while self.landed().is_some() {}
        }
    }
}

impl Slot {
    fn new(plan: &Plan) -> io::Result<Slot> {
        let buffer = Buffer::new(plan.buffer_bytes * plan.buffers)?;
        Ok(Slot { buffer, vector: Vec::new(), range: 0..0, filled: 0 })
    }

    /// What is still to be read, as offsets in the buffer. Past the cache only whole blocks can be asked for.
    fn lacking(&self, block_bytes: u64) -> Range<usize> {
        let wanted = (self.range.end - self.range.start).next_multiple_of(block_bytes);
        self.filled..wanted as usize
    }

    fn entry(&mut self, index: usize, fd: RawFd, block_bytes: u64, plan: &Plan) -> squeue::Entry {
        let lacking = self.lacking(block_bytes);
        let offset = self.range.start + lacking.start as u64;
        let fd = types::Fd(fd);
        if plan.vectored {
            self.vector = vectors(&mut self.buffer, lacking, plan.buffer_bytes);
            let (vector, count) = (self.vector.as_ptr(), self.vector.len() as u32);
            return opcode::Readv::new(fd, vector, count).offset(offset).build();
        }
        let len = lacking.len() as u32;
        let start = self.buffer[lacking].as_mut_ptr();
        if plan.registered {
            return opcode::ReadFixed::new(fd, start, len, index as u16).offset(offset).build();
        }
        opcode::Read::new(fd, start, len).offset(offset).build()
    }

    /// Takes in what the kernel said. Whether the slot is as full as it will be: a read may be short and is then
    /// continued; one of no bytes, or past the cache one that ends off a block, has met the end of the file.
    fn takes(&mut self, result: i32, block_bytes: u64) -> Result<bool, Fault> {
        if let Ok(count) = usize::try_from(result) {
            self.filled += count;
            let filled = self.filled as u64;
            let complete = filled >= self.range.end - self.range.start;
            return Ok(complete || count == 0 || !filled.is_multiple_of(block_bytes));
        }
        if is_passing(Some(-result)) {
            return Ok(false);
        }
        let at = self.range.start + self.filled as u64;
        Err(Fault::at(at, io::Error::from_raw_os_error(-result)))
    }
}

/// The parts of `range` by buffers of `buffer_bytes`, as the kernel wants to be told.
fn vectors(buffer: &mut Buffer, range: Range<usize>, buffer_bytes: usize) -> Vec<libc::iovec> {
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

/// Whether a call failed for a reason that passes: a signal, or a kernel that is short of something for the moment.
fn is_passing(code: Option<i32>) -> bool {
    matches!(code, Some(libc::EINTR | libc::EAGAIN | libc::EBUSY))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Plan =
        Plan { buffer_bytes: 1024, buffers: 4, depth: 1, entries: 1, vectored: true, registered: false };

    fn slot(range: Range<u64>) -> Slot {
        Slot { range, ..Slot::new(&PLAN).unwrap() }
    }

    #[test]
    fn a_short_read_is_continued_where_it_stopped() {
        let mut slot = slot(4096..8192);
        assert!(!slot.takes(1500, 1).unwrap());
        assert_eq!(slot.lacking(1), 1500..4096);
        let lens =
            vectors(&mut slot.buffer, 1500..4096, 1024).iter().map(|part| part.iov_len).collect::<Vec<_>>();
        assert_eq!(lens, [548, 1024, 1024]);
        assert!(slot.takes(2596, 1).unwrap());
    }

    #[test]
    fn the_end_of_the_file_fills_a_slot() {
        let mut shrunk = slot(4096..8192);
        assert!(shrunk.takes(0, 1).unwrap());
        let mut last = slot(4096..5000);
        assert_eq!(last.lacking(512), 0..1024);
        assert!(last.takes(904, 512).unwrap());
    }

    #[test]
    fn what_passes_is_tried_again_and_what_does_not_tells_where() {
        let mut slot = slot(4096..8192);
        assert!(!slot.takes(-libc::EINTR, 1).unwrap());
        assert!(!slot.takes(-libc::EAGAIN, 1).unwrap());
        assert!(!slot.takes(1000, 1).unwrap());
        assert!(slot.takes(-libc::EIO, 1).unwrap_err().to_string().ends_with("at byte 5096"));
    }

    #[test]
    fn the_rest_of_a_short_read_lands_behind_it() {
        let bytes: Vec<u8> = (0..4096u32).map(|i| (i / 7) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, &bytes).unwrap();
        for (vectored, registered) in [(false, false), (false, true), (true, false)] {
            let plan = Plan { vectored, registered, ..PLAN };
            let ring = match IoUring::new(1) {
                Ok(ring) => ring,
                Err(cause) => return eprintln!("SKIPPED: io_uring: {cause}"),
            };
            let mut flight = Flight::prepare(ring, &file, &plan, 1, &Segments::new(4096, 4096)).unwrap();
            (flight.slots[0].range, flight.slots[0].filled) = (0..4096, 1500);
            flight.launch(0).unwrap();
            flight.wait().unwrap();
            assert_eq!(flight.landed(), Some((0, 2596)));
            assert_eq!(flight.slots[0].buffer[1500..4096], bytes[1500..]);
        }
    }
}
