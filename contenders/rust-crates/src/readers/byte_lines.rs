//! The method `bstr`: the lines of the crate `bstr`, as bytes of any encoding. A line that is whole
//! in the reader's buffer is a slice of it; others are put together in one `Vec`. The number of
//! bytes is not known to this method.

use crate::failure::Failure;
use crate::method::{READER_BUFFER, Reader};
use crate::request::Request;
use crate::tally::Answer;
use bstr::io::BufReadExt;
use std::fs::File;
use std::hint::black_box;
use std::io::BufReader;
use std::path::PathBuf;

struct ByteLines {
    path: PathBuf,
    buffer_bytes: usize,
}

pub(crate) fn open(request: &Request) -> Result<Box<dyn Reader>, Failure> {
    Ok(Box::new(ByteLines { path: request.path.clone(), buffer_bytes: request.size(&READER_BUFFER) }))
}

impl Reader for ByteLines {
    fn read(&mut self) -> Result<Answer, Failure> {
        let file = File::open(&self.path)?;
        let mut lines = 0;
        BufReader::with_capacity(self.buffer_bytes, file).for_byte_line(|line| {
            black_box(line);
            lines += 1;
            Ok(true)
        })?;
        Ok(Answer::of_lines(lines))
    }
}
