//! Files in flight through an io_uring: the open and the first read of each file are linked, with
//! many files in flight on one thread. No descriptor is installed. An open file is in the ring's
//! own table, where the next file takes its entry.
//!
//! The kernel writes into a slot's memory, and reads its path, until the slot's last operation has
//! completed. Neither is accessed in that time. After an error or a panic, `drop` first waits for
//! the kernel. [`Files`](super::Files) uses this module where it is the best choice. A program that
//! wants to choose sizes and depth itself may use the module, too.

#[cfg(test)]
mod tests;

use super::one::{Content, OneOfFiles};
use super::{FileError, FilePaths};
use crate::ReadError;
use crate::buffer::Buffer;
use crate::in_flight::is_passing;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{DestinationSlot, Fd, Fixed};
use io_uring::{IoUring, opcode};
use std::ffi::CString;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{fmt, mem};

/// Number of linked operations of a file: the open and the first read.
const OPERATIONS: u32 = 2;

/// The largest file that a ring reads with one read. With a limit of four times this size reading
/// takes longer, because the buffers of all files in flight exceed the processor's cache.
pub(super) const SMALL_BYTES: usize = 16 << 10;

/// The plan for files of a few pages.
pub(super) const SMALL_FILES: Plan = Plan { buffer_bytes: SMALL_BYTES, depth: 64, direct: false };

/// Reads past the cache begin at multiples of this: a multiple of the blocks of common devices.
const BLOCK_BYTES: usize = 4096;

/// The settings of the reads.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Buffer size of each file in flight. A longer file is read piece by piece.
    pub buffer_bytes: usize,
    /// Files in flight at most.
    pub depth: u16,
    /// Whether files are read past the page cache.
    pub direct: bool,
}

/// A ring with a table of open files, in which nothing is in flight.
///
/// Only this module has the ring's queues. A completion of a foreign operation would be taken for
/// one of a slot, whose memory would then be visited while the kernel writes into it.
pub struct Ring(IoUring);

impl Ring {
    /// Makes a ring with a table for this number of open files.
    ///
    /// # Errors
    /// If the kernel allows no ring, or none with such a table (before Linux 5.19).
    pub fn new(depth: u16) -> io::Result<Ring> {
        let ring = IoUring::new((u32::from(depth.max(1)) * OPERATIONS).next_power_of_two())?;
        let no_table = |cause: io::Error| {
            io::Error::new(cause.kind(), format!("io_uring: no table of files (Linux 5.19): {cause}"))
        };
        ring.submitter().register_files_sparse(depth.max(1).into()).map_err(no_table)?;
        Ok(Ring(ring))
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").finish_non_exhaustive()
    }
}

/// All files in flight, and their memory.
pub struct FilesInFlight {
    ring: IoUring,
    plan: Plan,
    slots: Vec<Slot>,
    memory: Buffer,
    /// Number of slots whose operations have not all completed.
    in_flight: usize,
    /// Slots whose operations have completed and whose files were not yet visited.
    complete: Vec<u16>,
}

/// One file in flight.
#[derive(Default)]
struct Slot {
    /// The slot's part of the memory.
    part: Range<usize>,
    path: CString,
    index: usize,
    /// The error of opening, or 0.
    open_error: i32,
    /// The error of reading, or 0.
    read_error: i32,
    /// The offset in the file of the first byte in the part.
    at: u64,
    /// Number of bytes of the file in the part.
    filled: usize,
    /// Whether the file ends after the bytes in the part.
    is_at_end: bool,
    /// Value of `filled` when a read past the cache last ended within a block.
    ended_at: usize,
    /// Number of operations that have not completed. Until it is 0 the kernel may access the part
    /// and the path.
    pending: u32,
}

/// The operation of a slot that has completed.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Open = 0,
    Read = 1,
}

/// A file in flight whose first piece was read.
pub(super) struct StartedFile<'f> {
    files: &'f mut FilesInFlight,
    slot: u16,
    /// Whether the slot's part holds a piece that was not yet visited.
    is_filled: bool,
}

