//! The method `places-io_uring`: reads of blocks in a ring, `depth` of them in flight,
//! through the page cache or past it. The settings decide whether the file and the buffers are
//! registered, and whether completions are polled for.
//!
//! The latency of a read is the time from the submission of its batch to the return of the call
//! that found it complete. The kernel writes into a slot's buffer until its read has completed. A
//! value of [`ReadsInFlight`] waits for this when it is dropped.

use super::super::{Fault, Method, io_uring as ring_of_blocks};
use super::{
    BlocksAnswer, MERGE, PLACES_PREAD, PlacesFile, PlacesReader, PlacesTarget, Stretch, Stretches,
    block_fault,
};
use crate::scan::Visit;
use crate::setting::{Param, SettingError};
use io_uring::types::{Fd, Fixed};
use io_uring::{IoUring, opcode, squeue};
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Cache, Places};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::time::Instant;

/// Number of reads that one call submits.
const BATCH: Param = Param::new("batch", 1, 1, 4096);
const DEPTH: Param = Param::new("depth", 16, 1, 4096);
const DIRECT: Param = Param::switch("direct");
const POLLED: Param = Param::switch("polled");
const REGISTERED: Param = Param::switch("registered");

/// Memory of all reads in flight. With long stretches, fewer reads are in flight.
const IN_FLIGHT_BYTES_MAX: usize = 1 << 30;

/// Largest number of bytes that one read may request.
const READ_BYTES_MAX: usize = 1 << 30;

pub(crate) const PLACES_IO_URING: Method = Method {
    name: "places-io_uring",
    about: "reads of the blocks in an io_uring, `depth` of them in flight (and at most 1 GiB), submitted by `batch`; with \
            merge, of blocks with at most this many bytes between them; with polled, completions are not waited for but \
            looked for (IORING_SETUP_IOPOLL)",
    cache: Cache::ByParam,
    params: &[BATCH, DEPTH, DIRECT, MERGE, POLLED, REGISTERED],
    build: |settings| {
        let settings = RingSettings {
            batch: settings.size(&BATCH),
            depth: settings.size(&DEPTH),
            merge_bytes: settings.get(&MERGE),
            is_direct: settings.is_on(&DIRECT),
            is_polled: settings.is_on(&POLLED),
            is_registered: settings.is_on(&REGISTERED),
        };
        if settings.is_polled && !settings.is_direct {
            return Err(SettingError::Conflict("polled needs direct: only devices are polled".to_owned()));
        }
        Ok(Box::new(PlacesTarget::new(Ring { settings })))
    },
    available: ring_of_blocks::available,
    ..PLACES_PREAD
};

#[derive(Debug, Clone, Copy)]
pub(super) struct RingSettings {
    pub(super) batch: usize,
    pub(super) depth: usize,
    pub(super) merge_bytes: u64,
    pub(super) is_direct: bool,
    pub(super) is_polled: bool,
    pub(super) is_registered: bool,
}

pub(super) struct Ring {
    pub(super) settings: RingSettings,
}

impl PlacesReader for Ring {
    fn read(&mut self, places: &Places, visit: Visit) -> Result<BlocksAnswer, Fault> {
        let is_direct = self.settings.is_direct;
        let opened =
            if is_direct { PlacesFile::open_direct(places)? } else { PlacesFile::open_cached(places)? };
        let stretches = Stretches::new(places, opened.unit_bytes, self.settings.merge_bytes);
        let mut reads = ReadsInFlight::prepare(&stretches, &opened.file, self.settings)?;
        let mut all = BlocksAnswer::default();
        reads.start_all()?;
        while reads.in_flight > 0 {
            reads.wait()?;
            while let Some(Completion { slot, result, seen }) = reads.next_completion() {
                if reads.is_complete(slot, result)? {
                    let Slot { stretch, begun, .. } = reads.slots[slot];
                    let took = seen.duration_since(begun);
                    all.visit_stretch(&stretches, &stretch, reads.bytes_of(slot), took, visit);
                    reads.start_next(slot)?;
                } else {
                    reads.queue(slot)?;
                }
                reads.submit_full_batch()?;
            }
        }
        Ok(all)
    }
}

