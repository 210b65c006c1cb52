//! Reads by several threads in any order; each thread has its own visitor.

use crate::buffer::Buffer;
#[cfg(target_os = "linux")]
use crate::direct::DirectFile;
#[cfg(target_os = "linux")]
use crate::in_flight::{InFlight, Job, Order, Plan, Registered, Ring};
use crate::map::Map;
use crate::pieces::Pieces;
use crate::source::Source;
use crate::strategy::{Backing, CachedShare, Strategy};
use crate::workers::Workers;
use crate::{ReadError, Visitor, copied};
use std::num::NonZero;
use std::ops::{ControlFlow, Range};

/// Bytes of one read in flight.
pub(crate) const PIECE_BYTES: u64 = 512 << 10;

/// Reads in flight of all threads together. They cover four megabytes, with which tested devices
/// reached their best throughput. More reads only wait for each other.
#[cfg(target_os = "linux")]
const DEPTH: usize = 8;

/// The plan of the reads in flight on one of `threads` threads.
#[cfg(target_os = "linux")]
pub(crate) fn plan(threads: usize) -> Plan {
    let depth = (DEPTH / threads.max(1)).max(2);
    Plan {
        buffer_bytes: usize::try_from(PIECE_BYTES).expect("half a mebibyte is an address"),
        buffers: 1,
        depth,
        entries: u32::try_from(depth.next_power_of_two()).expect("at most eight"),
        vectored: false,
        registered: Registered::IfAllowed,
    }
}

/// Bytes that each of several threads copies per call. Calls of a quarter of this size take a
/// twentieth longer.
const SHARED_COPY_BYTES: usize = 256 << 10;

/// Size of a cached piece, which one thread visits at a time. One page table maps this size, so
/// threads do not wait for each other at its lock.
const CACHED_PIECE_BYTES: u64 = 2 << 20;

/// Size of the parts of a partly cached file whose residency is determined one by one.
const PART_BYTES: u64 = 1 << 20;

/// Reads the whole source, or until a visitor breaks. Returns the visitors, one for each thread.
pub(crate) fn read<V: Visitor + Send>(
    source: &Source,
    maps: bool,
    workers: Workers,
    visitor: &(impl Fn() -> V + Sync),
) -> Result<Vec<V>, ReadError> {
    let strategy = source.strategy(maps);
    let Some(whole) = source.extent.known().filter(|_| strategy != Strategy::Once) else {
        return read_on_one_thread(source, visitor());
    };
    let threads = workers.count();
    let is_short = whole.end - whole.start <= CACHED_PIECE_BYTES;
    if strategy == Strategy::Copied && (threads.get() == 1 || is_short) {
        return read_on_one_thread(source, visitor());
    }
    let work = PiecewiseRead::cut(source, whole, strategy, maps && may_map(source, strategy, threads));
    let threads = threads.get().min(work.cached.count() + work.missing.count());
    workers.run(threads, || work.take_part(threads, visitor()), || work.stop())
}

fn read_on_one_thread<V: Visitor>(source: &Source, mut visitor: V) -> Result<Vec<V>, ReadError> {
    let _ = copied::read(source, &mut visitor)?;
    Ok(vec![visitor])
}

/// Whether cached parts are mapped, if the user allows mapping. Page faults of several threads on
/// small pages wait for each other, and some file systems have few large pages.
fn may_map(source: &Source, strategy: Strategy, threads: NonZero<usize>) -> bool {
    match strategy {
        Strategy::Mapped => {
            threads.get() == 1 || !matches!(source.backing(), Backing::Memory | Backing::Other)
        }
        Strategy::InFlight => true,
        _ => false,
    }
}

/// Visits the next cached piece. Returns whether there was a piece, or a break.
type VisitCached<'w, V> = &'w mut dyn FnMut(&mut V) -> Result<ControlFlow<(), bool>, ReadError>;

/// One reading, divided into the cached and the missing parts of a file.
struct PiecewiseRead<'a> {
    source: &'a Source<'a>,
    #[cfg(target_os = "linux")]
    direct: Option<DirectFile>,
    map: Option<Map>,
    cached: Pieces,
    missing: Pieces,
}

