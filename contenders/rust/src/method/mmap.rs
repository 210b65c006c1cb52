//! The method `mmap`: maps the whole file and visits it in place.
//!
//! If a file is truncated while it is mapped, SIGBUS ends the process. The lab runs every method in
//! a separate process.

use super::memory::{SEGMENT, THREADS};
use super::{Fault, Feeding, Method, Reader, memory};
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use memmap2::{Advice, Mmap, MmapOptions};
use readlab_protocol::Answer;
use std::fs::File;
use std::io;

const POPULATE: Param = Param::switch("populate");
const SEQUENTIAL: Param = Param::switch("sequential");

pub(super) const MMAP: Method = Method {
    name: "mmap",
    about: "the whole file mapped read-only; several threads take segments of the mapping in turn",
    feeding: Feeding::Mapped,
    parts: true,
    lists: true,
    params: &[POPULATE, SEGMENT, SEQUENTIAL, THREADS],
    build: |settings| {
        Ok(Box::new(Mapped {
            populate: settings.is_on(&POPULATE),
            sequential: settings.is_on(&SEQUENTIAL),
            segment_bytes: settings.get(&SEGMENT),
            threads: settings.get(&THREADS),
        }))
    },
    ..Method::DEFAULT
};

pub(super) struct Mapped {
    pub(super) populate: bool,
    pub(super) sequential: bool,
    pub(super) segment_bytes: u64,
    pub(super) threads: u64,
}

impl Reader for Mapped {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let map = self.map(source)?;
        memory::visit_all(&map, self.segment_bytes, self.threads, visit)
    }
}

impl Mapped {
    fn map(&self, source: &Source) -> Result<Mmap, Fault> {
        let mut options = MmapOptions::new();
        if self.populate {
            options.populate();
        }
        let map = map(source, options)?;
        if self.sequential {
            map.advise(Advice::Sequential)?;
        }
        Ok(map)
    }
}

/// Maps the range that is read.
pub(super) fn map(source: &Source, mut options: MmapOptions) -> Result<Mmap, Fault> {
    let file = File::open(source.path())?;
    let range = source.range_in(&file)?;
    let length = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
    // Without a length the rest of the file would be mapped, even for an empty part.
    options.offset(range.start).len(length);
    // SAFETY: the bytes are only counted or summed. If another process changes the file meanwhile,
    // the answer is wrong and nothing else. If the file is truncated, SIGBUS ends the process, as
    // described above.
    Ok(unsafe { options.map(&file) }?)
}