impl FilesInFlight {
    /// Allocates the buffers, at most one for each file, for a ring of the plan's depth.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn prepare(ring: Ring, plan: &Plan, files: usize) -> io::Result<FilesInFlight> {
        let depth = usize::from(plan.depth).min(files).max(1);
        let slots = (0..depth).map(|number| Slot::new(number, plan)).collect();
        let memory = Buffer::new(plan.buffer_bytes * depth)?;
        Ok(FilesInFlight { ring: ring.0, plan: *plan, slots, memory, in_flight: 0, complete: Vec::new() })
    }

    /// Opens each file whose index `next` returns, and has it visited. After an error no further
    /// file is opened.
    ///
    /// # Errors
    /// If a file cannot be opened, or the first error of a visit. The file is named.
    pub fn run<P: FilePaths + ?Sized>(
        mut self,
        paths: &P,
        numbers: &mut dyn Iterator<Item = usize>,
        visit: &mut dyn FnMut(&mut OneOfFiles<'_>) -> Result<(), ReadError>,
    ) -> Result<(), FileError> {
        for slot in 0..self.slots.len() as u16 {
            self.start_next(slot, paths, numbers)?;
        }
        while let Some(slot) = self.wait_for_one()? {
            let Slot { index, open_error, .. } = self.slots[usize::from(slot)];
            let path = paths.path(index);
            if open_error != 0 {
                let cause = io::Error::from_raw_os_error(open_error);
                return Err(FileError::new(path, cause.into()));
            }
            let mut read = || {
                let content = Content::InFlight(StartedFile { files: &mut self, slot, is_filled: true });
                visit(&mut OneOfFiles::new(index, path, content))
            };
            read().map_err(|cause| FileError::new(path, cause))?;
            self.start_next(slot, paths, numbers)?;
        }
        Ok(())
    }

    /// A slot that the kernel does not use. After a failed wait the kernel may still use it, if a
    /// visit did not pass on the error of the wait.
    fn own_slot(&mut self, slot: u16) -> io::Result<&mut Slot> {
        let slot = &mut self.slots[usize::from(slot)];
        match slot.pending {
            0 => Ok(slot),
            _ => Err(io::Error::other("io_uring: an earlier read of the file has not completed")),
        }
    }

    /// Starts the next file in a slot, if one is left.
    fn start_next<P: FilePaths + ?Sized>(
        &mut self,
        slot: u16,
        paths: &P,
        numbers: &mut dyn Iterator<Item = usize>,
    ) -> Result<(), FileError> {
        let Some(index) = numbers.next() else { return Ok(()) };
        let path = paths.path(index);
        self.start(slot, index, path).map_err(|cause| FileError::new(path, cause.into()))
    }

    fn start(&mut self, slot: u16, index: usize, path: &Path) -> io::Result<()> {
        let file = self.own_slot(slot)?;
        file.path = CString::new(path.as_os_str().as_bytes())?;
        file.index = index;
        file.begin(0);
        let file = &self.slots[usize::from(slot)];
        let entries = [file.open_entry(slot, &self.plan), file.read_entry(slot, &mut self.memory)];
        self.push(slot, &entries)
    }

    /// Queues operations of a slot without pending operations.
    fn push(&mut self, slot: u16, entries: &[Entry]) -> io::Result<()> {
        // SAFETY: the slot has the path and its part of the memory for itself. Neither moves nor is
        // accessed before the slot's operations have completed, for which `drop` waits.
        unsafe { self.ring.submission().push_multiple(entries) }.map_err(io::Error::other)?;
        self.slots[usize::from(slot)].pending = entries.len() as u32;
        self.in_flight += 1;
        Ok(())
    }

    /// Waits until all operations of one file have completed. Returns the slot, or `None` after the
    /// last.
    fn wait_for_one(&mut self) -> io::Result<Option<u16>> {
        loop {
            let slot = self.complete.pop();
            if slot.is_some() || self.in_flight == 0 {
                return Ok(slot);
            }
            self.wait()?;
        }
    }

    /// Waits until an operation has completed.
    fn wait(&mut self) -> io::Result<()> {
        match self.ring.submit_and_wait(1) {
            Err(error) if !is_passing(error.raw_os_error()) => Err(error),
            _ => self.take_completions(),
        }
    }

    fn take_completions(&mut self) -> io::Result<()> {
        let mut unfilled = Vec::new();
        for completion in self.ring.completion() {
            let number = (completion.user_data() >> 1) as u16;
            let slot = &mut self.slots[usize::from(number)];
            slot.pending -= 1;
            match completion.user_data() & 1 == Operation::Open as u64 {
                true => slot.open_error = -completion.result().min(0),
                false => slot.take_read(completion.result()),
            }
            if slot.pending > 0 {
                continue;
            }
            self.in_flight -= 1;
            let list = if slot.is_complete() { &mut self.complete } else { &mut unfilled };
            list.push(number);
        }
        unfilled.into_iter().try_for_each(|slot| self.read(slot))
    }

    /// Queues a read into the free rest of the slot's part of the memory.
    fn read(&mut self, slot: u16) -> io::Result<()> {
        let entry = self.slots[usize::from(slot)].read_entry(slot, &mut self.memory);
        self.push(slot, &[entry])
    }

    /// Fills a slot with the next piece of its file, and waits for it while operations of other
    /// slots complete.
    fn fill(&mut self, slot: u16) -> io::Result<()> {
        let file = self.own_slot(slot)?;
        file.begin(file.at + file.filled as u64);
        self.read(slot)?;
        while !self.complete.contains(&slot) {
            self.wait()?;
        }
        self.complete.retain(|other| *other != slot);
        Ok(())
    }
}

