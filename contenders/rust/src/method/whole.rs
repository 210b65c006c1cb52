//! The methods `whole`, `fs-read` and `read_to_string`, which have the whole file in memory before
//! its bytes are visited. Reading and visiting do not overlap.
//!
//! `whole` makes one buffer of the file's size and fills it by one read(2). `fs-read` and
//! `read_to_string` are functions of the standard library, which read once more to find the end.
//! With a file that is not UTF-8, the reading of `read_to_string` fails.

use super::memory_check::check_source_fits;
use super::{Fault, Feeding, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::source::Source;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Work};
use std::fs;
use std::hint::black_box;
use std::io::{ErrorKind, Read};

pub(super) const WHOLE: Method = Method {
    name: "whole",
    about: "read(2) of the whole file into one buffer of its size; called again only for what was not read",
    parts: true,
    build: |_| Ok(Box::new(WholeReader)),
    ..Method::DEFAULT
};

struct WholeReader;

impl Reader for WholeReader {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        check_source_fits(WHOLE.name, source)
    }

    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let mut file = source.open()?;
        let size = source.length_in(&file)?;
        let mut buffer = Buffer::new(size)?;
        let bytes = fill(&mut file, &mut buffer)?;
        let mut consumer = Consumer::new(visit);
        consumer.feed(&buffer[..bytes]);
        Ok(consumer.finish())
    }
}

/// Reads until the buffer is full or the file ends. Returns the number of bytes.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> Result<usize, Fault> {
    let mut at = 0;
    while at < buffer.len() {
        match file.read(&mut buffer[at..]) {
            Ok(0) => break,
            Ok(count) => at += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(Fault::at(at as u64, cause)),
        }
    }
    Ok(at)
}

pub(super) const FS_READ: Method = Method {
    name: "fs-read",
    about: "fs::read: the whole file in a Vec, which the library makes by the size of the file",
    build: |_| Ok(Box::new(FsRead)),
    ..Method::DEFAULT
};

struct FsRead;

impl Reader for FsRead {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        check_source_fits(FS_READ.name, source)
    }

    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let bytes = fs::read(source.path())?;
        let mut consumer = Consumer::new(visit);
        consumer.feed(&bytes);
        Ok(consumer.finish())
    }
}

pub(super) const READ_TO_STRING: Method = Method {
    name: "read_to_string",
    about: "fs::read_to_string, then str::lines: the whole file in a String, every line a slice of it",
    feeding: Feeding::Own(&[Work::Newlines, Work::Lines]),
    build: |_| Ok(Box::new(ReadToString)),
    ..Method::DEFAULT
};

struct ReadToString;

impl Reader for ReadToString {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        check_source_fits(READ_TO_STRING.name, source)
    }

    fn read(&mut self, source: &Source, _visit: Visit) -> Result<Answer, Fault> {
        let text = fs::read_to_string(source.path())?;
        let lines = text.lines().map(black_box).count() as u64;
        Ok(Answer { bytes: Some(text.len() as u64), lines: Some(lines), ..Answer::default() })
    }
}
