//! The controls of places. They measure the loop over the places without a read, the read of a
//! nearby block in the page cache, a page fault at each place, and the device past the page cache
//! with many reads in flight.

use super::super::{Fault, Feeding, Method, io_uring as ring_of_blocks};
use super::mapped::Mapped;
use super::ring::{Ring, RingSettings};
use super::synchronous::read_each;
use super::{
    BlocksAnswer, PLACES_PREAD, PlacesReader, PlacesTarget, Stretch, Stretches, THREADS, block_fault, open,
};
use crate::scan::{self, Visit};
use crate::setting::Param;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Cache, Places, Work};
use std::os::unix::fs::FileExt;

const DEPTH: Param = Param::new("depth", 64, 1, 4096);

/// Size of the buffer through which blocks come into the page cache. It is small, because the page
/// faults of its memory count for the turn.
const CACHING_BUFFER_BYTES: usize = 128 << 10;

pub(crate) const PLACES_NULL: Method = Method {
    name: "places-null",
    about: "control: goes through the places with a clock around each, and reads nothing",
    cache: Cache::None,
    feeding: Feeding::Own(&[Work::Newlines, Work::Sum, Work::Discard]),
    params: &[],
    build: |_| Ok(Box::new(PlacesTarget::new(NullControl))),
    ..PLACES_PREAD
};

pub(crate) const PLACES_COPY: Method = Method {
    name: "places-copy",
    about: "control: pread(2) at the place of the longest block, once for each place; the block is brought into the \
            page cache before each turn",
    params: &[THREADS],
    build: |settings| Ok(Box::new(PlacesTarget::new(LongestBlock { threads: settings.get(&THREADS) }))),
    ..PLACES_NULL
};

pub(crate) const PLACES_FAULTS: Method = Method {
    name: "places-faults",
    about: "control: the file mapped, and one byte of each page of the blocks touched; the blocks are read before",
    build: |_| {
        Ok(Box::new(PlacesTarget::new(PageFaultControl { mapped: Mapped { threads: 1, is_random: false } })))
    },
    ..PLACES_NULL
};

pub(crate) const PLACES_DEVICE: Method = Method {
    name: "places-device",
    about: "control: O_DIRECT reads of the blocks in an io_uring, `depth` of them in flight, and not looked at",
    params: &[DEPTH],
    build: |settings| {
        let depth = settings.size(&DEPTH);
        let ring_settings = RingSettings {
            batch: 1,
            depth,
            merge_bytes: 0,
            is_direct: true,
            is_polled: false,
            is_registered: false,
        };
        Ok(Box::new(PlacesTarget::new(Device { ring: Ring { settings: ring_settings } })))
    },
    available: ring_of_blocks::available,
    ..PLACES_NULL
};

struct NullControl;

impl PlacesReader for NullControl {
    fn read(&mut self, places: &Places, _visit: Visit) -> Result<BlocksAnswer, Fault> {
        let answer = read_each(&Stretches::of_blocks(places), 1, Visit::Nothing, |_, _| Ok(()))?;
        Ok(without_proof(answer))
    }
}

struct LongestBlock {
    threads: u64,
}

impl PlacesReader for LongestBlock {
    fn prepare(&mut self, places: &Places) -> Result<(), Fault> {
        read_into_cache(places, places.longest_block())
    }

    fn read(&mut self, places: &Places, _visit: Visit) -> Result<BlocksAnswer, Fault> {
        // A block of any length is within the file at the offset of the longest block.
        let (file, near) = (open(places)?, places.longest_block().map_or(0, |number| places.offsets[number]));
        let again = |block: &mut [u8], _: &Stretch| file.read_exact_at(block, near);
        let blocks = Stretches::of_blocks(places);
        Ok(without_proof(read_each(&blocks, self.threads, Visit::Nothing, again)?))
    }
}

struct PageFaultControl {
    mapped: Mapped,
}

impl PlacesReader for PageFaultControl {
    fn prepare(&mut self, places: &Places) -> Result<(), Fault> {
        read_into_cache(places, 0..places.offsets.len())
    }

    fn read(&mut self, places: &Places, _visit: Visit) -> Result<BlocksAnswer, Fault> {
        let touch = scan::for_work(Work::Discard).next().expect("bytes can be discarded on any processor");
        self.mapped.read(places, touch.visit)
    }
}

struct Device {
    ring: Ring,
}

impl PlacesReader for Device {
    fn read(&mut self, places: &Places, _visit: Visit) -> Result<BlocksAnswer, Fault> {
        self.ring.read(places, Visit::Nothing)
    }
}

/// Brings the blocks with these indices into the page cache.
fn read_into_cache(places: &Places, blocks: impl IntoIterator<Item = usize>) -> Result<(), Fault> {
    let (file, mut buffer) = (open(places)?, Buffer::new(CACHING_BUFFER_BYTES)?);
    for block in blocks {
        let range = places.range_of(block);
        for at in range.clone().step_by(CACHING_BUFFER_BYTES) {
            let bytes = (range.end - at).min(CACHING_BUFFER_BYTES as u64) as usize;
            let read = file.read_exact_at(&mut buffer[..bytes], at);
            read.map_err(|cause| block_fault(places, range.start, cause))?;
        }
    }
    Ok(())
}

/// The latencies without an answer, because the control did not read the blocks.
fn without_proof(answer: BlocksAnswer) -> BlocksAnswer {
    BlocksAnswer { all: Some(Answer::default()), read_bytes: None, ..answer }
}
