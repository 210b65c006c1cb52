//! The method `places-ahead`. Before each read it requests the next places from the kernel by
//! posix_fadvise(2), which does not wait.

use super::super::{Fault, Method};
use super::{BlocksAnswer, PLACES_PREAD, PlacesReader, PlacesTarget, block_fault, open};
use crate::scan::Visit;
use crate::setting::Param;
use readlab_auto::buffer::Buffer;
use readlab_protocol::Places;
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::num::NonZero;
use std::os::unix::fs::FileExt;
use std::time::Instant;

const DEPTH: Param = Param::new("depth", 16, 1, 4096);

pub(crate) const PLACES_AHEAD: Method = Method {
    name: "places-ahead",
    about: "posix_fadvise(POSIX_FADV_WILLNEED) of the places that come next, `depth` of them, and pread(2) of the block \
            at each place",
    params: &[DEPTH],
    build: |settings| Ok(Box::new(PlacesTarget::new(AheadReader { depth: settings.size(&DEPTH) }))),
    ..PLACES_PREAD
};

struct AheadReader {
    depth: usize,
}

impl PlacesReader for AheadReader {
    fn read(&mut self, places: &Places, visit: Visit) -> Result<BlocksAnswer, Fault> {
        let (file, offsets) = (open(places)?, &places.offsets);
        let block_bytes = super::block_bytes(places)?;
        let mut buffer = Buffer::new(block_bytes)?;
        let block = &mut buffer[..block_bytes];
        let mut all = BlocksAnswer::default();
        offsets.iter().take(self.depth - 1).try_for_each(|&offset| request_block(&file, places, offset))?;
        for (number, &offset) in (0..).zip(offsets) {
            let begun = Instant::now();
            if let Some(&next) = offsets.get(number as usize + self.depth - 1) {
                request_block(&file, places, next)?;
            }
            file.read_exact_at(block, offset).map_err(|cause| block_fault(places, offset, cause))?;
            all.latencies.record(begun.elapsed());
            all.visit(number, block, visit);
        }
        Ok(all)
    }
}

/// Requests a block from the kernel, which will be needed.
fn request_block(file: &File, places: &Places, offset: u64) -> Result<(), Fault> {
    let length = NonZero::new(places.block_bytes);
    fadvise(file, offset, length, Advice::WillNeed).map_err(|cause| block_fault(places, offset, cause.into()))
}
