//! The method `files-io_uring`: opening, reading and closing of each file of a list are linked in a
//! ring, with many files in flight. No descriptor is installed: the files live in the ring's own
//! table.
//!
//! The kernel writes into a slot's buffer, and reads its path from the list, until the slot's last
//! operation has completed; a value of [`Flight`] waits for that when it is dropped.

use super::of_list::{ListReader, OfList};
use super::{Fault, Feeding, Method, io_uring as ring_of_blocks};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::Param;
use crate::work::{Answer, FilesAnswer};
use io_uring::squeue::Flags;
use io_uring::types::{DestinationSlot, Fd, Fixed};
use io_uring::{IoUring, opcode, squeue};
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Cache, FileList, Reads};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

const BUFFER: Param = Param::new("buffer_bytes", 64 << 10, 512, 1 << 24);
const DEPTH: Param = Param::new("depth", 64, 1, 512);
const DIRECT: Param = Param::switch("direct");

/// Opening, reading, closing.
const OPERATIONS: u32 = 3;

pub(super) const FILES_IO_URING: Method = Method {
    name: "files-io_uring",
    about: "openat, read and close of each file of a list linked in an io_uring, `depth` files in flight; what is longer \
            than the buffer is read on by pread(2)",
    cache: Cache::ByParam,
    reads: Reads::List,
    feeding: Feeding::InOrder,
    decodes: &[],
    parts: false,
    lists: true,
    tls: false,
    params: &[BUFFER, DEPTH, DIRECT],
    build: |settings| {
        let how = How {
            buffer_bytes: settings.size(&BUFFER),
            depth: settings.get(&DEPTH) as u32,
            flags: if settings.is_on(&DIRECT) { libc::O_DIRECT } else { 0 },
        };
        Ok(Box::new(OfList::new(Linked { how })))
    },
    available: ring_of_blocks::available,
};

/// The settings.
#[derive(Clone, Copy)]
struct How {
    buffer_bytes: usize,
    depth: u32,
    /// With which files are opened, besides reading.
    flags: i32,
}

struct Linked {
    how: How,
}

impl ListReader for Linked {
    fn read(&mut self, list: &FileList, visit: Visit) -> Result<Answer, Fault> {
        let mut flight = Flight::prepare(list, self.how)?;
        flight.start_all()?;
        let mut all = FilesAnswer::default();
        while let Some(slot) = flight.wait_for_one()? {
            all.add(flight.finish(slot, visit)?);
            flight.start(slot)?;
        }
        Ok(all.finish())
    }
}

/// The files in flight.
struct Flight<'a> {
    ring: IoUring,
    how: How,
    list: &'a FileList,
    /// The file that is started next.
    next: usize,
    slots: Vec<Slot>,
    /// Slots whose operations have not all completed.
    in_flight: usize,
    /// Slots that are complete and were not yet returned.
    complete: Vec<usize>,
}

/// One file in flight.
struct Slot {
    buffer: Buffer,
    file: usize,
    opened: i32,
    read: i32,
    /// Operations that have not completed.
    pending: u32,
}

