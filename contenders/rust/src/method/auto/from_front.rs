//! A file read from front to back, for a sink that minds the order.

use super::in_pieces::{PIECE_BYTES, plan};
use super::pieces::Pieces;
use super::scene::Scene;
use super::way::{Cached, Way};
use crate::method::Fault;
use crate::method::ring::{Errand, Flight, Order};
use crate::sink::Sink;
use io_uring::IoUring;
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

/// What one read(2) brings: fits into the second-level cache of common processors.
const COPY_BYTES: usize = 64 << 10;

/// Reads a whole file; tells how many bytes there were.
pub(super) fn read(scene: &Scene, maps: bool, sink: &mut impl Sink) -> Result<u64, Fault> {
    match scene.way(maps) {
        Way::Once | Way::Copied => copied(scene, sink),
        Way::Mapped => mapped(scene, sink),
        Way::InFlight => in_flight(scene, sink),
    }
}

/// A buffer that begins on a line of the processor's cache: into any other place the kernel copies a quarter slower.
#[repr(align(64))]
struct Aligned([MaybeUninit<u8>; COPY_BYTES]);

/// A buffer on the stack, whose pages are there from the reading before: fresh ones cost a fifth of a cold file of a
/// megabyte. One read brings all of a small file, and where the size is known nobody has to be asked for the end.
pub(super) fn copied(scene: &Scene, sink: &mut impl Sink) -> Result<u64, Fault> {
    let mut buffer = Aligned([MaybeUninit::uninit(); COPY_BYTES]);
    let mut at = 0;
    loop {
        match scene.read_at(at, &mut buffer.0) {
            Ok([]) => return Ok(at),
            Ok(bytes) => {
                sink.take(at, bytes);
                at += bytes.len() as u64;
                if at == scene.size_bytes {
                    return Ok(at);
                }
            }
            Err(Errno::INTR) => {}
            Err(cause) => return Err(Fault::at(at, cause.into())),
        }
    }
}

fn mapped(scene: &Scene, sink: &mut impl Sink) -> Result<u64, Fault> {
    let map = scene.map()?;
    sink.take(0, &map);
    Ok(map.len() as u64)
}

/// Past the cache what is not in it, from the cache what is.
fn in_flight(scene: &Scene, sink: &mut impl Sink) -> Result<u64, Fault> {
    let Some(direct) = scene.direct() else { return copied(scene, sink) };
    let plan = plan(1);
    let Ok(ring) = IoUring::new(plan.entries) else { return copied(scene, sink) };
    let mixed = scene.cached() == Cached::Some;
    let mut ranges = Pieces::cut(0..scene.size_bytes, PIECE_BYTES);
    let count = scene.size_bytes.div_ceil(PIECE_BYTES);
    let mut errands = || {
        let range = ranges.next()?;
        let (plain, past) = (scene.file.as_fd(), direct.file.as_fd());
        Some(if mixed && scene.cached_of(range.clone()) == Cached::All {
            Errand { range, file: plain, block_bytes: 1, otherwise: None }
        } else {
            Errand { range, file: past, block_bytes: direct.block_bytes, otherwise: Some(plain) }
        })
    };
    let mut bytes = 0;
    let mut counted = |at: u64, piece: &[u8]| {
        bytes += piece.len() as u64;
        sink.take(at, piece);
    };
    Flight::prepare(ring, &plan, count)?.run(Order::Launched, &mut errands, &mut counted, None)?;
    Ok(bytes)
}
