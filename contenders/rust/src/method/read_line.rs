//! The method `read_line`: the standard library's `BufRead::read_line` into one `String`, which is
//! cleared after every line.
//!
//! As with [`super::lines`], a line that is not UTF-8 is an error for the standard library, and is
//! still counted, because it was read and checked. The number of bytes is not known then.

use super::{Fault, Feeding, Method, Reader};
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use crate::work::{Answer, Work};
use readlab_protocol::{Cache, Reads};
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader, ErrorKind, Seek};

const BUFFER: Param = Param::new("buffer_bytes", 8 << 10, 1, 1 << 30);

pub(super) const READ_LINE: Method = Method {
    name: "read_line",
    about: "BufRead::read_line over the file: every line is put into the same String",
    cache: Cache::Through,
    reads: Reads::File,
    feeding: Feeding::Own(&[Work::Newlines, Work::Lines]),
    decodes: &[],
    parts: false,
    lists: false,
    tls: false,
    params: &[BUFFER],
    build: |settings| Ok(Box::new(ReadLine { buffer_bytes: settings.size(&BUFFER) })),
    available: || Ok(()),
};

struct ReadLine {
    buffer_bytes: usize,
}

impl Reader for ReadLine {
    fn read(&mut self, source: &Source, _visit: Visit) -> Result<Answer, Fault> {
        let file = File::open(source.path())?;
        let mut reader = BufReader::with_capacity(self.buffer_bytes, &file);
        let mut line = String::new();
        let mut lines = 0;
        loop {
            match reader.read_line(&mut line) {
                Ok(0) => return Ok(Answer { lines: Some(lines), ..Answer::default() }),
                Ok(_) => {
                    black_box(line.as_str());
                }
                Err(error) if error.kind() == ErrorKind::InvalidData => {}
                Err(cause) => return Err(Fault::at((&file).stream_position()?, cause)),
            }
            lines += 1;
            line.clear();
        }
    }
}
