//! A file read from front to back, for a sink that minds the order.

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

/// What one read(2) brings: fits into the second-level cache of common processors.
const COPY_BYTES: usize = 64 << 10;

/// Reads a whole file; tells how many bytes there were.
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

/// A buffer on the stack, whose pages are there from the reading before: fresh ones cost a fifth of
/// a cold file of a megabyte. One read brings all of a small file, and where the size is known
/// nobody has to be asked for the end.
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

/// Past the cache what is not in it, from the cache what is.
fn in_flight(context: &FileContext, sink: &mut impl Sink) -> Result<u64, Fault> {
    let Some(direct) = context.direct() else { return copied(context, sink) };
    let plan = plan(1);
    let Ok(ring) = IoUring::new(plan.entries) else { return copied(context, sink) };
    let mixed = context.cached() == Cached::Some;
    let mut ranges = Pieces::cut(0..context.size_bytes, PIECE_BYTES);
    let count = context.size_bytes.div_ceil(PIECE_BYTES);
    let mut errands = || {
        let range = ranges.next()?;
        let (plain, past) = (context.file.as_fd(), direct.file.as_fd());
        Some(if mixed && context.cached_of(range.clone()) == Cached::All {
            RingJob { range, file: plain, block_bytes: 1, otherwise: None }
        } else {
            RingJob { range, file: past, block_bytes: direct.block_bytes, otherwise: Some(plain) }
        })
    };
    let mut bytes = 0;
    let mut counted = |at: u64, piece: &[u8]| {
        bytes += piece.len() as u64;
        sink.take(at, piece);
    };
    InFlight::prepare(ring, &plan, count)?.run(Order::Launched, &mut errands, &mut counted, None)?;
    Ok(bytes)
}
