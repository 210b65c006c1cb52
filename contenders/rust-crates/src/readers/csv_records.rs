//! The method `csv`: every record of the crate `csv`, read into the same `ByteRecord`.
//!
//! The file has no headers, and records may have any number of fields. Records are not lines: a
//! quoted field may have line ends, and empty lines are no records. What proves the reading is the
//! position of the reader after the last record, which counts all bytes and every newline.

use crate::failure::Failure;
use crate::method::{READER_BUFFER, Reader};
use crate::request::Request;
use crate::tally::Answer;
use csv::{ByteRecord, ErrorKind, ReaderBuilder};
use std::hint::black_box;
use std::path::PathBuf;

struct CsvRecords {
    path: PathBuf,
    buffer_bytes: usize,
}

pub(crate) fn open(request: &Request) -> Result<Box<dyn Reader>, Failure> {
    Ok(Box::new(CsvRecords { path: request.path.clone(), buffer_bytes: request.size(&READER_BUFFER) }))
}

impl Reader for CsvRecords {
    fn read(&mut self) -> Result<Answer, Failure> {
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true).buffer_capacity(self.buffer_bytes);
        let mut reader = builder.from_path(&self.path).map_err(failure)?;
        let mut record = ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(failure)? {
            black_box(&record);
        }
        let end = reader.position();
        // Lines are counted from 1.
        Ok(Answer { bytes: Some(end.byte()), newlines: Some(end.line() - 1), ..Answer::default() })
    }
}

/// The cause alone: with it the library says that it is one.
fn failure(error: csv::Error) -> Failure {
    match error.into_kind() {
        ErrorKind::Io(error) => error.into(),
        kind => Failure::new(format!("{kind:?}")),
    }
}
