//! The methods `places-pread` and `places-direct`: one pread(2) for each block, by threads that
//! take places in turn. The number of reads in flight is that of the threads.

use super::super::{Fault, Feeding, Method};
use super::{
    BlocksAnswer, PlacesReader, PlacesTarget, THREADS, block_bytes, block_fault, by_threads, open,
    open_direct,
};
use crate::scan::Visit;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Cache, Places, Reads};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Instant;

pub(crate) const PLACES_PREAD: Method = Method {
    name: "places-pread",
    about: "pread(2) of the block at each place, by threads that take places in turn",
    reads: Reads::Places,
    feeding: Feeding::AnyOrder,
    params: &[THREADS],
    build: |settings| Ok(Box::new(PlacesTarget::new(Pread { threads: settings.get(&THREADS), open }))),
    ..Method::DEFAULT
};

pub(crate) const PLACES_DIRECT: Method = Method {
    name: "places-direct",
    about: "pread(2) with O_DIRECT of the block at each place, by threads that take places in turn",
    cache: Cache::Bypass,
    build: |settings| {
        Ok(Box::new(PlacesTarget::new(Pread { threads: settings.get(&THREADS), open: open_direct })))
    },
    ..PLACES_PREAD
};

struct Pread {
    threads: u64,
    open: fn(&Places) -> Result<File, Fault>,
}

impl PlacesReader for Pread {
    fn read(&mut self, places: &Places, visit: Visit) -> Result<BlocksAnswer, Fault> {
        let file = (self.open)(places)?;
        read_each(places, self.threads, visit, |block, offset| file.read_exact_at(block, offset))
    }
}

/// Reads the block at every place into a buffer of the thread, with a clock around each read, and
/// visits it.
pub(super) fn read_each(
    places: &Places,
    threads: u64,
    visit: Visit,
    read: impl Fn(&mut [u8], u64) -> io::Result<()> + Sync,
) -> Result<BlocksAnswer, Fault> {
    let block_bytes = block_bytes(places)?;
    let buffer = || Ok(Buffer::new(block_bytes)?);
    by_threads(places, threads, buffer, |buffer, number, all| {
        let (block, offset) = (&mut buffer[..block_bytes], places.offsets[number as usize]);
        let begun = Instant::now();
        read(block, offset).map_err(|cause| block_fault(places, offset, cause))?;
        all.latencies.record(begun.elapsed());
        all.visit(number, block, visit);
        Ok(())
    })
}
