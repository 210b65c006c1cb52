//! The method `zstd-frames`: the frames of a zstd, decoded by several threads.
//!
//! A zstd has several frames if it was written so that it can be decoded from the middle, as the
//! seekable format does, or by several programs. libzstd tells how long a frame is from the heads
//! of its blocks. Each thread takes the next frames of the mapped file and decodes them as a stream
//! through a buffer of its own. Where no frame begins, the rest is left to the decoder, which has
//! the reason.

use super::stream::StreamDecoder;
use super::{Fault, Feeding, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::segments::Segments;
use crate::setting::Param;
use crate::source::Source;
use memmap2::Mmap;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Archive};
use std::fs::File;
use std::ops::Range;
use zstd::zstd_safe::find_frame_compressed_size;

const BUFFER: Param = Param::new("buffer_bytes", 64 << 10, 1, 1 << 30);
const THREADS: Param = Param::new("threads", 2, 1, 1024);

/// Small frames are decoded together up to so many bytes of the file: a decoder takes a while to be
/// made.
const TOGETHER_BYTES: usize = 256 << 10;

pub(super) const ZSTD_FRAMES: Method = Method {
    name: "zstd-frames",
    about: "the frames of a mapped zstd by threads that take them in turn, through crate zstd (libzstd) into a buffer each",
    feeding: Feeding::AnyOrder,
    decodes: &[Archive::Zstd],
    params: &[BUFFER, THREADS],
    build: |settings| {
        let (buffer_bytes, threads) = (settings.size(&BUFFER), settings.get(&THREADS));
        Ok(Box::new(Frames { buffer_bytes, threads }))
    },
    ..Method::USUAL
};

struct Frames {
    buffer_bytes: usize,
    threads: u64,
}

impl Reader for Frames {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let file = File::open(source.path())?;
        // SAFETY: the file is only read, and the lab ends the run if it changes meanwhile.
        let bytes = unsafe { Mmap::map(&file)? };
        let dictionary = source.decoder_dictionary()?;
        let decoder = StreamDecoder { archive: Archive::Zstd, dictionary: dictionary.as_ref() };
        let groups = groups(&bytes);
        let parts = Segments::new(0..groups.len() as u64, 1).share(self.threads, |numbers| {
            let mut buffer = Buffer::new(self.buffer_bytes)?;
            let mut consumer = Consumer::new(visit);
            while let Some(number) = numbers.take() {
                let mut frames = &bytes[groups[number.start as usize].clone()];
                decoder.decode(&mut frames, &mut buffer[..self.buffer_bytes], &mut consumer)?;
            }
            Ok(consumer.finish())
        })?;
        Ok(Answer::of_parts(parts))
    }
}

/// The frames, several small ones together; the last group has whatever is left. At least one.
fn groups(bytes: &[u8]) -> Vec<Range<usize>> {
    let (mut groups, mut begin, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        match find_frame_compressed_size(&bytes[at..]) {
            Ok(length) if length > 0 => at += length,
            _ => at = bytes.len(),
        }
        if at - begin >= TOGETHER_BYTES || at >= bytes.len() {
            groups.push(begin..at.min(bytes.len()));
            begin = at;
        }
    }
    if groups.is_empty() {
        groups.push(0..0);
    }
    groups
}
