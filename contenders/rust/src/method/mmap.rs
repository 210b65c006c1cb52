//! The method `mmap`: maps the whole file and visits it in place.
//!
//! A file that is made shorter while it is mapped ends the process with SIGBUS; the lab runs every
//! method in a separate process.

use super::memory::{SEGMENT, THREADS};
use super::size::size_of;
use super::{Fault, Feeding, Method, Reader, memory};
use crate::scan::Visit;
use crate::setting::Param;
use crate::work::Answer;
use memmap2::{Advice, Mmap, MmapOptions};
use readlab_protocol::{Cache, Reads};
use std::fs::File;
use std::io;
use std::path::Path;

const POPULATE: Param = Param::switch("populate");
const SEQUENTIAL: Param = Param::switch("sequential");

pub(super) const MMAP: Method = Method {
    name: "mmap",
    about: "the whole file mapped read-only; several threads take segments of the mapping in turn",
    cache: Cache::Through,
    reads: Reads::File,
    feeding: Feeding::Mapped,
    decodes: &[],
    params: &[POPULATE, SEGMENT, SEQUENTIAL, THREADS],
    build: |settings| {
        Ok(Box::new(Mapped {
            populate: settings.is_on(&POPULATE),
            sequential: settings.is_on(&SEQUENTIAL),
            segment_bytes: settings.get(&SEGMENT),
            threads: settings.get(&THREADS),
        }))
    },
    available: || Ok(()),
};

pub(super) struct Mapped {
    pub(super) populate: bool,
    pub(super) sequential: bool,
    pub(super) segment_bytes: u64,
    pub(super) threads: u64,
}

impl Reader for Mapped {
    fn read(&mut self, path: &Path, visit: Visit) -> Result<Answer, Fault> {
        let map = self.map(path)?;
        memory::visit_all(&map, self.segment_bytes, self.threads, visit)
    }
}

impl Mapped {
    fn map(&self, path: &Path) -> io::Result<Mmap> {
        let file = File::open(path)?;
        let mut options = MmapOptions::new();
        let size_bytes = usize::try_from(size_of(&file)?).map_err(io::Error::other)?;
        if size_bytes > 0 {
            options.len(size_bytes);
        }
        if self.populate {
            options.populate();
        }
        // SAFETY: the bytes are only counted or summed, so that a file which others change
        // meanwhile gives a wrong answer and no more; one that is cut off raises SIGBUS, as the
        // module says.
        let map = unsafe { options.map(&file) }?;
        if self.sequential {
            map.advise(Advice::Sequential)?;
        }
        Ok(map)
    }
}
