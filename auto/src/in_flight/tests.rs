//! Tests of reads in flight: short reads, errors, registered buffers, and the order of delivery.

use super::slot::vectors;
use super::*;
use proptest::prelude::*;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};

const PLAN: Plan =
    Plan { buffer_bytes: 1024, buffers: 4, depth: 1, entries: 1, vectored: true, registered: Registered::No };

fn job(file: &File, range: Range<u64>, block_bytes: u64) -> Job<'_> {
    Job { range, file: file.as_fd(), block_bytes, fallback: None }
}

fn slot(file: &File, range: Range<u64>, block_bytes: u64) -> Slot<'_> {
    Slot { job: Some(job(file, range, block_bytes)), ..Slot::new(0, 4096) }
}

fn empty_file() -> File {
    File::open("/dev/null").unwrap()
}

/// A ring, unless the kernel allows none.
fn ring(entries: u32) -> Option<Ring> {
    Ring::new(entries).inspect_err(|cause| eprintln!("SKIPPED: io_uring: {cause}")).ok()
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    io::Write::write_all(&mut file, bytes).unwrap();
    file
}

#[test]
fn a_short_read_is_continued_where_it_stopped() {
    let file = empty_file();
    let mut slot = slot(&file, 4096..8192, 1);
    assert!(!slot.complete(1500).unwrap());
    assert_eq!(slot.filled, 1500);
    let lens = vectors(&mut [0; 4096], 1500..4096, 1024).iter().map(|part| part.iov_len).collect::<Vec<_>>();
    assert_eq!(lens, [548, 1024, 1024]);
    assert!(slot.complete(2596).unwrap());
}

#[test]
fn the_end_of_the_file_fills_a_slot() {
    let file = empty_file();
    assert!(slot(&file, 4096..8192, 1).complete(0).unwrap());
    let mut last = slot(&file, 4096..5000, 512);
    assert_eq!(last.job.as_ref().unwrap().requested_bytes(), 1024);
    assert!(last.complete(904).unwrap());
}

