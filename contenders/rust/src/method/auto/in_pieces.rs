//! A file read by several threads in any order, each with a sink of its own.

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

/// What one read in flight asks for.
pub(super) const PIECE_BYTES: u64 = 512 << 10;

/// Reads in flight of all threads together: four megabytes, at which devices have been seen to
/// reach their best. More only wait for each other.
const DEPTH: usize = 8;

/// The reads in flight of one of so many threads.
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

/// What each of several threads copies at a time: its calls cost a twentieth less than those for a
/// quarter of it.
const SHARED_COPY_BYTES: usize = 256 << 10;

/// What a thread takes at a time of bytes that are in the cache.
const CACHED_PIECE_BYTES: u64 = 1 << 20;

/// What is asked of the page cache at a time where a file is cached in part.
const PART_BYTES: u64 = 1 << 20;

/// Reads a whole file; gives back the sinks, one a thread.
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
        // Faults on small pages by several threads wait for each other, and these file systems have
        // few others.
        Strategy::Mapped => {
            threads.get() == 1 || !matches!(context.backing(), Backing::Memory | Backing::Other)
        }
        Strategy::InFlight => maps && direct.is_some(),
        Strategy::Once | Strategy::Copied => false,
    };
    let work = Job::cut(context, direct, maps)?;
    let threads = (threads.get() as u64).min(work.cached.count() + work.missing.count());
    let plan = plan(threads.max(1));
    crew(threads, || work.take_part(&plan, sink()), || work.stop())
}

/// The parts of one file, by where they lie.
struct Job<'a> {
    context: &'a FileContext<'a>,
    direct: Option<DirectFile>,
    map: Option<Mmap>,
    cached: Pieces,
    missing: Pieces,
}

impl<'a> Job<'a> {
    /// Parts that are not cached are fetched past the cache if that can be, and by strategy of it
    /// if not.
    fn cut(context: &'a FileContext<'a>, direct: Option<DirectFile>, maps: bool) -> Result<Job<'a>, Fault> {
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
        Ok(Job { context, direct, map, cached, missing })
    }

    /// What one thread does: keeps reads in flight while there is something to fetch, and visits
    /// cached bytes meanwhile.
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
            let mut errands = || self.errand(direct);
            let flight = InFlight::prepare(ring, plan, self.missing.count())?;
            flight.run(Order::Any, &mut errands, &mut sink, Some(&mut visit))?;
        }
        while visit(&mut sink)? {}
        Ok(sink)
    }

    fn errand<'d>(&'d self, direct: &'d DirectFile) -> Option<RingJob<'d>> {
        let (file, otherwise) = (direct.file.as_fd(), Some(self.context.file.as_fd()));
        self.missing.take().map(|range| RingJob { range, file, block_bytes: direct.block_bytes, otherwise })
    }

    /// Hands on bytes from the page cache: mapped, or by strategy of a buffer.
    fn visit(&self, range: Range<u64>, buffer: &mut [u8], sink: &mut impl Sink) -> Result<(), Fault> {
        match &self.map {
            Some(map) => sink.take(range.start, &map[range.start as usize..range.end as usize]),
            None => read_range(&self.context.file, range, buffer, sink)?,
        }
        Ok(())
    }

    /// Leaves nothing for anybody.
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
