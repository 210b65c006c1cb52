//! The methods `csv` and `bstr`: every record of the crate `csv`, read into the same `ByteRecord`, and
//! the lines of the crate `bstr`, as bytes of any encoding.
//!
//! For `csv` the file has no headers, and records may have any number of fields. Records are not lines:
//! a quoted field may contain line ends, and empty lines are no records. The proof of the reading is the
//! position of the reader after the last record, which counts all bytes and every newline.
//!
//! A line of `bstr` that is complete in the reader's buffer is a slice of the buffer. Other lines are
//! assembled in one `Vec`. This method does not know the number of bytes.

use crate::methods::READER_BUFFER;
use bstr::io::BufReadExt;
use csv::{ByteRecord, ErrorKind, ReaderBuilder};
use readlab_protocol::Answer;
use readlab_protocol::contender::{Job, ReadTarget, Reading};
use readlab_protocol::serve::Refusal;
use std::fs::File;
use std::hint::black_box;
use std::io::BufReader;

pub(crate) fn open_csv(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    let buffer_bytes = job.settings.size(&READER_BUFFER);
    Ok(Box::new(move || visit_csv(&job, buffer_bytes)))
}

fn visit_csv(job: &Job, buffer_bytes: usize) -> Result<Reading, Refusal> {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).buffer_capacity(buffer_bytes);
    let mut reader = builder.from_path(&job.target).map_err(failure)?;
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(failure)? {
        black_box(&record);
    }
    let end = reader.position();
    // Lines are counted from 1.
    let (bytes, newlines) = (Some(end.byte()), Some(end.line() - 1));
    Ok(Answer { bytes, newlines, ..Answer::default() }.into())
}

/// The cause without the library's prefix, which only says that it is an error.
fn failure(error: csv::Error) -> Refusal {
    match error.into_kind() {
        ErrorKind::Io(error) => error.into(),
        kind => Refusal::failed(format!("{kind:?}")),
    }
}

pub(crate) fn open_lines(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    let buffer_bytes = job.settings.size(&READER_BUFFER);
    Ok(Box::new(move || visit_lines(&job, buffer_bytes)))
}

fn visit_lines(job: &Job, buffer_bytes: usize) -> Result<Reading, Refusal> {
    let file = File::open(&job.target)?;
    let mut lines = 0;
    BufReader::with_capacity(buffer_bytes, file).for_byte_line(|line| {
        black_box(line);
        lines += 1;
        Ok(true)
    })?;
    Ok(Answer { lines: Some(lines), ..Answer::default() }.into())
}
