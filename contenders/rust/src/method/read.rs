//! The methods `read` and `dontcache`: read(2) in a loop into one buffer. `dontcache` leaves no
//! page in the cache. All methods with one buffer and a file position use this loop.

use super::{Fault, Method, Reader, kept_buffer};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use readlab_auto::buffer::Buffer;
use readlab_protocol::Answer;
use rustix::io::{ReadWriteFlags, preadv2};
use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut, Read};

const BUFFER: Param = Param::new("buffer_bytes", 256 << 10, 1, 1 << 30);

pub(super) const READ: Method = Method {
    name: "read",
    about: "read(2) in a loop into one buffer",
    parts: true,
    lists: true,
    params: &[BUFFER],
    build: |settings| Ok(Box::new(ReadLoop { buffer_bytes: settings.size(&BUFFER) })),
    ..Method::DEFAULT
};

pub(super) const DONTCACHE: Method = Method {
    name: "dontcache",
    about: "preadv2(2) with RWF_DONTCACHE in a loop into one buffer: what it brought is dropped from the page cache",
    parts: true,
    params: &[BUFFER],
    build: |settings| {
        let buffer_bytes = settings.size(&BUFFER);
        Ok(Box::new(move |source: &Source, visit: Visit| read_uncached(source, buffer_bytes, visit)))
    },
    ..Method::DEFAULT
};

struct ReadLoop {
    buffer_bytes: usize,
}

/// A file that is read from front to back without leaving its pages in the cache (since Linux
/// 6.14).
struct UncachedFile(File);

/// `RWF_DONTCACHE` of linux/fs.h, which rustix does not name yet.
const RWF_DONTCACHE: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x80);

fn read_uncached(source: &Source, buffer_bytes: usize, visit: Visit) -> Result<Answer, Fault> {
    let mut file = UncachedFile(source.open()?).take(source.length_max());
    let mut buffer = Buffer::new(buffer_bytes)?;
    let mut consumer = Consumer::new(visit);
    drain(&mut file, &mut buffer[..buffer_bytes], &mut consumer).map_err(unavailable_without_flag)?;
    Ok(consumer.finish())
}

impl Read for UncachedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // An offset of -1 means the position of the file.
        Ok(preadv2(&self.0, &mut [IoSliceMut::new(buffer)], u64::MAX, RWF_DONTCACHE)?)
    }
}

/// Turns the error that kernels and file systems without the flag return at the first read into an
/// unavailable feature.
fn unavailable_without_flag(fault: Fault) -> Fault {
    match fault {
        Fault::Io { at: Some(0), cause } if cause.raw_os_error() == Some(libc::EOPNOTSUPP) => {
            Fault::Unavailable(
                "RWF_DONTCACHE: this kernel or file system does not take it (Linux 6.14)".to_owned(),
            )
        }
        fault => fault,
    }
}

impl Reader for ReadLoop {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        self.read_with_kept_buffer(source, visit, &mut None)
    }

    fn read_with_kept_buffer(
        &mut self,
        source: &Source,
        visit: Visit,
        kept: &mut Option<Buffer>,
    ) -> Result<Answer, Fault> {
        let mut file = source.stream()?;
        let buffer = kept_buffer(kept, self.buffer_bytes)?;
        let mut consumer = Consumer::new(visit);
        drain(&mut file, buffer, &mut consumer)?;
        Ok(consumer.finish())
    }
}

/// Reads to the end. Short reads are continued and interrupted reads repeated. Returns the number
/// of bytes.
pub(crate) fn drain(
    source: &mut impl Read,
    buffer: &mut [u8],
    consumer: &mut Consumer,
) -> Result<u64, Fault> {
    let mut at = 0;
    loop {
        match source.read(buffer) {
            Ok(0) => return Ok(at),
            Ok(count) => {
                consumer.feed(&buffer[..count]);
                at += count as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(Fault::at(at, cause)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that is interrupted before every read and returns few bytes for each read.
    struct InterruptedSource<'a> {
        rest: &'a [u8],
        interrupted: bool,
    }

    impl Read for InterruptedSource<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.interrupted = !self.interrupted;
            if self.interrupted {
                return Err(ErrorKind::Interrupted.into());
            }
            let few = buffer.len().min(3);
            self.rest.read(&mut buffer[..few])
        }
    }

    #[test]
    fn short_and_interrupted_reads_lose_nothing() {
        let mut source = InterruptedSource { rest: b"one\ntwo\n\nthree", interrupted: false };
        let visit = crate::scan::for_work(crate::Work::Lines).next().unwrap().visit;
        let mut consumer = Consumer::new(visit);
        assert_eq!(drain(&mut source, &mut [0; 8], &mut consumer).unwrap(), 14);
        let answer = consumer.finish();
        assert_eq!((answer.bytes, answer.lines), (Some(14), Some(4)));
    }

    #[test]
    fn a_failed_read_has_its_offset() {
        let mut source = (&b"12345"[..]).chain(FailingSource);
        let fault = drain(&mut source, &mut [0; 2], &mut Consumer::new(Visit::Nothing)).unwrap_err();
        assert_eq!(fault.to_string(), "broken at byte 5");
    }

    struct FailingSource;

    impl Read for FailingSource {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
}
