//! The method `places-ahead`: the kernel is told of the next places before each read, by
//! posix_fadvise(2), which does not wait.

use super::super::{Fault, Method};
use super::{BlocksAnswer, OfPlaces, PLACES_PREAD, PlacesReader, failed, open};
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
    build: |settings| Ok(Box::new(OfPlaces::new(Ahead { depth: settings.size(&DEPTH) }))),
    ..PLACES_PREAD
};

struct Ahead {
    depth: usize,
}

impl PlacesReader for Ahead {
    fn read(&mut self, places: &Places, visit: Visit) -> Result<BlocksAnswer, Fault> {
        let (file, offsets) = (open(places)?, &places.offsets);
        let block_bytes = super::block_bytes(places)?;
        let mut buffer = Buffer::new(block_bytes)?;
        let block = &mut buffer[..block_bytes];
        let mut all = BlocksAnswer::default();
        offsets.iter().take(self.depth - 1).try_for_each(|&offset| tell(&file, places, offset))?;
        for (number, &offset) in (0..).zip(offsets) {
            let begun = Instant::now();
            if let Some(&next) = offsets.get(number as usize + self.depth - 1) {
                tell(&file, places, next)?;
            }
            file.read_exact_at(block, offset).map_err(|cause| failed(places, offset, cause))?;
            all.latencies.record(begun.elapsed());
            all.visit(number, block, visit);
        }
        Ok(all)
    }
}

/// Tells the kernel that a block will be needed.
fn tell(file: &File, places: &Places, offset: u64) -> Result<(), Fault> {
    let length = NonZero::new(places.block_bytes);
    fadvise(file, offset, length, Advice::WillNeed).map_err(|cause| failed(places, offset, cause.into()))
}
