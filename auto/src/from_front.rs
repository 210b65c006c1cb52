//! Reads from front to back, for a visitor that depends on the order.

use crate::copied;
#[cfg(target_os = "linux")]
use crate::direct::DirectFile;
#[cfg(target_os = "linux")]
use crate::in_flight::{InFlight, Job, Order, Ring};
#[cfg(target_os = "linux")]
use crate::in_pieces::{PIECE_BYTES, plan};
use crate::map::Map;
#[cfg(target_os = "linux")]
use crate::pieces::Pieces;
use crate::source::Source;
use crate::strategy::Strategy;
use crate::{ReadError, Visitor};
use std::ops::ControlFlow;

/// Reads the whole source, or until the visitor breaks.
pub(crate) fn read(
    source: &Source,
    maps: bool,
    visitor: &mut impl Visitor,
) -> Result<ControlFlow<()>, ReadError> {
    match source.strategy(maps) {
        Strategy::Once | Strategy::Copied => copied::read(source, visitor),
        Strategy::Mapped => visit_map(source, visitor),
        Strategy::InFlight => read_in_flight(source, visitor),
    }
}

fn visit_map(source: &Source, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, ReadError> {
    match Map::new(source) {
        Some(map) => Ok(visitor.visit(source.extent.start(), map.bytes())),
        // This file system maps no files.
        None => copied::read(source, visitor),
    }
}

#[cfg(not(target_os = "linux"))]
fn read_in_flight(source: &Source, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, ReadError> {
    copied::read(source, visitor)
}

/// Reads cached parts through the page cache, and the others past it.
#[cfg(target_os = "linux")]
fn read_in_flight(source: &Source, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, ReadError> {
    use crate::strategy::CachedShare;
    use std::os::fd::AsFd;
    let Some(whole) = source.extent.known() else { return copied::read(source, visitor) };
    let Ok(direct) = DirectFile::reopen(source.file) else { return copied::read(source, visitor) };
    let plan = plan(1);
    let Ok(ring) = Ring::new(plan.entries) else { return copied::read(source, visitor) };
    let is_mixed = source.cached() == CachedShare::Some;
    let mut ranges = Pieces::aligned(whole.clone(), PIECE_BYTES);
    let count = Pieces::aligned(whole.clone(), PIECE_BYTES).count();
    let mut jobs = || {
        let range = ranges.next()?;
        let (plain, past) = (source.file.as_fd(), direct.file.as_fd());
        let is_off = !range.start.is_multiple_of(direct.block_bytes);
        Some(if is_off || is_mixed && source.cached_of(range.clone()) == CachedShare::All {
            Job { range, file: plain, block_bytes: 1, fallback: None }
        } else {
            Job { range, file: past, block_bytes: direct.block_bytes, fallback: Some(plain) }
        })
    };
    InFlight::prepare(ring, &plan, count)?.run(Order::Queued, &mut jobs, visitor, None)
}
