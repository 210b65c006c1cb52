//! Reads a file from front to back, for a sink that depends on the order.

use super::file_context::FileContext;
use super::in_pieces::{PIECE_BYTES, plan};
use super::pieces::Pieces;
use super::strategy::{Cached, Strategy};
use crate::method::Fault;
use crate::method::ring::{InFlight, Order, RingJob};
use crate::sink::Sink;
use io_uring::IoUring;
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

/// Bytes of one read(2); they fit into the second-level cache of common processors.
const COPY_BYTES: usize = 64 << 10;

/// Reads a whole file; returns its number of bytes.
pub(super) fn read(context: &FileContext, maps: bool, sink: &mut impl Sink) -> Result<u64, Fault> {
    match context.strategy(maps) {
        Strategy::Once | Strategy::Copied => copied(context, sink),
        Strategy::Mapped => mapped(context, sink),
        Strategy::InFlight => in_flight(context, sink),
    }
}

/// A buffer that begins on a line of the processor's cache: into any other place the kernel copies
/// a quarter slower.
#[repr(align(64))]
struct Aligned([MaybeUninit<u8>; COPY_BYTES]);

/// Reads through a buffer on the stack. Its pages are already mapped; fresh pages cost a fifth of
/// the time of a cold file of a megabyte. One read returns all of a small file, and if the size is
/// known, no second read is needed to find the end.
pub(super) fn copied(context: &FileContext, sink: &mut impl Sink) -> Result<u64, Fault> {
    let mut buffer = Aligned([MaybeUninit::uninit(); COPY_BYTES]);
    let mut at = 0;
    loop {
        match context.read_at(at, &mut buffer.0) {
            Ok([]) => return Ok(at),
            Ok(bytes) => {
                sink.take(at, bytes);
                at += bytes.len() as u64;
                if at == context.size_bytes {
                    return Ok(at);
                }
            }
            Err(Errno::INTR) => {}
            Err(cause) => return Err(Fault::at(at, cause.into())),
        }
    }
}

fn mapped(context: &FileContext, sink: &mut impl Sink) -> Result<u64, Fault> {
    let map = context.map()?;
    sink.take(0, &map);
    Ok(map.len() as u64)
}

/// Reads cached parts through the page cache, and the others past it.
fn in_flight(context: &FileContext, sink: &mut impl Sink) -> Result<u64, Fault> {
    let Some(direct) = context.direct() else { return copied(context, sink) };
    let plan = plan(1);
    let Ok(ring) = IoUring::new(plan.entries) else { return copied(context, sink) };
    let mixed = context.cached() == Cached::Some;
    let mut ranges = Pieces::cut(0..context.size_bytes, PIECE_BYTES);
    let count = context.size_bytes.div_ceil(PIECE_BYTES);
    let mut jobs = || {
        let range = ranges.next()?;
        let (plain, past) = (context.file.as_fd(), direct.file.as_fd());
        Some(if mixed && context.cached_of(range.clone()) == Cached::All {
            RingJob { range, file: plain, block_bytes: 1, fallback: None }
        } else {
            RingJob { range, file: past, block_bytes: direct.block_bytes, fallback: Some(plain) }
        })
    };
    let mut bytes = 0;
    let mut counted = |at: u64, piece: &[u8]| {
        bytes += piece.len() as u64;
        sink.take(at, piece);
    };
    InFlight::prepare(ring, &plan, count)?.run(Order::Queued, &mut jobs, &mut counted, None)?;
    Ok(bytes)
}
