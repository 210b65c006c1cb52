//! The common part of methods that read blocks at many places of one file. The list of places is
//! loaded once, before the first turn. Each read is timed, and the answers are added up by places.
//! `stretches` decides which blocks one read covers. `served` requests the blocks of a list from a
//! server.

mod ahead;
mod controls;
mod mapped;
mod ring;
mod served;
mod stretches;
mod synchronous;
mod vectored;

pub(super) use ahead::PLACES_AHEAD;
pub(super) use controls::{PLACES_COPY, PLACES_DEVICE, PLACES_FAULTS, PLACES_NULL};
pub(super) use mapped::PLACES_MMAP;
pub(super) use ring::PLACES_IO_URING;
pub(super) use served::{HTTP_MULTIRANGE, HTTP_RANGES};
pub(super) use synchronous::{PLACES_DIRECT, PLACES_PREAD};
pub(super) use vectored::PLACES_PREADV;

use super::{Fault, Reader};
use crate::Latencies;
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::segments::Segments;
use crate::setting::Param;
use crate::source::Source;
use crate::traffic::Traffic;
use readlab_auto::direct::DirectFile;
use readlab_protocol::{Answer, BlockBytes, BlockProof, Places};
use std::fs::File;
use std::io;
use std::mem;
use std::time::Duration;
use stretches::{MERGE, Stretch, Stretches};

/// Number of threads that read at the same time, each one block or one stretch of blocks.
const THREADS: Param = Param::new("threads", 1, 1, 1024);

/// A method of reading the blocks of a list of places.
trait PlacesReader: Send {
    /// Prepares for a turn, outside the window.
    fn prepare(&mut self, _places: &Places) -> Result<(), Fault> {
        Ok(())
    }

    /// Opens the file, reads every block and closes it.
    fn read(&mut self, places: &Places, visit: Visit) -> Result<BlocksAnswer, Fault>;
}

/// A places reader for the target that is the list.
struct PlacesTarget<R> {
    reader: R,
    places: Option<Places>,
    /// The latencies of readings since they were last taken.
    latencies: Vec<Latencies>,
    /// Number of bytes that the reads of the last reading requested.
    read_bytes: Option<u64>,
}

impl<R: PlacesReader> PlacesTarget<R> {
    fn new(reader: R) -> PlacesTarget<R> {
        PlacesTarget { reader, places: None, latencies: Vec::new(), read_bytes: None }
    }
}

impl<R: PlacesReader> Reader for PlacesTarget<R> {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        let places = match self.places.take() {
            Some(places) => places,
            None => Places::read(source.path())?,
        };
        self.reader.prepare(self.places.insert(places))
    }

    fn read(&mut self, _source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let Some(places) = &self.places else { return Ok(Answer::default()) };
        let BlocksAnswer { all, latencies, read_bytes, .. } = self.reader.read(places, visit)?;
        // The latencies are added up after the window.
        self.latencies.push(latencies);
        self.read_bytes = read_bytes;
        Ok(all.unwrap_or_default())
    }

    fn take_latencies(&mut self) -> Option<Latencies> {
        Latencies::sum(mem::take(&mut self.latencies))
    }

    fn read_bytes(&self) -> Option<u64> {
        self.read_bytes
    }
}

/// The answers about blocks, added up while they are read, with the latency of each read.
#[derive(Default)]
struct BlocksAnswer {
    all: Option<Answer>,
    latencies: Latencies,
    /// Number of bytes that the reads requested, or that the answers of a server had; `None` if the
    /// kernel decides it, as for mapped files.
    read_bytes: Option<u64>,
    /// The requests to a server; none for a file.
    traffic: Traffic,
}

impl BlocksAnswer {
    /// Visits the block at the place of this index.
    fn visit(&mut self, number: u64, block: &[u8], visit: Visit) {
        let mut consumer = Consumer::new(visit);
        consumer.feed(block);
        let answer = consumer.finish();
        let proof = BlockProof::from_block(number, answer.value());
        let answer = Answer { blocks: Some(proof), ..answer };
        self.all = Some(self.all.map_or(answer, |all| all.merge(answer)));
    }

