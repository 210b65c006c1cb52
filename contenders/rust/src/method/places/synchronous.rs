//! The methods `places-pread` and `places-direct`: one pread(2) for each block, by threads that
//! take places in turn. The number of reads in flight is that of the threads.

use super::super::{Fault, Feeding, Method};
use super::{
    BlocksAnswer, MERGE, PlacesFile, PlacesReader, PlacesTarget, Stretch, Stretches, THREADS, block_fault,
    by_threads,
};
use crate::scan::Visit;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Cache, Places, Reads};
use std::io;
use std::time::Instant;

pub(crate) const PLACES_PREAD: Method = Method {
    name: "places-pread",
    about: "pread(2) of the block at each place, by threads that take places in turn; with merge, one of blocks with at \
            most this many bytes between them",
    reads: Reads::Places,
    feeding: Feeding::AnyOrder,
    params: &[MERGE, THREADS],
    build: |settings| {
        let (threads, merge_bytes) = (settings.get(&THREADS), settings.get(&MERGE));
        Ok(Box::new(PlacesTarget::new(Pread { threads, merge_bytes, open: PlacesFile::open_cached })))
    },
    ..Method::DEFAULT
};

pub(crate) const PLACES_DIRECT: Method = Method {
    name: "places-direct",
    about: "pread(2) with O_DIRECT of the block at each place, by threads that take places in turn; with merge, one of \
            blocks with at most this many bytes between them",
    cache: Cache::Bypass,
    build: |settings| {
        let (threads, merge_bytes) = (settings.get(&THREADS), settings.get(&MERGE));
        Ok(Box::new(PlacesTarget::new(Pread { threads, merge_bytes, open: PlacesFile::open_direct })))
    },
    ..PLACES_PREAD
};

struct Pread {
    threads: u64,
    merge_bytes: u64,
    open: fn(&Places) -> Result<PlacesFile, Fault>,
}

impl PlacesReader for Pread {
    fn read(&mut self, places: &Places, visit: Visit) -> Result<BlocksAnswer, Fault> {
        let PlacesFile { file, unit_bytes } = (self.open)(places)?;
        let stretches = Stretches::new(places, unit_bytes, self.merge_bytes);
        read_each(&stretches, self.threads, visit, |buffer, stretch| stretch.read_from(&file, buffer))
    }
}

/// Reads every stretch into a buffer of the thread, with a clock around each read, and visits its
/// blocks.
pub(super) fn read_each(
    stretches: &Stretches,
    threads: u64,
    visit: Visit,
    read: impl Fn(&mut [u8], &Stretch) -> io::Result<()> + Sync,
) -> Result<BlocksAnswer, Fault> {
    let (places, longest_bytes) = (stretches.places(), stretches.longest_bytes()?);
    let buffer = || Ok(Buffer::new(longest_bytes)?);
    by_threads(stretches.len(), threads, buffer, |buffer, number, all| {
        let stretch = stretches.get(number)?;
        let begun = Instant::now();
        let offset = || places.offsets[stretch.blocks().start];
        read(&mut buffer[..stretch.bytes], &stretch).map_err(|cause| block_fault(places, offset(), cause))?;
        all.visit_stretch(stretches, &stretch, buffer, begun.elapsed(), visit);
        Ok(())
    })
}
