//! The method `places-ahead`. Before each read it requests the next places from the kernel by
//! posix_fadvise(2), which does not wait.

use super::super::{Fault, Method};
use super::{
    BlocksAnswer, MERGE, PLACES_PREAD, PlacesReader, PlacesTarget, Stretch, Stretches, block_fault, open,
};
use crate::scan::Visit;
use crate::setting::Param;
use readlab_auto::buffer::Buffer;
use readlab_protocol::Places;
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::num::NonZero;
use std::time::Instant;

const DEPTH: Param = Param::new("depth", 16, 1, 4096);

pub(crate) const PLACES_AHEAD: Method = Method {
    name: "places-ahead",
    about: "posix_fadvise(POSIX_FADV_WILLNEED) of the places that come next, `depth` of them, and pread(2) of the block \
            at each place; with merge, of blocks with at most this many bytes between them",
    params: &[DEPTH, MERGE],
    build: |settings| {
        let (depth, merge_bytes) = (settings.size(&DEPTH), settings.get(&MERGE));
        Ok(Box::new(PlacesTarget::new(AheadReader { depth, merge_bytes })))
    },
    ..PLACES_PREAD
};

struct AheadReader {
    depth: usize,
    merge_bytes: u64,
}

impl PlacesReader for AheadReader {
    fn read(&mut self, places: &Places, visit: Visit) -> Result<BlocksAnswer, Fault> {
        let (file, stretches) = (open(places)?, Stretches::new(places, 1, self.merge_bytes));
        let mut buffer = Buffer::new(stretches.longest_bytes()?)?;
        let mut all = BlocksAnswer::default();
        let in_advance = (self.depth - 1).min(stretches.len());
        (0..in_advance).try_for_each(|index| request_stretch(&file, places, &stretches.get(index)?))?;
        for index in 0..stretches.len() {
            let begun = Instant::now();
            let next = index + self.depth - 1;
            if next < stretches.len() {
                request_stretch(&file, places, &stretches.get(next)?)?;
            }
            let stretch = stretches.get(index)?;
            let read = stretch.read_from(&file, &mut buffer);
            read.map_err(|cause| block_fault(places, stretch.offset, cause))?;
            all.visit_stretch(&stretches, &stretch, &buffer, begun.elapsed(), visit);
        }
        Ok(all)
    }
}

/// Asks the kernel to read a stretch into the page cache, without waiting for it.
fn request_stretch(file: &File, places: &Places, stretch: &Stretch) -> Result<(), Fault> {
    let length = NonZero::new(stretch.bytes as u64);
    fadvise(file, stretch.offset, length, Advice::WillNeed)
        .map_err(|cause| block_fault(places, stretch.offset, cause.into()))
}
