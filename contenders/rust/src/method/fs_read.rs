//! The method `fs-read`: the standard library's `fs::read`, which returns the whole file in a `Vec`
//! before the bytes are visited. Unlike [`super::whole`], the library also reads to see the end.

use super::fits::check_source_fits;
use super::{Fault, Feeding, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::source::Source;
use crate::work::Answer;
use readlab_protocol::{Cache, Reads};
use std::fs;

pub(super) const FS_READ: Method = Method {
    name: "fs-read",
    about: "fs::read: the whole file in a Vec, which the library makes by the size of the file",
    cache: Cache::Through,
    reads: Reads::File,
    feeding: Feeding::InOrder,
    decodes: &[],
    parts: false,
    lists: false,
    tls: false,
    params: &[],
    build: |_| Ok(Box::new(FsRead)),
    available: || Ok(()),
};

struct FsRead;

impl Reader for FsRead {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        check_source_fits(FS_READ.name, source)
    }

    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let bytes = fs::read(source.path())?;
        let mut consumer = Consumer::new(visit);
        consumer.feed(&bytes);
        Ok(consumer.finish())
    }
}
