//! The method `csv`: every record of the crate `csv`, read into the same `ByteRecord`.
//!
//! The file has no headers, and records may have any number of fields. Records are not lines: a
//! quoted field may contain line ends, and empty lines are no records. The proof of the reading is
//! the position of the reader after the last record, which counts all bytes and every newline.

use crate::methods::READER_BUFFER;
use csv::{ByteRecord, ErrorKind, ReaderBuilder};
use readlab_protocol::Answer;
use readlab_protocol::contender::{Job, ReadTarget, Reading};
use readlab_protocol::serve::Refusal;
use std::hint::black_box;
use std::path::PathBuf;

struct CsvRecords {
    path: PathBuf,
    buffer_bytes: usize,
}

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    Ok(Box::new(CsvRecords { path: job.target.into(), buffer_bytes: job.settings.size(&READER_BUFFER) }))
}

impl ReadTarget for CsvRecords {
    fn read(&mut self) -> Result<Reading, Refusal> {
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true).buffer_capacity(self.buffer_bytes);
        let mut reader = builder.from_path(&self.path).map_err(failure)?;
        let mut record = ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(failure)? {
            black_box(&record);
        }
        let end = reader.position();
        // Lines are counted from 1.
        let (bytes, newlines) = (Some(end.byte()), Some(end.line() - 1));
        Ok(Answer { bytes, newlines, ..Answer::default() }.into())
    }
}

/// The cause without the library's prefix, which only says that it is an error.
fn failure(error: csv::Error) -> Refusal {
    match error.into_kind() {
        ErrorKind::Io(error) => error.into(),
        kind => Refusal::failed(format!("{kind:?}")),
    }
}