impl<'a> Flight<'a> {
    fn prepare(list: &'a FileList, how: How) -> Result<Flight<'a>, Fault> {
        let depth = how.depth.min(u32::try_from(list.len()).unwrap_or(u32::MAX)).max(1);
        let ring = IoUring::new((depth * OPERATIONS).next_power_of_two())?;
        let no_table =
            |cause| Fault::Unavailable(format!("io_uring: no table of files (Linux 5.19): {cause}"));
        ring.submitter().register_files_sparse(depth).map_err(no_table)?;
        let slot = || {
            let buffer = Buffer::new(how.buffer_bytes)?;
            Ok(Slot { buffer, file: 0, opened: 0, read: 0, pending: 0 })
        };
        let slots = (0..depth).map(|_| slot()).collect::<io::Result<_>>()?;
        Ok(Flight { ring, how, list, next: 0, slots, in_flight: 0, complete: Vec::new() })
    }

    fn start_all(&mut self) -> Result<(), Fault> {
        (0..self.slots.len()).try_for_each(|slot| self.start(slot))
    }

    /// Starts the next file in a slot, if one is left.
    fn start(&mut self, slot: usize) -> Result<(), Fault> {
        if self.next == self.list.len() {
            return Ok(());
        }
        let entries = self.entries(slot, self.next);
        // SAFETY: the path is in the list, which outlives this value, and the buffer is the slot's.
        // Neither moves nor is accessed before the slot's operations have completed, for which
        // `drop` waits.
        unsafe { self.ring.submission().push_multiple(&entries) }.map_err(io::Error::other)?;
        self.slots[slot].file = self.next;
        self.slots[slot].pending = OPERATIONS;
        self.next += 1;
        self.in_flight += 1;
        Ok(())
    }

    /// The linked operations for one file. The read ends short at the end of a file, which breaks a
    /// plain link: the closing hangs on a hard one.
    fn entries(&mut self, slot: usize, file: usize) -> [squeue::Entry; OPERATIONS as usize] {
        let number = slot as u32;
        let path = self.list.c_path(file).as_ptr();
        let place = DestinationSlot::try_from_slot_target(number).expect("there are at most 512 slots");
        let open = opcode::OpenAt::new(Fd(libc::AT_FDCWD), path)
            .file_index(Some(place))
            .flags(libc::O_RDONLY | self.how.flags);
        let buffer = self.slots[slot].buffer.as_mut_ptr();
        let read = opcode::Read::new(Fixed(number), buffer, self.how.buffer_bytes as u32);
        let close = opcode::Close::new(Fixed(number));
        let word = |operation: u64| u64::from(number) << 2 | operation;
        [
            open.build().flags(Flags::IO_LINK).user_data(word(0)),
            read.build().flags(Flags::IO_HARDLINK).user_data(word(1)),
            close.build().user_data(word(2)),
        ]
    }

    /// Waits until all operations of one file have completed; its slot, or `None` after the last.
    fn wait_for_one(&mut self) -> Result<Option<usize>, Fault> {
        loop {
            let slot = self.complete.pop();
            if slot.is_some() || self.in_flight == 0 {
                return Ok(slot);
            }
            match self.ring.submit_and_wait(1) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
                _ => self.take_completions(),
            }
        }
    }

    fn take_completions(&mut self) {
        for completion in self.ring.completion() {
            let slot = &mut self.slots[(completion.user_data() >> 2) as usize];
            match completion.user_data() & 3 {
                0 => slot.opened = completion.result(),
                1 => slot.read = completion.result(),
                _ => {}
            }
            slot.pending -= 1;
            if slot.pending == 0 {
                self.complete.push((completion.user_data() >> 2) as usize);
                self.in_flight -= 1;
            }
        }
    }

    /// Visits what was read of a file whose operations have completed, and reads what is left of
    /// it.
    fn finish(&mut self, slot: usize, visit: Visit) -> Result<Answer, Fault> {
        let How { buffer_bytes, flags, .. } = self.how;
        let Slot { buffer, file, opened, read, .. } = &mut self.slots[slot];
        let path = self.list.path(*file);
        let failed = |code: i32| Fault::of_file(path, io::Error::from_raw_os_error(-code).into());
        if *opened < 0 {
            return Err(failed(*opened));
        }
        let count = match usize::try_from(*read) {
            Ok(count) => count,
            Err(_) if matches!(-*read, libc::EINTR | libc::EAGAIN) => 0,
            Err(_) => return Err(failed(*read)),
        };
        let mut consumer = Consumer::new(visit);
        consumer.feed(&buffer[..count]);
        if count == buffer_bytes || *read < 0 {
            let rest = read_rest(path, flags, count as u64, &mut buffer[..buffer_bytes], &mut consumer);
            rest.map_err(|fault| Fault::of_file(path, fault))?;
        }
        Ok(consumer.finish())
    }
}

/// Reads what a file has from an offset on, in whole buffers: past the cache a read must begin at a
/// block, and a short one is the last.
fn read_rest(
    path: &Path,
    flags: i32,
    from: u64,
    buffer: &mut [u8],
    consumer: &mut Consumer,
) -> Result<(), Fault> {
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let mut at = from;
    loop {
        match file.read_at(buffer, at) {
            Ok(count) => {
                consumer.feed(&buffer[..count]);
                at += count as u64;
                if count < buffer.len() {
                    return Ok(());
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(Fault::at(at, cause)),
        }
    }
}

impl Drop for Flight<'_> {
    /// Waits until the kernel no longer uses buffers and paths.
    fn drop(&mut self) {
        while self.in_flight > 0 {
            match self.ring.submit_and_wait(1) {
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    // What the kernel may still write into must stay where it is.
                    std::mem::take(&mut self.slots).into_iter().for_each(std::mem::forget);
                    return;
                }
                _ => self.take_completions(),
            }
        }
    }
}
