//! The method `read_to_string`: the standard library's `fs::read_to_string`, then `str::lines` over
//! the text.
//!
//! The whole file must be UTF-8: otherwise there is no text, and the reading fails.

use super::fits::check_source_fits;
use super::{Fault, Feeding, Method, Reader};
use crate::scan::Visit;
use crate::source::Source;
use crate::work::{Answer, Work};
use readlab_protocol::{Cache, Reads};
use std::fs;
use std::hint::black_box;

pub(super) const READ_TO_STRING: Method = Method {
    name: "read_to_string",
    about: "fs::read_to_string, then str::lines: the whole file in a String, every line a slice of it",
    cache: Cache::Through,
    reads: Reads::File,
    feeding: Feeding::Own(&[Work::Newlines, Work::Lines]),
    decodes: &[],
    parts: false,
    lists: false,
    tls: false,
    params: &[],
    build: |_| Ok(Box::new(ReadToString)),
    available: || Ok(()),
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
