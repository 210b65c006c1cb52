//! The method `split`: the standard library's `BufRead::split`, which makes a `Vec` of every line.
//! Lines are bytes: no encoding is checked. The number of bytes is not known to this method.

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

pub(super) const SPLIT: Method = Method {
    name: "split",
    about: "BufRead::split at newlines over the file: a Vec is made for every line",
    cache: Cache::Through,
    reads: Reads::File,
    feeding: Feeding::Own(&[Work::Newlines, Work::Lines]),
    decodes: &[],
    parts: false,
    lists: false,
    tls: false,
    params: &[BUFFER],
    build: |settings| Ok(Box::new(Split { buffer_bytes: settings.size(&BUFFER) })),
    available: || Ok(()),
};

struct Split {
    buffer_bytes: usize,
}

impl Reader for Split {
    fn read(&mut self, source: &Source, _visit: Visit) -> Result<Answer, Fault> {
        let file = File::open(source.path())?;
        let reader = BufReader::with_capacity(self.buffer_bytes, &file);
        let mut lines = 0;
        for line in reader.split(b'\n') {
            match line {
                Ok(line) => drop(black_box(line)),
                Err(cause) => return Err(Fault::at((&file).stream_position()?, cause)),
            }
            lines += 1;
        }
        Ok(Answer { lines: Some(lines), ..Answer::default() })
    }
}
