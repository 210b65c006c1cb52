//! Ring buffers, one for each processor, into which the kernel writes perf records.
//!
//! An inherited event must be bound to a processor to have a ring buffer. The events of all threads
//! on a processor share one buffer. [`super::records`] parses the bodies of the records.

use super::{for_each_thread, open_event};
use crate::cpu;
use crate::memory::page_bytes;
use crate::system_root::SystemRoot;
use memmap2::{MmapOptions, MmapRaw};
use perf_event_open_sys::bindings::{
    PERF_RECORD_LOST as LOST, perf_event_attr, perf_event_header, perf_event_mmap_page,
};
use perf_event_open_sys::ioctls;
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Duration;

/// Sizes of a ring buffer in pages, best first; the limit of locked memory decides which is
/// possible.
const RING_PAGES: [usize; 4] = [128, 64, 16, 4];
/// Offset in the first page of the kernel's write position.
const DATA_HEAD: usize = offset_of!(perf_event_mmap_page, data_head);
/// Offset in the first page of our read position.
const DATA_TAIL: usize = offset_of!(perf_event_mmap_page, data_tail);
const HEADER_BYTES: usize = size_of::<perf_event_header>();

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawRecord {
    /// The kind of the record, one of the kernel's `PERF_RECORD_…`.
    pub(super) kind: u32,
    /// Bits whose meaning depends on `kind`.
    pub(super) misc: u16,
    pub(super) body: Vec<u8>,
}

#[derive(Debug, Default)]
pub(super) struct DrainedRecords {
    /// The records, one ring buffer after another.
    pub(super) records: Vec<RawRecord>,
    /// Records that the kernel dropped because a buffer was full, and malformed records.
    pub(super) lost: u64,
}

/// The ring buffers for one process and its children.
#[derive(Debug)]
pub(super) struct Rings {
    rings: Vec<Ring>,
    // Events count while their descriptors are open.
    events: Vec<File>,
}

impl Rings {
    /// Opens events on all threads of a process; they count from now on.
    pub(super) fn open(pid: u32, attr: &perf_event_attr) -> io::Result<Rings> {
        let mut rings = Rings { rings: Vec::new(), events: Vec::new() };
        for cpu in cpu::online_processors(&SystemRoot::default()) {
            let mut first: Option<i32> = None;
            for_each_thread(pid, |tid| rings.add(attr, tid, cpu, &mut first))?;
        }
        Ok(rings)
    }

    /// Adds one event; the first event on a processor gets a new ring buffer.
    fn add(&mut self, attr: &perf_event_attr, tid: u32, cpu: u32, first: &mut Option<i32>) -> io::Result<()> {
        let event = open_event(attr, tid, Some(cpu))?;
        match *first {
            None => {
                self.rings.push(Ring::map(&event)?);
                *first = Some(event.as_raw_fd());
            }
            // SAFETY: both descriptors are open perf events; nothing in our memory is changed.
            Some(to) if unsafe { ioctls::SET_OUTPUT(event.as_raw_fd(), to) } == 0 => {}
            Some(_) => return Err(io::Error::last_os_error()),
        }
        self.events.push(event);
        Ok(())
    }

    pub(super) fn wait(&self, at_most: Duration) {
        let at_most = at_most.try_into().expect("milliseconds fit a timespec");
        let mut polled: Vec<PollFd> =
            self.events.iter().map(|event| PollFd::new(event, PollFlags::IN)).collect();
        // Timeouts and interrupts need no handling: the caller reads the ring buffers next in any
        // case.
        let _ = poll(&mut polled, Some(&at_most));
    }

    pub(super) fn drain(&mut self) -> DrainedRecords {
        let mut drained = DrainedRecords::default();
        for ring in &self.rings {
            ring.drain(&mut drained);
        }
        drained
    }
}

/// The mapping of one ring buffer: a page with the positions, and then the data.
#[derive(Debug)]
struct Ring(MmapRaw);

impl Ring {
    fn map(event: &File) -> io::Result<Ring> {
        let mut refused = io::Error::from(io::ErrorKind::InvalidInput);
        for pages in RING_PAGES {
            match MmapOptions::new().len((pages + 1) * page_len()).map_raw(event) {
                Ok(mapped) => return Ok(Ring(mapped)),
                Err(cause) => refused = cause,
            }
        }
        Err(refused)
    }

