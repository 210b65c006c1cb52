//! The method `places-mmap`, which maps the file and visits each block in the mapping. The latency
//! of a read is then that of the visit, including the page faults.

use super::super::{Fault, Feeding, Method, mmap};
use super::{BlocksAnswer, PLACES_PREAD, PlacesReader, PlacesTarget, THREADS, block_fault, by_threads};
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use memmap2::{Advice, Mmap, MmapOptions};
use readlab_protocol::Places;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::time::Instant;

const RANDOM: Param = Param::switch("random");

pub(crate) const PLACES_MMAP: Method = Method {
    name: "places-mmap",
    about: "the file mapped, and the block at each place visited in it, by threads that take places in turn; with random \
            as madvise(MADV_RANDOM) reads: no more than what is touched",
    feeding: Feeding::Mapped,
    params: &[RANDOM, THREADS],
    build: |settings| {
        let (threads, is_random) = (settings.get(&THREADS), settings.is_on(&RANDOM));
        Ok(Box::new(PlacesTarget::new(Mapped { threads, is_random })))
    },
    ..PLACES_PREAD
};

pub(super) struct Mapped {
    pub(super) threads: u64,
    pub(super) is_random: bool,
}

impl PlacesReader for Mapped {
    fn read(&mut self, places: &Places, visit: Visit) -> Result<BlocksAnswer, Fault> {
        let map = self.map(places)?;
        by_threads(
            places.offsets.len(),
            self.threads,
            || Ok(()),
            |(), number, all| {
                let range = places.range_of(number);
                let begun = Instant::now();
                let offset = range.start;
                let block = block(&map, range).map_err(|cause| block_fault(places, offset, cause))?;
                all.visit(number as u64, block, visit);
                all.latencies.record(begun.elapsed());
                Ok(())
            },
        )
    }
}

impl Mapped {
    fn map(&self, places: &Places) -> Result<Mmap, Fault> {
        let mapped = || {
            let map = mmap::map(&Source::whole(&places.file), MmapOptions::new())?;
            if self.is_random {
                map.advise(Advice::Random)?;
            }
            Ok(map)
        };
        mapped().map_err(|fault| Fault::of_file(&places.file, fault))
    }
}

fn block(map: &[u8], range: Range<u64>) -> io::Result<&[u8]> {
    let at = |offset: u64| usize::try_from(offset).map_err(io::Error::other);
    map.get(at(range.start)?..at(range.end)?)
        .ok_or_else(|| io::Error::new(ErrorKind::UnexpectedEof, "the file ends before"))
}
