//! The method `lines`: the standard library's `BufReader::lines`, which makes a `String` of every
//! line.
//!
//! For the standard library, a line that is not UTF-8 is an error; it is still counted, because it
//! was read and checked. The number of bytes is not known to this method.

use super::{Fault, Feeding, Method, Reader};
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use crate::work::{Answer, Work};
use readlab_protocol::{Cache, Reads};
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader, ErrorKind, Seek};

const BUFFER: Param = Param::new("buffer_bytes", 16 << 10, 1, 1 << 30);

pub(super) const LINES: Method = Method {
    name: "lines",
    about: "BufReader::lines over the file: a String is made for every line",
    cache: Cache::Through,
    reads: Reads::File,
    feeding: Feeding::Own(&[Work::Newlines, Work::Lines]),
    decodes: &[],
    parts: false,
    lists: false,
    tls: false,
    params: &[BUFFER],
    build: |settings| Ok(Box::new(Lines { buffer_bytes: settings.size(&BUFFER) })),
    available: || Ok(()),
};

struct Lines {
    buffer_bytes: usize,
}

impl Reader for Lines {
    fn read(&mut self, source: &Source, _visit: Visit) -> Result<Answer, Fault> {
        let file = File::open(source.path())?;
        let reader = BufReader::with_capacity(self.buffer_bytes, &file);
        let mut lines = 0;
        for line in reader.lines() {
            match line {
                Ok(line) => drop(black_box(line)),
                Err(error) if error.kind() == ErrorKind::InvalidData => {}
                Err(cause) => return Err(Fault::at((&file).stream_position()?, cause)),
            }
            lines += 1;
        }
        Ok(Answer { lines: Some(lines), ..Answer::default() })
    }
}
