//! The method `zstd-frames`, which decodes the frames of a zstd by several threads.
//!
//! A zstd has several frames if it was written for decoding from the middle, as in the seekable
//! format, or by several programs. libzstd determines the length of a frame from the heads of its
//! blocks. Each thread takes the next frames of the mapped file and decodes them as a stream
//! through its own buffer. From the place where no frame begins, the rest is left to the decoder,
//! which reports the reason.

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

/// Small frames are decoded together up to this size in the file, because making a decoder takes
/// time.
const GROUP_BYTES_MAX: usize = 256 << 10;

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
    ..Method::DEFAULT
};

struct Frames {
    buffer_bytes: usize,
    threads: u64,
}

impl Reader for Frames {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let file = File::open(source.path())?;
        // SAFETY: the file is only read, and the lab ends the run if the file changes meanwhile.
        let bytes = unsafe { Mmap::map(&file)? };
        let dictionary = source.decoder_dictionary()?;
        let decoder = StreamDecoder { archive: Archive::Zstd, dictionary: dictionary.as_ref() };
        let groups = frame_groups(&bytes);
        let parts = Segments::new(0..groups.len() as u64, 1).run_on_threads(self.threads, |numbers| {
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

/// The ranges of the frames, several small ones together. The last range contains the rest of the
/// file. There is at least one.
fn frame_groups(bytes: &[u8]) -> Vec<Range<usize>> {
    let (mut groups, mut begin, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        match find_frame_compressed_size(&bytes[at..]) {
            Ok(length) if length > 0 => at += length,
            _ => at = bytes.len(),
        }
        if at - begin >= GROUP_BYTES_MAX || at >= bytes.len() {
            groups.push(begin..at.min(bytes.len()));
            begin = at;
        }
    }
    if groups.is_empty() {
        groups.push(0..0);
    }
    groups
}
