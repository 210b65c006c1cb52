//! Reads in flight: slots with a buffer each, launched into a ring, landed, handed on, launched
//! again.
//!
//! The kernel writes into a slot's buffer from launch to landing. Nobody looks at the buffer
//! meanwhile, and a flight that ends early, by an error or a panic, first waits until every read
//! has landed.

use super::Fault;
use crate::buffer::Buffer;
use crate::sink::Sink;
use io_uring::{IoUring, opcode, squeue, types};
use std::io;
use std::mem;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The settings of a flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Bytes of one buffer.
    pub(crate) buffer_bytes: usize,
    /// Buffers that one read fills.
    pub(crate) buffers: usize,
    /// Reads in flight.
    pub(crate) depth: usize,
    /// Entries of the ring; at least `depth`.
    pub(crate) entries: u32,
    /// Whether a read names its buffers one by one (readv).
    pub(crate) vectored: bool,
    /// Whether the kernel is told of the buffers once, before the first read.
    pub(crate) registered: Registered,
}

/// Whether a ring's kernel knows the buffers beforehand, which spares it to look them up with every
/// read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Registered {
    No,
    /// Unless it allows no more memory to be locked.
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
    /// What lengths must be multiples of (1 where anything goes).
    pub(crate) block_bytes: u64,
    /// The same file opened in a plainer way, for a kernel that refuses the first.
    pub(crate) otherwise: Option<BorrowedFd<'a>>,
}

/// In which order a flight hands on what has landed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// As it lands.
    Any,
    /// As it was launched.
    Launched,
}

/// Work that can be done while reads are in flight; tells whether there was any.
pub(crate) type IdleWork<'w, S> = &'w mut dyn FnMut(&mut S) -> Result<bool, Fault>;

/// One read and the memory it fills.
struct Slot<'a> {
    /// Its part of the flight's memory.
    part: Range<usize>,
    /// The parts of that part that a vectored read fills; the kernel may look at it until the read
    /// has landed.
    vector: Vec<libc::iovec>,
    errand: Option<RingJob<'a>>,
    filled: usize,
    full: bool,
}

/// Everything that is in the air.
pub(crate) struct InFlight<'a> {
    // Dropped before the slots: a ring holds on to registered buffers.
    ring: IoUring,
    slots: Vec<Slot<'a>>,
    memory: Buffer,
    in_flight: usize,
    plan: Plan,
}

