//! Reads a file by several threads in any order; each thread has its own sink.

use super::file_context::FileContext;
use super::from_front::copied;
use super::pieces::Pieces;
use super::strategy::{Backing, Cached, Strategy};
use crate::buffer::Buffer;
use crate::method::Fault;
use crate::method::direct::DirectFile;
use crate::method::pread::read_range;
use crate::method::ring::{InFlight, Order, Plan, Registered, RingJob};
use crate::segments::crew;
use crate::sink::Sink;
use io_uring::IoUring;
use memmap2::Mmap;
use std::num::NonZero;
use std::ops::Range;
use std::os::fd::AsFd;

/// Bytes of one read in flight.
pub(super) const PIECE_BYTES: u64 = 512 << 10;

/// Reads in flight of all threads together: four megabytes, with which tested devices reached their
/// best rate. More reads only wait for each other.
const DEPTH: usize = 8;

/// The reads in flight of one of `threads` threads.
pub(super) fn plan(threads: u64) -> Plan {
    let depth = (DEPTH / threads as usize).max(2);
    Plan {
        buffer_bytes: PIECE_BYTES as usize,
        buffers: 1,
        depth,
        entries: depth.next_power_of_two() as u32,
        vectored: false,
        registered: Registered::IfAllowed,
    }
}

/// Bytes that each of several threads copies at a time. Calls of a quarter of this size take a
/// twentieth longer.
const SHARED_COPY_BYTES: usize = 256 << 10;

/// Bytes of a cached piece, which one thread visits at a time.
const CACHED_PIECE_BYTES: u64 = 1 << 20;

/// Bytes for which residency is determined at a time, for a partly cached file.
const PART_BYTES: u64 = 1 << 20;

/// Reads a whole file; returns the sinks, one a thread.
pub(super) fn read<S: Sink + Send>(
    context: &FileContext,
    maps: bool,
    threads: NonZero<usize>,
    sink: &(impl Fn() -> S + Sync),
) -> Result<Vec<S>, Fault> {
    let strategy = context.strategy(maps);
    let alone = threads.get() == 1 || context.size_bytes <= CACHED_PIECE_BYTES;
    if strategy == Strategy::Once || strategy == Strategy::Copied && alone {
        let mut sink = sink();
        copied(context, &mut sink)?;
        return Ok(vec![sink]);
    }
    let direct = if strategy == Strategy::InFlight { context.direct() } else { None };
    let maps = match strategy {
        // Faults of several threads on small pages wait for each other, and these file systems have
        // few large pages.
        Strategy::Mapped => {
            threads.get() == 1 || !matches!(context.backing(), Backing::Memory | Backing::Other)
        }
        Strategy::InFlight => maps && direct.is_some(),
        Strategy::Once | Strategy::Copied => false,
    };
    let work = PiecewiseRead::cut(context, direct, maps)?;
    let threads = (threads.get() as u64).min(work.cached.count() + work.missing.count());
    let plan = plan(threads.max(1));
    crew(threads, || work.take_part(&plan, sink()), || work.stop())
}

/// One reading: the parts of a file that are cached, and those that are not.
struct PiecewiseRead<'a> {
    context: &'a FileContext<'a>,
    direct: Option<DirectFile>,
    map: Option<Mmap>,
    cached: Pieces,
    missing: Pieces,
}

impl<'a> PiecewiseRead<'a> {
    /// Plans a reading. Parts that are not cached are read past the cache if that is possible, else
    /// through it.
    fn cut(
        context: &'a FileContext<'a>,
        direct: Option<DirectFile>,
        maps: bool,
    ) -> Result<PiecewiseRead<'a>, Fault> {
        let whole = 0..context.size_bytes;
        let (cached, missing) = match direct {
            None => (vec![whole], Vec::new()),
            Some(_) => by_residency(context, whole),
        };
        let maps = maps && !cached.is_empty();
        let map = if maps { Some(context.map()?) } else { None };
        let pieces = |parts: Vec<Range<u64>>, step: u64| {
            Pieces::new(parts.into_iter().flat_map(move |part| Pieces::cut(part, step)))
        };
        let (cached, missing) = (pieces(cached, CACHED_PIECE_BYTES), pieces(missing, PIECE_BYTES));
        Ok(PiecewiseRead { context, direct, map, cached, missing })
    }

    /// The work of one thread: it keeps reads in flight while parts are missing, and visits cached
    /// bytes during these reads.
    fn take_part<S: Sink>(&self, plan: &Plan, mut sink: S) -> Result<S, Fault> {
        let copies = self.map.is_none() && self.cached.count() > 0;
        let mut buffer = if copies { Buffer::new(SHARED_COPY_BYTES)? } else { Buffer::default() };
        let mut visit = |sink: &mut S| {
            let Some(range) = self.cached.take() else { return Ok(false) };
            self.visit(range, &mut buffer, sink)?;
            Ok(true)
        };
        if let Some(direct) = &self.direct
            && self.missing.count() > 0
        {
            let ring = IoUring::new(plan.entries)?;
            let mut jobs = || self.job(direct);
            let reads = InFlight::prepare(ring, plan, self.missing.count())?;
            reads.run(Order::Any, &mut jobs, &mut sink, Some(&mut visit))?;
        }
        while visit(&mut sink)? {}
        Ok(sink)
    }

    fn job<'d>(&'d self, direct: &'d DirectFile) -> Option<RingJob<'d>> {
        let (file, fallback) = (direct.file.as_fd(), Some(self.context.file.as_fd()));
        self.missing.take().map(|range| RingJob { range, file, block_bytes: direct.block_bytes, fallback })
    }

    /// Passes bytes from the page cache to the sink: mapped, or through a buffer.
    fn visit(&self, range: Range<u64>, buffer: &mut [u8], sink: &mut impl Sink) -> Result<(), Fault> {
        match &self.map {
            Some(map) => sink.take(range.start, &map[range.start as usize..range.end as usize]),
            None => read_range(&self.context.file, range, buffer, sink)?,
        }
        Ok(())
    }

    /// Removes all remaining pieces, so that every thread ends.
    fn stop(&self) {
        self.cached.stop();
        self.missing.stop();
    }
}

/// The parts of a file that are wholly in the page cache, and the others.
fn by_residency(context: &FileContext, whole: Range<u64>) -> (Vec<Range<u64>>, Vec<Range<u64>>) {
    match context.cached() {
        Cached::None => (Vec::new(), vec![whole]),
        Cached::All => (vec![whole], Vec::new()),
        Cached::Some => {
            Pieces::cut(whole, PART_BYTES).partition(|part| context.cached_of(part.clone()) == Cached::All)
        }
    }
}
