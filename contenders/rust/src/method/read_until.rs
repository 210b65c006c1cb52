//! The method `read_until`: the standard library's `BufRead::read_until` into one `Vec`, which is
//! cleared after every line. Lines are bytes: no encoding is checked.

use super::{Fault, Feeding, Method, Reader};
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use crate::work::{Answer, Work};
use readlab_protocol::{Cache, Reads};
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Seek};

const BUFFER: Param = Param::new("buffer_bytes", 8 << 10, 1, 1 << 30);

pub(super) const READ_UNTIL: Method = Method {
    name: "read_until",
    about: "BufRead::read_until a newline over the file: every line is put into the same Vec",
    cache: Cache::Through,
    reads: Reads::File,
    feeding: Feeding::Own(&[Work::Newlines, Work::Lines]),
    decodes: &[],
    parts: false,
    lists: false,
    tls: false,
    params: &[BUFFER],
    build: |settings| Ok(Box::new(ReadUntil { buffer_bytes: settings.size(&BUFFER) })),
    available: || Ok(()),
};

struct ReadUntil {
    buffer_bytes: usize,
}

impl Reader for ReadUntil {
    fn read(&mut self, source: &Source, _visit: Visit) -> Result<Answer, Fault> {
        let file = File::open(source.path())?;
        let mut reader = BufReader::with_capacity(self.buffer_bytes, &file);
        let mut line = Vec::new();
        let (mut bytes, mut lines) = (0, 0);
        loop {
            match reader.read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(count) => bytes += count as u64,
                Err(cause) => return Err(Fault::at((&file).stream_position()?, cause)),
            }
            black_box(line.as_slice());
            lines += 1;
            line.clear();
        }
        Ok(Answer { bytes: Some(bytes), lines: Some(lines), ..Answer::default() })
    }
}