impl Slot {
    fn new(number: usize, plan: &Plan) -> Slot {
        let part = number * plan.buffer_bytes..(number + 1) * plan.buffer_bytes;
        Slot { part, ..Slot::default() }
    }

    /// Sets the offset in the file from which the part is filled. The part is empty then.
    fn begin(&mut self, at: u64) {
        (self.read_error, self.at, self.filled, self.is_at_end, self.ended_at) = (0, at, 0, false, 0);
    }

    fn open_entry(&self, number: u16, plan: &Plan) -> Entry {
        let place = DestinationSlot::try_from_slot_target(number.into()).expect("a number of 16 bits is one");
        let flags = libc::O_RDONLY | if plan.direct { libc::O_DIRECT } else { 0 };
        let open = opcode::OpenAt::new(Fd(libc::AT_FDCWD), self.path.as_ptr());
        let open = open.file_index(Some(place)).flags(flags).build();
        open.flags(Flags::IO_LINK).user_data(user_data(number, Operation::Open))
    }

    /// A read into the free rest of the part. It names the offset, because a ring does not move the
    /// file's position where reads complete later.
    fn read_entry(&self, number: u16, memory: &mut Buffer) -> Entry {
        let room = &mut memory[self.part.clone()][self.filled..];
        let read = opcode::Read::new(Fixed(number.into()), room.as_mut_ptr(), room.len() as u32);
        let at = self.at + self.filled as u64;
        read.offset(at).build().user_data(user_data(number, Operation::Read))
    }

    /// Takes the result of a read. A result of 0 bytes means the end of the file. After a short
    /// read more bytes may follow, in files of the kernel or past the cache. Past the cache a file
    /// system may refuse to continue within a block, so that block is read again. If the second
    /// read returns no more, the file ends there.
    fn take_read(&mut self, result: i32) {
        match usize::try_from(result) {
            Ok(count) => {
                self.filled += count;
                self.is_at_end = count == 0 || self.filled <= self.ended_at;
                self.filled = self.filled.max(if self.is_at_end { self.ended_at } else { 0 });
            }
            Err(_) if is_passing(Some(-result)) => {}
            Err(_) if result == -libc::EINVAL && !self.filled.is_multiple_of(BLOCK_BYTES) => {
                self.ended_at = self.filled;
                self.filled -= self.filled % BLOCK_BYTES;
            }
            // If a file could not be opened, its read is cancelled.
            Err(_) => self.read_error = -result,
        }
    }

    /// Whether nothing more is to be read into the slot's part.
    fn is_complete(&self) -> bool {
        self.read_error != 0 || self.is_at_end || self.filled == self.part.len()
    }
}

impl StartedFile<'_> {
    /// The next piece. It is empty at the end of the file.
    pub(super) fn next_piece(&mut self) -> io::Result<&[u8]> {
        let number = usize::from(self.slot);
        if !self.is_filled && !self.files.slots[number].is_at_end {
            self.files.fill(self.slot)?;
            self.is_filled = true;
        }
        let slot = self.files.own_slot(self.slot)?;
        if slot.read_error != 0 {
            return Err(io::Error::from_raw_os_error(slot.read_error));
        }
        let count = if mem::take(&mut self.is_filled) { slot.filled } else { 0 };
        let part = slot.part.clone();
        Ok(&self.files.memory[part][..count])
    }
}

/// The `user_data` of a completion: the slot and its operation.
fn user_data(slot: u16, operation: Operation) -> u64 {
    u64::from(slot) << 1 | operation as u64
}

impl fmt::Debug for FilesInFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilesInFlight").field("plan", &self.plan).finish_non_exhaustive()
    }
}

impl Drop for FilesInFlight {
    /// Waits until the kernel no longer uses memory and paths, and closes the files, which would
    /// otherwise stay open for a while after the ring is dropped.
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.wait().is_err() {
                // Memory that the kernel may still access must stay in place.
                mem::forget(mem::take(&mut self.slots));
                mem::forget(mem::take(&mut self.memory));
                return;
            }
        }
        // The call succeeds for every ring that has a table.
        let _ = self.ring.submitter().unregister_files();
    }
}
