//! The method `pread`: pread(2) from several threads, each with its own buffer, which take segments
//! from a counter.

use super::{Fault, Feeding, Method, Reader, kept_buffer};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::segments::Segments;
use crate::setting::Param;
use crate::source::Source;
use readlab_auto::buffer::Buffer;
use readlab_protocol::Answer;
use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::FileExt;

const BUFFER: Param = Param::new("buffer_bytes", 256 << 10, 1, 1 << 30);
const SEGMENT: Param = Param::new("segment_bytes", 4 << 20, 4096, 1 << 40);
const THREADS: Param = Param::new("threads", 1, 1, 1024);

pub(super) const PREAD: Method = Method {
    name: "pread",
    about: "pread(2) by threads that take segments of the file in turn; a segment holds whole buffers",
    feeding: Feeding::AnyOrder,
    parts: true,
    params: &[BUFFER, SEGMENT, THREADS],
    build: |settings| {
        let (buffer, segment) = (settings.get(&BUFFER), settings.get(&SEGMENT));
        settings.settle(&SEGMENT, segment.next_multiple_of(buffer));
        Ok(Box::new(Pread {
            buffer_bytes: settings.size(&BUFFER),
            segment_bytes: settings.get(&SEGMENT),
            threads: settings.get(&THREADS),
        }))
    },
    ..Method::DEFAULT
};

pub(super) struct Pread {
    pub(super) buffer_bytes: usize,
    pub(super) segment_bytes: u64,
    pub(super) threads: u64,
}

impl Reader for Pread {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let file = File::open(source.path())?;
        let segments = Segments::new(source.range_in(&file)?, self.segment_bytes);
        let parts = segments.run_on_threads(self.threads, |segments| {
            let mut buffer = Buffer::new(self.buffer_bytes)?;
            let mut consumer = Consumer::new(visit);
            while let Some(range) = segments.take() {
                read_range(&file, range, &mut buffer[..self.buffer_bytes], &mut consumer)?;
            }
            Ok(consumer.finish())
        })?;
        Ok(Answer::of_parts(parts))
    }

    fn read_with_kept_buffer(
        &mut self,
        source: &Source,
        visit: Visit,
        kept: &mut Option<Buffer>,
    ) -> Result<Answer, Fault> {
        if self.threads > 1 {
            return self.read(source, visit);
        }
        let file = File::open(source.path())?;
        let mut consumer = Consumer::new(visit);
        let range = source.range_in(&file)?;
        read_range(&file, range, kept_buffer(kept, self.buffer_bytes)?, &mut consumer)?;
        Ok(consumer.finish())
    }
}

/// Reads one segment. Short reads are continued. The reading ends early if the file has become
/// shorter.
pub(crate) fn read_range(
    file: &impl FileExt,
    range: Range<u64>,
    buffer: &mut [u8],
    consumer: &mut Consumer,
) -> Result<(), Fault> {
    let mut at = range.start;
    while at < range.end {
        let wanted = buffer.len().min(usize::try_from(range.end - at).unwrap_or(usize::MAX));
        match file.read_at(&mut buffer[..wanted], at) {
            Ok(0) => break,
            Ok(count) => {
                consumer.feed(&buffer[..count]);
                at += count as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(Fault::at(at, cause)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    /// A file that returns one byte for each read.
    struct OneByteFile(&'static [u8]);

    impl FileExt for OneByteFile {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            let rest = self.0.get(offset as usize..).unwrap_or_default();
            let count = rest.len().min(buffer.len()).min(1);
            buffer[..count].copy_from_slice(&rest[..count]);
            Ok(count)
        }

        fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    #[test]
    fn a_range_is_read_exactly_and_ends_at_the_end_of_the_file() {
        for (range, bytes) in [(0..5, 5), (2..4, 2), (3..100, 2), (7..9, 0)] {
            let mut consumer = Consumer::new(Visit::Nothing);
            read_range(&OneByteFile(b"12345"), range.clone(), &mut [0; 4], &mut consumer).unwrap();
            assert_eq!(consumer.finish().bytes, Some(bytes), "{range:?}");
        }
    }
}
