//! The method `bstr`: the lines of the crate `bstr`, as bytes of any encoding. A line that is
//! complete in the reader's buffer is a slice of the buffer. Other lines are assembled in one
//! `Vec`. This method does not know the number of bytes.

use crate::methods::READER_BUFFER;
use bstr::io::BufReadExt;
use readlab_protocol::Answer;
use readlab_protocol::contender::{Job, ReadTarget, Reading};
use readlab_protocol::serve::Refusal;
use std::fs::File;
use std::hint::black_box;
use std::io::BufReader;
use std::path::PathBuf;

struct ByteLines {
    path: PathBuf,
    buffer_bytes: usize,
}

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    Ok(Box::new(ByteLines { path: job.target.into(), buffer_bytes: job.settings.size(&READER_BUFFER) }))
}

impl ReadTarget for ByteLines {
    fn read(&mut self) -> Result<Reading, Refusal> {
        let file = File::open(&self.path)?;
        let mut lines = 0;
        BufReader::with_capacity(self.buffer_bytes, file).for_byte_line(|line| {
            black_box(line);
            lines += 1;
            Ok(true)
        })?;
        Ok(Answer { lines: Some(lines), ..Answer::default() }.into())
    }
}
