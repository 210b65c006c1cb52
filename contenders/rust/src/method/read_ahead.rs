//! The method `read-ahead`: pread(2) in a loop into one buffer. Before each read it requests the bytes
//! that come next from the kernel by posix_fadvise(2), which does not wait. A file so has a read-ahead
//! of its own, whatever the setting of its device.

use super::pread::read_range;
use super::{Fault, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use readlab_auto::buffer::Buffer;
use readlab_protocol::Answer;
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::num::NonZero;
use std::ops::Range;

const AHEAD: Param = Param::new("ahead_bytes", 4 << 20, 4096, 1 << 30);
const BUFFER: Param = Param::new("buffer_bytes", 256 << 10, 1, 1 << 30);

/// The kernel drops what one call requests beyond the read-ahead of the device and its largest request.
const CALL_BYTES_MAX: u64 = 128 << 10;

pub(super) const READ_AHEAD: Method = Method {
    name: "read-ahead",
    about: "pread(2) in a loop into one buffer, and before each read posix_fadvise(POSIX_FADV_WILLNEED) of the bytes \
            that come next, `ahead` of them",
    parts: true,
    params: &[AHEAD, BUFFER],
    build: |settings| {
        let (ahead_bytes, buffer_bytes) = (settings.get(&AHEAD), settings.size(&BUFFER));
        Ok(Box::new(ReadAhead { ahead_bytes, buffer_bytes }))
    },
    ..Method::DEFAULT
};

struct ReadAhead {
    ahead_bytes: u64,
    buffer_bytes: usize,
}

/// The bytes of a file that are still to be requested from the kernel.
struct Unrequested(Range<u64>);

impl Reader for ReadAhead {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let file = File::open(source.path())?;
        let range = source.range_in(&file)?;
        let mut buffer = Buffer::new(self.buffer_bytes)?;
        let mut consumer = Consumer::new(visit);
        let mut unrequested = Unrequested(range.clone());
        let mut at = range.start;
        while at < range.end {
            let next = range.end.min(at + self.buffer_bytes as u64);
            while let Some(call) = unrequested.take_call(next.saturating_add(self.ahead_bytes)) {
                let length = NonZero::new(call.end - call.start);
                fadvise(&file, call.start, length, Advice::WillNeed)
                    .map_err(|cause| Fault::at(call.start, cause.into()))?;
            }
            read_range(&file, at..next, &mut buffer[..self.buffer_bytes], &mut consumer)?;
            at = next;
        }
        Ok(consumer.finish())
    }
}

impl Unrequested {
    /// Takes the range of the next call; `None` if all is requested up to this offset.
    fn take_call(&mut self, up_to: u64) -> Option<Range<u64>> {
        let Range { start, end } = self.0;
        let stop = end.min(up_to).min(start.saturating_add(CALL_BYTES_MAX));
        (start < stop).then(|| {
            self.0.start = stop;
            start..stop
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_requested_once_and_none_beyond_the_window_or_the_end() {
        let end = 3 * CALL_BYTES_MAX + 5;
        let mut unrequested = Unrequested(7..end);
        let mut calls = |up_to: u64| {
            let calls = std::iter::from_fn(|| unrequested.take_call(up_to));
            calls.map(|call| (call.start, call.end)).collect::<Vec<_>>()
        };
        assert_eq!(calls(5), []);
        assert_eq!(calls(100), [(7, 100)]);
        assert_eq!(calls(100), []);
        let second = 100 + CALL_BYTES_MAX;
        assert_eq!(calls(second + 1), [(100, second), (second, second + 1)]);
        let third = second + 1 + CALL_BYTES_MAX;
        assert_eq!(calls(u64::MAX), [(second + 1, third), (third, end)]);
    }
}