impl<'a> InFlight<'a> {
    /// Takes the buffers, as many as there is use for, and tells the kernel of them if so planned.
    pub(crate) fn prepare(ring: IoUring, plan: &Plan, errands: u64) -> Result<InFlight<'a>, Fault> {
        let used = plan.depth.min(usize::try_from(errands).unwrap_or(usize::MAX));
        let part_bytes = plan.buffer_bytes * plan.buffers;
        let slots = (0..used).map(|index| Slot::new(index, part_bytes)).collect();
        let memory = Buffer::huge(part_bytes * used.max(1))?;
        let mut flight = InFlight { ring, slots, memory, in_flight: 0, plan: *plan };
        if plan.registered != Registered::No && used > 0 {
            match flight.register() {
                Err(_) if plan.registered == Registered::IfAllowed => flight.plan.registered = Registered::No,
                registered => registered?,
            }
        }
        Ok(flight)
    }

    /// One registered buffer for each slot, under the slot's number.
    fn register(&mut self) -> Result<(), Fault> {
        let whole = |slot: &Slot<'_>| {
            let part = &mut self.memory[slot.part.clone()];
            libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: part.len() }
        };
        let vectors: Vec<libc::iovec> = self.slots.iter().map(whole).collect();
        // SAFETY: the flight's memory is dropped after the ring.
        unsafe { self.ring.submitter().register_buffers(&vectors) }.map_err(|cause| {
            Fault::Unavailable(format!("io_uring: registered buffers (limited by ulimit -l): {cause}"))
        })
    }

    /// Runs all errands.
    pub(crate) fn run<S: Sink>(
        mut self,
        order: Order,
        errands: &mut dyn FnMut() -> Option<RingJob<'a>>,
        sink: &mut S,
        mut meanwhile: Option<IdleWork<'_, S>>,
    ) -> Result<(), Fault> {
        for index in 0..self.slots.len() {
            self.launch_next(index, errands)?;
        }
        let mut next = 0;
        while self.in_flight > 0 {
            self.wait_or_work(sink, &mut meanwhile)?;
            while let Some((index, result)) = self.landed() {
                if !self.slots[index].takes(result)? {
                    self.launch(index)?;
                    continue;
                }
                if order == Order::Any {
                    next = index;
                }
                while self.slots[next].full {
                    self.slots[next].hand_on(&self.memory, self.plan.buffer_bytes, sink);
                    self.launch_next(next, errands)?;
                    next = (next + 1) % self.slots.len();
                }
            }
        }
        Ok(())
    }

    /// Gives the slot the next errand, if there is one.
    fn launch_next(
        &mut self,
        index: usize,
        errands: &mut dyn FnMut() -> Option<RingJob<'a>>,
    ) -> Result<(), Fault> {
        let slot = &mut self.slots[index];
        (slot.errand, slot.filled, slot.full) = (errands(), 0, false);
        if slot.errand.is_some() { self.launch(index) } else { Ok(()) }
    }

    /// Puts a read of what the slot still lacks into the ring.
    fn launch(&mut self, index: usize) -> Result<(), Fault> {
        let Some(entry) = self.slots[index].entry(&mut self.memory, index, &self.plan) else { return Ok(()) };
        // SAFETY: the slot's part of the memory and its vector stay untouched until the read has
        // landed; `drop` waits for that.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(index as u64)) };
        pushed.map_err(|_| io::Error::other("io_uring: the ring has no room for a read"))?;
        self.in_flight += 1;
        Ok(())
    }

    /// Does something else while reads are in flight, or waits if there is nothing else.
    fn wait_or_work<S>(&self, sink: &mut S, meanwhile: &mut Option<IdleWork<'_, S>>) -> Result<(), Fault> {
        if let Some(work) = meanwhile {
            self.submit(0)?;
            if work(sink)? {
                return Ok(());
            }
            *meanwhile = None;
        }
        Ok(self.submit(1)?)
    }

    /// Submits what was launched, and waits until so many reads have landed.
    fn submit(&self, wanted: usize) -> io::Result<()> {
        loop {
            match self.ring.submit_and_wait(wanted) {
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

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.submit(1).is_err() {
                // The kernel may write into the buffers at any time from now on: they must never be
                // used again.
                mem::forget((mem::take(&mut self.slots), mem::take(&mut self.memory)));
                return;
            }
            while self.landed().is_some() {}
        }
    }
}

impl<'a> Slot<'a> {
    fn new(index: usize, part_bytes: usize) -> Slot<'a> {
        let part = index * part_bytes..(index + 1) * part_bytes;
        Slot { part, vector: Vec::new(), errand: None, filled: 0, full: false }
    }

    fn entry(&mut self, memory: &mut Buffer, index: usize, plan: &Plan) -> Option<squeue::Entry> {
        let errand = self.errand.as_ref()?;
        let buffer = &mut memory[self.part.clone()];
        let lacking = self.filled..errand.asked_bytes();
        let offset = errand.range.start + lacking.start as u64;
        let fd = types::Fd(errand.file.as_raw_fd());
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

    /// Takes in what the kernel said. Whether the slot is as full as it will be: a read may be
    /// short and is then continued; one of no bytes, or past the cache one that ends off a block,
    /// has met the end of the file.
    fn takes(&mut self, result: i32) -> Result<bool, Fault> {
        let errand = self.errand.as_mut().expect("what has landed was launched for an errand");
        if let Ok(count) = usize::try_from(result) {
            self.filled += count;
            let filled = self.filled as u64;
            let complete = filled >= errand.range.end - errand.range.start;
            self.full = complete || count == 0 || !filled.is_multiple_of(errand.block_bytes);
            return Ok(self.full);
        }
        if is_passing(Some(-result)) {
            return Ok(false);
        }
        if let (libc::EINVAL | libc::EOPNOTSUPP, Some(file)) = (-result, errand.otherwise.take()) {
            (errand.file, errand.block_bytes) = (file, 1);
            return Ok(false);
        }
        let at = errand.range.start + self.filled as u64;
        Err(Fault::at(at, io::Error::from_raw_os_error(-result)))
    }

    /// Hands on what the slot holds, buffer by buffer.
    fn hand_on(&mut self, memory: &Buffer, buffer_bytes: usize, sink: &mut impl Sink) {
        self.full = false;
        let Some(errand) = &self.errand else { return };
        let mut at = errand.range.start;
        for piece in memory[self.part.clone()][..self.filled].chunks(buffer_bytes) {
            sink.take(at, piece);
            at += piece.len() as u64;
        }
    }
}

impl RingJob<'_> {
    /// What is asked for. Past the cache only whole blocks can be.
    fn asked_bytes(&self) -> usize {
        (self.range.end - self.range.start).next_multiple_of(self.block_bytes) as usize
    }
}

