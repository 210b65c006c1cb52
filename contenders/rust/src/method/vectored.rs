//! The method `vectored`: readv(2) into several buffers with one call. The buffers are parts of one
//! block of memory, or each buffer is a separate block.

use super::{Fault, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use readlab_auto::buffer::Buffer;
use readlab_protocol::Answer;
use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut, Read};

const BUFFER: Param = Param::new("buffer_bytes", 8 << 10, 1, 1 << 26);
/// The kernel accepts at most 1024 buffers in one call (IOV_MAX).
const BUFFERS: Param = Param::new("buffers", 16, 1, 1024);
const SEPARATE: Param = Param::switch("separate");

pub(super) const VECTORED: Method = Method {
    name: "vectored",
    about: "readv(2) in a loop into several buffers: parts of one block, with separate=1 each a block of its own",
    params: &[BUFFER, BUFFERS, SEPARATE],
    build: |settings| {
        Ok(Box::new(VectoredReader {
            buffer_bytes: settings.size(&BUFFER),
            buffers: settings.size(&BUFFERS),
            memory: if settings.is_on(&SEPARATE) { Memory::Separate } else { Memory::OneBlock },
        }))
    },
    ..Method::DEFAULT
};

struct VectoredReader {
    buffer_bytes: usize,
    buffers: usize,
    memory: Memory,
}

/// How the buffers of one call are allocated.
enum Memory {
    OneBlock,
    Separate,
}

impl Reader for VectoredReader {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let mut file = File::open(source.path())?;
        let mut consumer = Consumer::new(visit);
        match self.memory {
            Memory::OneBlock => {
                let mut block = Buffer::new(self.buffer_bytes * self.buffers)?;
                read_all(|| {
                    let count = read_into(&mut file, &mut block, self.buffer_bytes)?;
                    block[..count].chunks(self.buffer_bytes).for_each(|filled| consumer.feed(filled));
                    Ok(count)
                })?;
            }
            Memory::Separate => {
                // The buffers are allocated one by one, like the elements of a list of vectors. The
                // slices are built once.
                let mut blocks = vec![vec![0; self.buffer_bytes]; self.buffers];
                let mut slices: Vec<IoSliceMut<'_>> =
                    blocks.iter_mut().map(|block| IoSliceMut::new(block)).collect();
                read_all(|| {
                    let count = file.read_vectored(&mut slices)?;
                    feed_separate(&slices, count, &mut consumer);
                    Ok(count)
                })?;
            }
        }
        Ok(consumer.finish())
    }
}

/// Repeats the call until it returns no bytes. A call that a signal interrupted is repeated.
fn read_all(mut call: impl FnMut() -> io::Result<usize>) -> Result<(), Fault> {
    let mut at = 0;
    loop {
        match call() {
            Ok(0) => return Ok(()),
            Ok(count) => at += count as u64,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(Fault::at(at, cause)),
        }
    }
}

/// Does one call. The kernel fills the buffers one after the other, and the last one perhaps in
/// part.
fn read_into(source: &mut impl Read, block: &mut [u8], buffer_bytes: usize) -> io::Result<usize> {
    let mut slices: Vec<IoSliceMut<'_>> = block.chunks_mut(buffer_bytes).map(IoSliceMut::new).collect();
    source.read_vectored(&mut slices)
}

/// Feeds the first `count` bytes of consecutive buffers to the consumer.
fn feed_separate(slices: &[IoSliceMut<'_>], count: usize, consumer: &mut Consumer) {
    let mut left = count;
    for slice in slices {
        let filled = left.min(slice.len());
        if filled == 0 {
            return;
        }
        consumer.feed(&slice[..filled]);
        left -= filled;
    }
}
