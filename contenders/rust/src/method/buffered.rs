//! The method `buffered`: the standard library's `BufReader`, whose buffer is visited in place.

use super::{Fault, Method};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use readlab_protocol::Answer;
use std::io::{BufRead, BufReader, ErrorKind};

const BUFFER: Param = Param::new("buffer_bytes", 64 << 10, 1, 1 << 30);

pub(super) const BUFFERED: Method = Method {
    name: "buffered",
    about: "BufReader over the file: fill_buf, visit, consume",
    parts: true,
    lists: true,
    params: &[BUFFER],
    build: |settings| {
        let buffer_bytes = settings.size(&BUFFER);
        Ok(Box::new(move |source: &Source, visit: Visit| read(source, buffer_bytes, visit)))
    },
    ..Method::DEFAULT
};

fn read(source: &Source, buffer_bytes: usize, visit: Visit) -> Result<Answer, Fault> {
    let mut reader = BufReader::with_capacity(buffer_bytes, source.stream()?);
    let mut consumer = Consumer::new(visit);
    let mut at = 0;
    loop {
        let filled = match reader.fill_buf() {
            Ok(filled) => filled,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(cause) => return Err(Fault::at(at, cause)),
        };
        if filled.is_empty() {
            return Ok(consumer.finish());
        }
        consumer.feed(filled);
        let count = filled.len();
        at += count as u64;
        reader.consume(count);
    }
}
