//! The method `whole`: one buffer of the file's size, which one read(2) fills, before the bytes are
//! visited. A program that has its file in memory afterwards does this; nothing overlaps.

use super::size::{check_fits, size_of};
use super::{Fault, Feeding, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::work::Answer;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Cache, Reads};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

pub(super) const WHOLE: Method = Method {
    name: "whole",
    about: "read(2) of the whole file into one buffer of its size; called again only for what was not read",
    cache: Cache::Through,
    reads: Reads::File,
    feeding: Feeding::InOrder,
    decodes: &[],
    params: &[],
    build: |_| Ok(Box::new(Whole)),
    available: || Ok(()),
};

struct Whole;

impl Reader for Whole {
    /// A program knows whether its files fit; here it is looked up before the window.
    fn prepare(&mut self, path: &Path) -> Result<(), Fault> {
        check_fits("whole", size_of(&File::open(path)?)?)
    }

    fn read(&mut self, path: &Path, visit: Visit) -> Result<Answer, Fault> {
        let mut file = File::open(path)?;
        let size = usize::try_from(size_of(&file)?).map_err(io::Error::other)?;
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
