//! The method `vectored`: readv(2) into several buffers with one call.

use super::{Fault, Feeding, Method, Reader};
use crate::buffer::Buffer;
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::Param;
use crate::work::Answer;
use readlab_protocol::{Cache, Reads};
use std::fs::File;
use std::io::{ErrorKind, IoSliceMut, Read};
use std::path::Path;

const BUFFER: Param = Param::new("buffer_bytes", 8 << 10, 1, 1 << 26);
/// The kernel takes no more than 1024 buffers in one call (IOV_MAX).
const BUFFERS: Param = Param::new("buffers", 16, 1, 1024);

pub(super) const VECTORED: Method = Method {
    name: "vectored",
    about: "readv(2) in a loop into several buffers",
    cache: Cache::Through,
    reads: Reads::File,
    feeding: Feeding::InOrder,
    decodes: &[],
    params: &[BUFFER, BUFFERS],
    build: |settings| {
        Ok(Box::new(Vectored { buffer_bytes: settings.size(&BUFFER), buffers: settings.size(&BUFFERS) }))
    },
    available: || Ok(()),
};

struct Vectored {
    buffer_bytes: usize,
    buffers: usize,
}

impl Reader for Vectored {
    fn read(&mut self, path: &Path, visit: Visit) -> Result<Answer, Fault> {
        let mut file = File::open(path)?;
        let mut buffers = Buffer::new(self.buffer_bytes * self.buffers)?;
        let mut consumer = Consumer::new(visit);
        let mut at = 0;
        loop {
            match read_into(&mut file, &mut buffers, self.buffer_bytes) {
                Ok(0) => return Ok(consumer.finish()),
                Ok(count) => {
                    buffers[..count].chunks(self.buffer_bytes).for_each(|filled| consumer.feed(filled));
                    at += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(cause) => return Err(Fault::at(at, cause)),
            }
        }
    }
}

/// One call; the kernel fills the buffers one after the other, the last one perhaps in part.
fn read_into(source: &mut impl Read, buffers: &mut [u8], buffer_bytes: usize) -> std::io::Result<usize> {
    let mut slices: Vec<IoSliceMut<'_>> = buffers.chunks_mut(buffer_bytes).map(IoSliceMut::new).collect();
    source.read_vectored(&mut slices)
}