impl<'a> PiecewiseRead<'a> {
    /// Plans a reading. Missing parts are read past the cache if the file system can do this, else
    /// through it.
    fn cut(source: &'a Source<'a>, whole: &Range<u64>, strategy: Strategy, maps: bool) -> PiecewiseRead<'a> {
        #[cfg(target_os = "linux")]
        let direct = Some(source.file)
            .filter(|_| strategy == Strategy::InFlight)
            .and_then(|file| DirectFile::reopen(file).ok());
        #[cfg(target_os = "linux")]
        let (is_past, maps) = (direct.is_some(), maps && (direct.is_some() || strategy == Strategy::Mapped));
        #[cfg(not(target_os = "linux"))]
        let (is_past, maps) = (false, maps && strategy == Strategy::Mapped);
        let whole = whole.clone();
        let (cached, missing) =
            if is_past { split_by_residency(source, whole) } else { (vec![whole], Vec::new()) };
        let map = if maps && !cached.is_empty() { Map::new(source) } else { None };
        let pieces = |parts: Vec<Range<u64>>, step: u64| {
            Pieces::new(parts.into_iter().flat_map(move |part| Pieces::aligned(part, step)))
        };
        PiecewiseRead {
            source,
            #[cfg(target_os = "linux")]
            direct,
            map,
            cached: pieces(cached, CACHED_PIECE_BYTES),
            missing: pieces(missing, PIECE_BYTES),
        }
    }

    /// The work of one thread: it keeps reads in flight while parts are missing, and visits cached
    /// bytes during these reads. A break of one thread ends the others.
    fn take_part<V: Visitor>(&self, threads: usize, mut visitor: V) -> Result<V, ReadError> {
        let copies = self.map.is_none() && self.cached.count() > 0;
        let mut buffer = if copies { Buffer::new(SHARED_COPY_BYTES)? } else { Buffer::default() };
        let mut visit = |visitor: &mut V| {
            let Some(range) = self.cached.take() else { return Ok(ControlFlow::Continue(false)) };
            Ok(self.visit(range, &mut buffer, visitor)?.map_continue(|()| true))
        };
        if self.read_missing(threads, &mut visitor, &mut visit)?.is_break() {
            self.stop();
            return Ok(visitor);
        }
        loop {
            match visit(&mut visitor)? {
                ControlFlow::Continue(true) => {}
                ControlFlow::Continue(false) => return Ok(visitor),
                ControlFlow::Break(()) => {
                    self.stop();
                    return Ok(visitor);
                }
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn read_missing<V: Visitor>(
        &self,
        _threads: usize,
        _visitor: &mut V,
        _visit: VisitCached<'_, V>,
    ) -> Result<ControlFlow<()>, ReadError> {
        Ok(ControlFlow::Continue(()))
    }

    #[cfg(target_os = "linux")]
    fn read_missing<V: Visitor>(
        &self,
        threads: usize,
        visitor: &mut V,
        visit: VisitCached<'_, V>,
    ) -> Result<ControlFlow<()>, ReadError> {
        let Some(direct) = self.direct.as_ref().filter(|_| self.missing.count() > 0) else {
            return Ok(ControlFlow::Continue(()));
        };
        let plan = plan(threads);
        let Ok(ring) = Ring::new(plan.entries) else { return self.copy_missing(visitor) };
        let reads = InFlight::prepare(ring, &plan, self.missing.count())?;
        reads.run(Order::Any, &mut || self.job(direct), visitor, Some(visit))
    }

    /// Reads missing parts through the page cache, on a thread for which the kernel makes no ring.
    #[cfg(target_os = "linux")]
    fn copy_missing(&self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, ReadError> {
        let mut buffer = Buffer::new(SHARED_COPY_BYTES)?;
        while let Some(range) = self.missing.take() {
            if copied::read_range(self.source, range, &mut buffer, visitor)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    #[cfg(target_os = "linux")]
    fn job<'d>(&'d self, direct: &'d DirectFile) -> Option<Job<'d>> {
        use std::os::fd::AsFd;
        let (past, plain) = (direct.file.as_fd(), self.source.file.as_fd());
        self.missing.take().map(|range| {
            if range.start.is_multiple_of(direct.block_bytes) {
                Job { range, file: past, block_bytes: direct.block_bytes, fallback: Some(plain) }
            } else {
                Job { range, file: plain, block_bytes: 1, fallback: None }
            }
        })
    }

    /// Passes bytes from the page cache to the visitor, from the mapping or through a buffer.
    fn visit(
        &self,
        range: Range<u64>,
        buffer: &mut [u8],
        visitor: &mut impl Visitor,
    ) -> Result<ControlFlow<()>, ReadError> {
        let Some(map) = &self.map else { return copied::read_range(self.source, range, buffer, visitor) };
        let place = |at: u64| usize::try_from(at - self.source.extent.start()).expect("it is mapped");
        Ok(visitor.visit(range.start, &map.bytes()[place(range.start)..place(range.end)]))
    }

    /// Removes all remaining pieces, so that every thread ends.
    fn stop(&self) {
        self.cached.stop();
        self.missing.stop();
    }
}

/// Divides a range into parts that are wholly in the page cache, and the other parts.
fn split_by_residency(source: &Source, whole: Range<u64>) -> (Vec<Range<u64>>, Vec<Range<u64>>) {
    match source.cached() {
        CachedShare::None => (Vec::new(), vec![whole]),
        CachedShare::All => (vec![whole], Vec::new()),
        CachedShare::Some => Pieces::aligned(whole, PART_BYTES)
            .partition(|part| source.cached_of(part.clone()) == CachedShare::All),
    }
}
