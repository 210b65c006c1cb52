//! The first two controls. `null` does nothing, and shows the cost of the measurement. `resident`
//! visits bytes that are already in memory, and shows what the scan could do if delivery cost
//! nothing.

use super::memory::{SEGMENT, THREADS};
use super::size::{check_fits, size_of};
use super::{Fault, Feeding, Method, Reader, memory};
use crate::buffer::Buffer;
use crate::scan::Visit;
use crate::work::{Answer, Work};
use readlab_protocol::{Cache, Reads};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub(super) const NULL: Method = Method {
    name: "null",
    about: "control: opens and reads nothing; its window is empty",
    cache: Cache::None,
    reads: Reads::Both,
    feeding: Feeding::Own(&Work::ALL),
    decodes: &[],
    params: &[],
    build: |_| Ok(Box::new(Null)),
    available: || Ok(()),
};

pub(super) const RESIDENT: Method = Method {
    name: "resident",
    about: "control: the bytes are put into anonymous memory (2 MiB pages if available) before each turn; the window \
            holds only the scan",
    cache: Cache::None,
    reads: Reads::File,
    feeding: Feeding::Mapped,
    decodes: &[],
    params: &[SEGMENT, THREADS],
    build: |settings| {
        Ok(Box::new(Resident {
            segment_bytes: settings.get(&SEGMENT),
            threads: settings.get(&THREADS),
            loaded: None,
        }))
    },
    available: || Ok(()),
};

struct Null;

impl Reader for Null {
    fn read(&mut self, _path: &Path, _visit: Visit) -> Result<Answer, Fault> {
        Ok(Answer::default())
    }
}

struct Resident {
    segment_bytes: u64,
    threads: u64,
    loaded: Option<Loaded>,
}

impl Reader for Resident {
    fn prepare(&mut self, path: &Path) -> Result<(), Fault> {
        self.release();
        self.loaded = Some(Loaded::load("resident", path)?);
        Ok(())
    }

    fn read(&mut self, _path: &Path, visit: Visit) -> Result<Answer, Fault> {
        let loaded = self.loaded.as_ref().ok_or_else(|| io::Error::other("resident: not prepared"))?;
        memory::visit_all(loaded.bytes(), self.segment_bytes, self.threads, visit)
    }

    fn release(&mut self) {
        self.loaded = None;
    }
}

/// A file's bytes in anonymous memory.
pub(super) struct Loaded {
    pages: Buffer,
    len: usize,
}

impl Loaded {
    /// Reads the whole file for the method `name`.
    pub(super) fn load(name: &str, path: &Path) -> Result<Loaded, Fault> {
        let mut file = File::open(path)?;
        let size = size_of(&file)?;
        check_fits(name, size)?;
        let size = usize::try_from(size).map_err(io::Error::other)?;
        let mut pages = Buffer::huge(size)?;
        let mut len = 0;
        while len < size {
            match file.read(&mut pages[len..]) {
                Ok(0) => break,
                Ok(count) => len += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(Fault::at(len as u64, cause)),
            }
        }
        Ok(Loaded { pages, len })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.pages[..self.len]
    }
}
