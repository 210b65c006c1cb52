//! The method `whole`: one buffer of the file's size, which one read(2) fills, before the bytes are
//! visited. A program that has its file in memory afterwards does this; nothing overlaps.

use super::fits::check_source_fits;
use super::{Fault, Feeding, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::source::Source;
use crate::work::Answer;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Cache, Reads};
use std::io::{ErrorKind, Read};

pub(super) const WHOLE: Method = Method {
    name: "whole",
    about: "read(2) of the whole file into one buffer of its size; called again only for what was not read",
    cache: Cache::Through,
    reads: Reads::File,
    feeding: Feeding::InOrder,
    decodes: &[],
    parts: true,
    lists: false,
    tls: false,
    params: &[],
    build: |_| Ok(Box::new(Whole)),
    available: || Ok(()),
};

struct Whole;

impl Reader for Whole {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        check_source_fits("whole", source)
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

/// Reads until the buffer is full or the file ends; returns how many bytes there were.
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