/// The parts of `range` by buffers of `buffer_bytes`, as the kernel wants to be told.
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

/// Whether a call failed for a reason that passes: a signal, or a kernel that is short of something
/// for the moment.
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

    fn errand(file: &File, range: Range<u64>, block_bytes: u64) -> RingJob<'_> {
        RingJob { range, file: file.as_fd(), block_bytes, otherwise: None }
    }

    fn slot(file: &File, range: Range<u64>, block_bytes: u64) -> Slot<'_> {
        Slot { errand: Some(errand(file, range, block_bytes)), ..Slot::new(0, 4096) }
    }

    fn nothing() -> File {
        File::open("/dev/null").unwrap()
    }

    #[test]
    fn a_short_read_is_continued_where_it_stopped() {
        let file = nothing();
        let mut slot = slot(&file, 4096..8192, 1);
        assert!(!slot.takes(1500).unwrap());
        assert_eq!(slot.filled, 1500);
        let lens =
            vectors(&mut [0; 4096], 1500..4096, 1024).iter().map(|part| part.iov_len).collect::<Vec<_>>();
        assert_eq!(lens, [548, 1024, 1024]);
        assert!(slot.takes(2596).unwrap());
    }

    #[test]
    fn the_end_of_the_file_fills_a_slot() {
        let file = nothing();
        assert!(slot(&file, 4096..8192, 1).takes(0).unwrap());
        let mut last = slot(&file, 4096..5000, 512);
        assert_eq!(last.errand.as_ref().unwrap().asked_bytes(), 1024);
        assert!(last.takes(904).unwrap());
    }

    #[test]
    fn what_passes_is_tried_again_and_what_does_not_tells_where() {
        let file = nothing();
        let mut slot = slot(&file, 4096..8192, 1);
        assert!(!slot.takes(-libc::EINTR).unwrap());
        assert!(!slot.takes(-libc::EAGAIN).unwrap());
        assert!(!slot.takes(1000).unwrap());
        assert!(slot.takes(-libc::EIO).unwrap_err().to_string().ends_with("at byte 5096"));
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
            let mut flight = InFlight::prepare(ring, &plan, 1).unwrap();
            (flight.slots[0].errand, flight.slots[0].filled) = (Some(errand(&file, 0..4096, 1)), 1500);
            flight.launch(0).unwrap();
            flight.submit(1).unwrap();
            assert_eq!(flight.landed(), Some((0, 2596)));
            assert_eq!(flight.memory[1500..4096], bytes[1500..]);
        }
    }

    #[test]
    fn what_was_launched_first_is_handed_on_first_and_work_is_done_meanwhile() {
        let bytes: Vec<u8> = (0..64 * 1024u32).map(|i| (i / 11) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, &bytes).unwrap();
        let plan = Plan { buffers: 1, depth: 5, entries: 8, vectored: false, ..PLAN };
        let ring = match IoUring::new(8) {
            Ok(ring) => ring,
            Err(cause) => return eprintln!("SKIPPED: io_uring: {cause}"),
        };
        let mut starts = (0..bytes.len() as u64).step_by(1024);
        let mut errands = || starts.next().map(|start| errand(&file, start..start + 1024, 1));
        let (seen, worked) = (std::cell::RefCell::new(Vec::new()), std::cell::Cell::new(0));
        let mut sink = |at: u64, piece: &[u8]| {
            assert_eq!(at, seen.borrow().len() as u64);
            seen.borrow_mut().extend_from_slice(piece);
        };
        let mut meanwhile = |_: &mut _| {
            worked.set(worked.get() + 1);
            Ok(worked.get() < 3)
        };
        let flight = InFlight::prepare(ring, &plan, 64).unwrap();
        flight.run(Order::Launched, &mut errands, &mut sink, Some(&mut meanwhile)).unwrap();
        assert_eq!((seen.take(), worked.get()), (bytes, 3));
    }

    #[test]
    fn what_the_kernel_refuses_is_read_the_plainer_way() {
        let (file, plain) = (nothing(), nothing());
        let mut slot = slot(&file, 4096..8192, 512);
        slot.errand.as_mut().unwrap().otherwise = Some(plain.as_fd());
        assert!(!slot.takes(-libc::EINVAL).unwrap());
        let errand = slot.errand.clone().unwrap();
        assert_eq!((errand.file.as_raw_fd(), errand.block_bytes), (plain.as_raw_fd(), 1));
        assert!(slot.takes(-libc::EINVAL).is_err());
    }
}