#[test]
fn a_temporary_error_is_retried_and_another_error_has_its_offset() {
    let file = empty_file();
    let mut slot = slot(&file, 4096..8192, 1);
    assert!(!slot.complete(-libc::EINTR).unwrap());
    assert!(!slot.complete(-libc::EAGAIN).unwrap());
    assert!(!slot.complete(1000).unwrap());
    assert!(slot.complete(-libc::EIO).unwrap_err().to_string().ends_with("at byte 5096"));
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no io_uring_setup(2)")]
fn the_rest_of_a_short_read_is_placed_behind_its_bytes() {
    let bytes: Vec<u8> = (0..4096u32).map(|i| (i / 7) as u8).collect();
    let file = file_of(&bytes);
    for (vectored, registered) in [
        (false, Registered::No),
        (false, Registered::Yes),
        (false, Registered::IfAllowed),
        (true, Registered::No),
    ] {
        let plan = Plan { vectored, registered, ..PLAN };
        let Some(ring) = ring(1) else { return };
        let mut reads = InFlight::prepare(ring, &plan, 1).unwrap();
        (reads.slots[0].job, reads.slots[0].filled) = (Some(job(&file, 0..4096, 1)), 1500);
        reads.queue(0).unwrap();
        reads.submit(1).unwrap();
        assert_eq!(reads.next_completion(), Some((0, 2596)));
        assert_eq!(reads.memory[1500..4096], bytes[1500..]);
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no io_uring_setup(2)")]
fn reads_are_delivered_in_order_of_submission_and_other_work_is_done_before() {
    let bytes: Vec<u8> = (0..64 * 1024u32).map(|i| (i / 11) as u8).collect();
    let file = file_of(&bytes);
    let plan = Plan { buffers: 1, depth: 5, entries: 8, vectored: false, ..PLAN };
    let Some(ring) = ring(8) else { return };
    let mut starts = (0..bytes.len() as u64).step_by(1024);
    let mut jobs = || starts.next().map(|start| job(&file, start..start + 1024, 1));
    let (seen, worked) = (std::cell::RefCell::new(Vec::new()), std::cell::Cell::new(0));
    let mut sink = |at: u64, piece: &[u8]| {
        assert_eq!(at, seen.borrow().len() as u64);
        seen.borrow_mut().extend_from_slice(piece);
        ControlFlow::Continue(())
    };
    let mut idle_work = |_: &mut _| {
        worked.set(worked.get() + 1);
        Ok(ControlFlow::Continue(worked.get() < 3))
    };
    let reads = InFlight::prepare(ring, &plan, 64).unwrap();
    assert!(reads.run(Order::Queued, &mut jobs, &mut sink, Some(&mut idle_work)).unwrap().is_continue());
    assert_eq!((seen.take(), worked.get()), (bytes, 3));
}

#[test]
fn a_refused_read_uses_the_fallback() {
    let (file, plain) = (empty_file(), empty_file());
    let mut slot = slot(&file, 4096..8192, 512);
    slot.job.as_mut().unwrap().fallback = Some(plain.as_fd());
    assert!(!slot.complete(-libc::EINVAL).unwrap());
    let job = slot.job.clone().unwrap();
    assert_eq!((job.file.as_raw_fd(), job.block_bytes), (plain.as_raw_fd(), 1));
    assert!(slot.complete(-libc::EINVAL).is_err());
}

/// A model of a file in the kernel, whose reads may be short.
struct ShortReadingFile<'a> {
    bytes: &'a [u8],
    /// Largest results of the next reads, in bytes. All later reads are complete.
    limits: std::slice::Iter<'a, usize>,
    /// Whether the last read ended within a block before the end of the file. The read after it is
    /// complete.
    is_within: bool,
}

impl ShortReadingFile<'_> {
    fn read(&mut self, at: u64, into: &mut [u8], block_bytes: u64) -> i32 {
        assert!(at.is_multiple_of(block_bytes) && (into.len() as u64).is_multiple_of(block_bytes));
        let rest = self.bytes.get(at as usize..).unwrap_or_default();
        let whole = rest.len().min(into.len());
        let most = if self.is_within { None } else { self.limits.next() };
        let count = most.map_or(whole, |&most| most.max(1).min(whole));
        self.is_within = count < whole && !(count as u64).is_multiple_of(block_bytes);
        into[..count].copy_from_slice(&rest[..count]);
        i32::try_from(count).unwrap()
    }
}

proptest! {
    #[test]
    fn short_reads_lose_no_byte_and_deliver_none_beyond_the_range(
        size in 0_usize..9000,
        start in 0_u64..20,
        wanted in 1_u64..4096,
        block_bytes in prop_oneof![Just(1_u64), Just(512)],
        most in proptest::collection::vec(prop_oneof![0_usize..4096, (0_usize..8).prop_map(|it| it * 512)], 0..12),
    ) {
        let bytes: Vec<u8> = (0..size).map(|at| (at / 3) as u8).collect();
        let (from, mut memory) = (empty_file(), Buffer::new(4096).unwrap());
        let start = start * block_bytes;
        let mut slot = slot(&from, start..start + wanted, block_bytes);
        let mut file = ShortReadingFile { bytes: &bytes, limits: most.iter(), is_within: false };
        loop {
            let lacking = slot.missing_range().unwrap();
            let at = start + lacking.start as u64;
            let result = file.read(at, &mut memory[lacking], block_bytes);
            if slot.complete(result).unwrap() {
                break;
            }
        }
        let mut seen = Vec::new();
        let mut sink = |at: u64, piece: &[u8]| {
            assert_eq!(at, start + seen.len() as u64);
            seen.extend_from_slice(piece);
            ControlFlow::Continue(())
        };
        prop_assert!(slot.deliver(&memory, 1024, &mut sink).is_continue());
        let end = size.min((start + wanted) as usize);
        prop_assert!(seen == bytes[end.min(start as usize)..end], "{} of {size}", seen.len());
    }
}