struct ReadsInFlight<'a> {
    // Dropped before the memory: a ring holds on to registered buffers.
    ring: IoUring,
    settings: RingSettings,
    file: &'a File,
    stretches: &'a Stretches<'a>,
    /// Size of the memory of each slot.
    slot_bytes: usize,
    memory: Buffer,
    slots: Vec<Slot>,
    /// Slots whose reads are queued and not yet submitted.
    queued: Vec<usize>,
    /// Completed reads that are not yet visited.
    completed: VecDeque<Completion>,
    /// Index of the stretch that is read next.
    next: usize,
    in_flight: usize,
}

#[derive(Clone, Copy)]
struct Completion {
    slot: usize,
    result: i32,
    /// The time at which the call returned that found the read complete. A read of cached bytes
    /// completes in the call that submits it.
    seen: Instant,
}

#[derive(Clone, Copy)]
struct Slot {
    stretch: Stretch,
    begun: Instant,
    /// Number of bytes of the stretch that were read.
    filled: usize,
}

impl<'a> ReadsInFlight<'a> {
    fn prepare(
        stretches: &'a Stretches<'a>,
        file: &'a File,
        settings: RingSettings,
    ) -> Result<ReadsInFlight<'a>, Fault> {
        let places = stretches.places();
        // The offset -1 would mean the current position of the file.
        if let Some(&beyond) = places.offsets.iter().find(|offset| i64::try_from(**offset).is_err()) {
            return Err(block_fault(places, beyond, ErrorKind::InvalidInput.into()));
        }
        let slot_bytes = stretches.longest_bytes()?;
        let slots_max = IN_FLIGHT_BYTES_MAX / slot_bytes.max(1);
        let depth = settings.depth.min(stretches.len()).min(slots_max).max(1);
        let memory = Buffer::huge(slot_bytes * depth)?;
        let mut builder = IoUring::builder();
        if settings.is_polled {
            builder.setup_iopoll();
        }
        let entries = u32::try_from(depth.next_power_of_two()).expect("a depth is at most 4096");
        let ring = builder.build(entries).map_err(|cause| no_ring(settings, cause))?;
        let slots = vec![Slot { stretch: Stretch::default(), begun: Instant::now(), filled: 0 }; depth];
        let queued = Vec::with_capacity(depth);
        let completed = VecDeque::with_capacity(depth);
        let mut reads = ReadsInFlight {
            ring,
            settings,
            file,
            stretches,
            slot_bytes,
            memory,
            slots,
            queued,
            completed,
            next: 0,
            in_flight: 0,
        };
        if settings.is_registered {
            reads.register()?;
        }
        Ok(reads)
    }

    /// Registers the file, and the buffer of each slot under the slot's index.
    fn register(&mut self) -> Result<(), Fault> {
        let vector =
            |slot: &mut [u8]| libc::iovec { iov_base: slot.as_mut_ptr().cast(), iov_len: slot.len() };
        let used = self.slot_bytes * self.slots.len();
        let vectors: Vec<libc::iovec> =
            self.memory[..used].chunks_mut(self.slot_bytes.max(1)).map(vector).collect();
        let submitter = self.ring.submitter();
        // SAFETY: the memory is dropped after the ring.
        unsafe { submitter.register_buffers(&vectors) }
            .and_then(|()| submitter.register_files(&[self.file.as_raw_fd()]))
            .map_err(|cause| Fault::Unavailable(format!("io_uring: registered buffers (ulimit -l): {cause}")))
    }

    fn start_all(&mut self) -> Result<(), Fault> {
        (0..self.slots.len()).try_for_each(|slot| self.start_next(slot))
    }

    /// Queues the read of the next stretch in a slot, if one is left.
    fn start_next(&mut self, slot: usize) -> Result<(), Fault> {
        if self.next == self.stretches.len() {
            return Ok(());
        }
        (self.slots[slot].stretch, self.slots[slot].filled) = (self.stretches.get(self.next)?, 0);
        self.next += 1;
        self.queue(slot)
    }

    /// Queues a read of the bytes that a slot still lacks.
    fn queue(&mut self, slot: usize) -> Result<(), Fault> {
        let entry = self.entry(slot);
        // SAFETY: the slot's memory is not accessed before the read has completed, for which `drop`
        // waits.
        unsafe { self.ring.submission().push(&entry) }.map_err(io::Error::other)?;
        self.queued.push(slot);
        self.in_flight += 1;
        Ok(())
    }

    fn entry(&mut self, slot: usize) -> squeue::Entry {
        let Slot { stretch, filled, .. } = self.slots[slot];
        let offset = stretch.offset + filled as u64;
        let start = slot * self.slot_bytes;
        let lacking = &mut self.memory[start + filled..start + stretch.bytes];
        let (pointer, length) = (lacking.as_mut_ptr(), lacking.len().min(READ_BYTES_MAX) as u32);
        let entry = if self.settings.is_registered {
            opcode::ReadFixed::new(Fixed(0), pointer, length, slot as u16).offset(offset).build()
        } else {
            opcode::Read::new(Fd(self.file.as_raw_fd()), pointer, length).offset(offset).build()
        };
        entry.user_data(slot as u64)
    }

    /// Submits the queued reads as soon as they are a whole batch. Otherwise the device would have
    /// less to do while other blocks are visited.
    fn submit_full_batch(&mut self) -> Result<(), Fault> {
        if self.queued.len() < self.settings.batch {
            return Ok(());
        }
        self.begin_queued();
        self.enter(0)
    }

    /// Submits the queued reads, and waits until a read has completed.
    fn wait(&mut self) -> Result<(), Fault> {
        self.begin_queued();
        self.enter(1)
    }

    /// Sets the begin of the queued reads to now.
    fn begin_queued(&mut self) {
        let now = Instant::now();
        for slot in self.queued.drain(..) {
            // A continued read has already begun.
            if self.slots[slot].filled == 0 {
                self.slots[slot].begun = now;
            }
        }
    }

    /// Submits the queued reads, waits for `wanted` completions, and takes all that exist.
    fn enter(&mut self, wanted: usize) -> Result<(), Fault> {
        loop {
            match self.ring.submit_and_wait(wanted) {
                Ok(_) => break,
                Err(cause) if is_passing(&cause) => {}
                Err(cause) => return Err(cause.into()),
            }
        }
        let seen = Instant::now();
        let found = self.ring.completion().map(|entry| Completion {
            slot: entry.user_data() as usize,
            result: entry.result(),
            seen,
        });
        self.completed.extend(found);
        Ok(())
    }

    fn next_completion(&mut self) -> Option<Completion> {
        let completion = self.completed.pop_front()?;
        self.in_flight -= 1;
        Some(completion)
    }

    /// Whether the blocks of a slot's stretch are complete.
    fn is_complete(&mut self, slot: usize, result: i32) -> Result<bool, Fault> {
        let (places, stretch) = (self.stretches.places(), self.slots[slot].stretch);
        let offset = places.offsets[stretch.blocks().start];
        match usize::try_from(result) {
            Ok(0) => Err(block_fault(places, offset, ErrorKind::UnexpectedEof.into())),
            Ok(count) => {
                self.slots[slot].filled += count;
                Ok(self.slots[slot].filled >= stretch.needed_bytes)
            }
            Err(_) => match io::Error::from_raw_os_error(-result) {
                cause if is_passing(&cause) => Ok(false),
                cause if self.settings.is_polled && cause.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                    Err(Fault::Unavailable("polled: this device has no queues that are polled".to_owned()))
                }
                cause => Err(block_fault(places, offset, cause)),
            },
        }
    }

    /// The bytes of a slot whose read has completed.
    fn bytes_of(&self, slot: usize) -> &[u8] {
        &self.memory[slot * self.slot_bytes..][..self.slot_bytes]
    }
}

impl Drop for ReadsInFlight<'_> {
    /// Waits until the kernel no longer writes into the buffers.
    fn drop(&mut self) {
        while self.next_completion().is_some() {}
        while self.in_flight > 0 {
            if self.wait().is_err() {
                // Memory that the kernel may still write into must stay in place.
                std::mem::forget(std::mem::take(&mut self.memory));
                return;
            }
            while self.next_completion().is_some() {}
        }
    }
}

fn no_ring(settings: RingSettings, cause: io::Error) -> Fault {
    if settings.is_polled {
        return Fault::Unavailable(format!("io_uring: the kernel makes no ring that is polled: {cause}"));
    }
    cause.into()
}

/// Whether a call failed for a temporary reason: a signal, or a resource that the kernel lacks at
/// present.
fn is_passing(cause: &io::Error) -> bool {
    matches!(cause.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY))
}