    fn drain(&self, into: &mut DrainedRecords) {
        let base = self.0.as_mut_ptr();
        // SAFETY: both counters are in the first page of the mapping, aligned to eight; the kernel
        // changes one, we the other.
        let (head, tail) = unsafe {
            let counter = |at: usize| &*base.add(at).cast::<AtomicU64>();
            (counter(DATA_HEAD), counter(DATA_TAIL))
        };
        let written = head.load(Ordering::Acquire);
        let read = tail.load(Ordering::Relaxed);
        // SAFETY: the data follows the first page. The kernel writes only beyond `written` and, as
        // the mapping is writable, never over what we have not read; so the bytes that `take_records` reads
        // do not change.
        let data = unsafe { std::slice::from_raw_parts(base.add(page_len()), self.0.len() - page_len()) };
        take_records(data, read..written, into);
        fence(Ordering::SeqCst);
        tail.store(written, Ordering::Release);
    }
}

/// Takes the records between two positions of a ring buffer; positions only grow. Stops at a
/// malformed record, because the start of the next record is then unknown.
fn take_records(data: &[u8], span: std::ops::Range<u64>, into: &mut DrainedRecords) {
    let mut at = span.start;
    while at < span.end {
        let left = usize::try_from(span.end - at).unwrap_or(usize::MAX).min(data.len());
        let header = copy_from_ring(data, at, HEADER_BYTES.min(left));
        let Some((kind, misc, size)) =
            header_of(&header).filter(|(.., size)| (HEADER_BYTES..=left).contains(size))
        else {
            into.lost += 1;
            return;
        };
        let body = copy_from_ring(data, at + HEADER_BYTES as u64, size - HEADER_BYTES);
        at += size as u64;
        match (kind, body.get(8..16)) {
            (LOST, Some(lost)) => into.lost += u64::from_ne_bytes(lost.try_into().expect("eight bytes")),
            _ => into.records.push(RawRecord { kind, misc, body }),
        }
    }
}

fn header_of(bytes: &[u8]) -> Option<(u32, u16, usize)> {
    let kind = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?);
    let misc = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    let size = u16::from_ne_bytes(bytes.get(6..8)?.try_into().ok()?);
    Some((kind, misc, usize::from(size)))
}

/// Copies bytes from a position on, wrapping around at the end of the buffer.
fn copy_from_ring(data: &[u8], at: u64, len: usize) -> Vec<u8> {
    let start = usize::try_from(at % data.len() as u64).expect("a place within the ring");
    let first = len.min(data.len() - start);
    let mut copied = data[start..start + first].to_vec();
    copied.extend_from_slice(&data[..len - first]);
    copied
}

fn page_len() -> usize {
    usize::try_from(page_bytes()).expect("a page fits the address space")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let size = u16::try_from(HEADER_BYTES + body.len()).unwrap();
        [&kind.to_ne_bytes()[..], &7_u16.to_ne_bytes(), &size.to_ne_bytes(), body].concat()
    }

    /// The records drained from a ring of 64 bytes into which `written` was written, starting at
    /// position `from`.
    fn drain_written(written: &[u8], from: u64) -> DrainedRecords {
        let mut data = [0xee; 64];
        for (at, byte) in (from..).zip(written) {
            data[usize::try_from(at % 64).unwrap()] = *byte;
        }
        let mut drained = DrainedRecords::default();
        take_records(&data, from..from + written.len() as u64, &mut drained);
        drained
    }

    #[test]
    fn records_are_read_at_any_position_in_the_ring() {
        let written = [record(9, b"sixteen bytes ok"), record(3, b""), record(9, b"12345678")].concat();
        for from in (0..64).chain(64_000..64_064) {
            let drained = drain_written(&written, from);
            let bodies: Vec<&[u8]> = drained.records.iter().map(|raw| &raw.body[..]).collect();
            assert_eq!(bodies, [&b"sixteen bytes ok"[..], b"", b"12345678"], "from {from}");
            assert!(drained.records.iter().all(|raw| raw.misc == 7) && drained.lost == 0);
        }
    }

    #[test]
    fn a_torn_record_ends_reading_and_counts_as_lost() {
        let whole = record(9, b"12345678");
        for torn in [&whole[..4], &whole[..12], &[0; 8], &[0xff; 16]] {
            let drained = drain_written(&[&whole, torn].concat(), 60);
            assert_eq!((drained.records.len(), drained.lost), (1, 1), "{torn:?}");
        }
        assert_eq!(drain_written(&[], 5).lost, 0);
    }

    #[test]
    fn records_that_the_kernel_reports_as_lost_are_counted() {
        let lost = record(LOST, &[1_u64.to_ne_bytes(), 41_u64.to_ne_bytes()].concat());
        let drained = drain_written(&lost, 50);
        assert_eq!((drained.records.len(), drained.lost), (0, 41));
    }
}