    fn count_read_bytes(&mut self, bytes: u64) {
        self.read_bytes = Some(self.read_bytes.unwrap_or(0) + bytes);
    }

    /// Counts the bytes of a stretch after its read, and visits its blocks.
    fn visit_stretch(
        &mut self,
        stretches: &Stretches,
        stretch: &Stretch,
        bytes: &[u8],
        took: Duration,
        visit: Visit,
    ) {
        self.count_read_bytes(stretch.bytes as u64);
        self.visit_blocks(stretches, stretch, bytes, took, visit);
    }

    /// Visits the blocks of a stretch. The duration of its read counts as the latency of each block.
    fn visit_blocks(
        &mut self,
        stretches: &Stretches,
        stretch: &Stretch,
        bytes: &[u8],
        took: Duration,
        visit: Visit,
    ) {
        for block in stretch.blocks() {
            self.latencies.record(took);
            self.visit(block as u64, stretches.block(stretch, block, bytes), visit);
        }
    }

    fn of_parts(parts: Vec<BlocksAnswer>) -> BlocksAnswer {
        let mut parts = parts.into_iter();
        let mut first = parts.next().unwrap_or_default();
        for part in parts {
            first.latencies.add(&part.latencies);
            first.read_bytes =
                first.read_bytes.into_iter().chain(part.read_bytes).reduce(|one, other| one + other);
            first.traffic = first.traffic.merge(part.traffic);
            first.all = first.all.into_iter().chain(part.all).reduce(Answer::merge);
        }
        first
    }
}

/// Does `reads` reads once each, by threads that take the reads in turn. Each thread has its own
/// state, which `begin` makes, and passes it to `read` with the index of a read.
fn by_threads<T>(
    reads: usize,
    threads: u64,
    begin: impl Fn() -> Result<T, Fault> + Sync,
    read: impl Fn(&mut T, usize, &mut BlocksAnswer) -> Result<(), Fault> + Sync,
) -> Result<BlocksAnswer, Fault> {
    let parts = Segments::new(0..reads as u64, 1).run_on_threads(threads, |turns| {
        let (mut own, mut all) = (begin()?, BlocksAnswer::default());
        while let Some(taken) = turns.take() {
            read(&mut own, taken.start as usize, &mut all)?;
        }
        Ok(all)
    })?;
    Ok(BlocksAnswer::of_parts(parts))
}

/// The fault of the block at an offset.
fn block_fault(places: &Places, offset: u64, cause: io::Error) -> Fault {
    Fault::of_file(&places.file, Fault::at(offset, cause))
}

/// The open file of a list of places.
struct PlacesFile {
    file: File,
    /// Reads begin and end at multiples of this size.
    unit_bytes: u64,
}

impl PlacesFile {
    /// Opens the file past the page cache, if its file system accepts blocks of this size. Blocks of
    /// different lengths are read with the bytes around them, so that any length is accepted.
    fn open_direct(places: &Places) -> Result<PlacesFile, Fault> {
        let opened = DirectFile::open(&places.file).map_err(|cause| match cause.raw_os_error() {
            None => Fault::Unavailable(cause.to_string()),
            Some(_) => Fault::of_file(&places.file, cause.into()),
        })?;
        let wanted = opened.block_bytes;
        if let BlockBytes::Same(given) = &places.block_bytes
            && !given.is_multiple_of(wanted)
        {
            let why = format!("O_DIRECT: a block must be a multiple of {wanted} bytes here, and has {given}");
            return Err(Fault::Unavailable(why));
        }
        Ok(PlacesFile { file: opened.file, unit_bytes: wanted })
    }

    /// Opens the file through the page cache.
    fn open_cached(places: &Places) -> Result<PlacesFile, Fault> {
        Ok(PlacesFile { file: open(places)?, unit_bytes: 1 })
    }
}

/// Opens the file through the page cache.
fn open(places: &Places) -> Result<File, Fault> {
    File::open(&places.file).map_err(|cause| Fault::of_file(&places.file, cause.into()))
}
