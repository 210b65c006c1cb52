//! The common part of methods that read blocks at many places of one file. The list of places is
//! loaded once, before the first turn. Each read is timed, and the answers are added up by places.

mod ahead;
mod controls;
mod mapped;
mod ring;
mod synchronous;

pub(super) use ahead::PLACES_AHEAD;
pub(super) use controls::{PLACES_COPY, PLACES_DEVICE, PLACES_FAULTS, PLACES_NULL};
pub(super) use mapped::PLACES_MMAP;
pub(super) use ring::PLACES_IO_URING;
pub(super) use synchronous::{PLACES_DIRECT, PLACES_PREAD};

use super::{Fault, Reader};
use crate::consumer::Consumer;
use crate::latencies::Latencies;
use crate::scan::Visit;
use crate::segments::Segments;
use crate::setting::Param;
use crate::source::Source;
use readlab_auto::direct::DirectFile;
use readlab_protocol::{Answer, BlockProof, Places};
use std::fs::File;
use std::io;

/// Number of threads that read at the same time, each one block.
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
}

impl<R: PlacesReader> PlacesTarget<R> {
    fn new(reader: R) -> PlacesTarget<R> {
        PlacesTarget { reader, places: None, latencies: Vec::new() }
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
        let BlocksAnswer { all, latencies } = self.reader.read(places, visit)?;
        // The latencies are added up after the window.
        self.latencies.push(latencies);
        Ok(all.unwrap_or_default())
    }

    fn take_latencies(&mut self) -> Option<Latencies> {
        let mut taken = std::mem::take(&mut self.latencies).into_iter();
        let mut all = taken.next()?;
        taken.for_each(|latencies| all.add(&latencies));
        Some(all)
    }
}

/// The answers about blocks, added up while they are read, with the latency of each read.
#[derive(Default)]
struct BlocksAnswer {
    all: Option<Answer>,
    latencies: Latencies,
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

    fn of_parts(parts: Vec<BlocksAnswer>) -> BlocksAnswer {
        let mut parts = parts.into_iter();
        let mut first = parts.next().unwrap_or_default();
        for part in parts {
            first.latencies.add(&part.latencies);
            first.all = first.all.into_iter().chain(part.all).reduce(Answer::merge);
        }
        first
    }
}

/// Reads every block once, by threads that take places in turn. Each thread has its own state,
/// which `begin` makes, and passes it to `read` with the index of a place.
fn by_threads<T>(
    places: &Places,
    threads: u64,
    begin: impl Fn() -> Result<T, Fault> + Sync,
    read: impl Fn(&mut T, u64, &mut BlocksAnswer) -> Result<(), Fault> + Sync,
) -> Result<BlocksAnswer, Fault> {
    let parts = Segments::new(0..places.offsets.len() as u64, 1).share(threads, |turns| {
        let (mut own, mut all) = (begin()?, BlocksAnswer::default());
        while let Some(taken) = turns.take() {
            read(&mut own, taken.start, &mut all)?;
        }
        Ok(all)
    })?;
    Ok(BlocksAnswer::of_parts(parts))
}

/// The fault of the block at an offset.
fn block_fault(places: &Places, offset: u64, cause: io::Error) -> Fault {
    Fault::of_file(&places.file, Fault::at(offset, cause))
}

/// Size of a block, if it fits the address space.
fn block_bytes(places: &Places) -> Result<usize, Fault> {
    Ok(usize::try_from(places.block_bytes).map_err(io::Error::other)?)
}

/// Opens the file past the page cache, if its file system accepts blocks of this size.
fn open_direct(places: &Places) -> Result<File, Fault> {
    let opened = DirectFile::open(&places.file).map_err(|cause| match cause.raw_os_error() {
        None => Fault::Unavailable(cause.to_string()),
        Some(_) => Fault::of_file(&places.file, cause.into()),
    })?;
    let wanted = opened.block_bytes;
    if !places.block_bytes.is_multiple_of(wanted) {
        let given = places.block_bytes;
        let why = format!("O_DIRECT: a block must be a multiple of {wanted} bytes here, and has {given}");
        return Err(Fault::Unavailable(why));
    }
    Ok(opened.file)
}

/// Opens the file through the page cache.
fn open(places: &Places) -> Result<File, Fault> {
    File::open(&places.file).map_err(|cause| Fault::of_file(&places.file, cause.into()))
}
