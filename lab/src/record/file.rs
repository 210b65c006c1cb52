//! The file: lines are appended as they come, and read back as far as they go.

use super::{Line, Record, SCHEMA, SCHEMA_VERSION};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// Why a file is not a record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The first line is no header of ours.
    #[error("{path}: not a readlab record: {cause}")]
    NotARecord {
        /// The file.
        path: PathBuf,
        /// What is wrong with the first line.
        cause: String,
    },
    /// Written by a later readlab.
    #[error("{path}: schema version {found}, this readlab reads up to {SCHEMA_VERSION}")]
    LaterSchema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// A line in the middle is broken.
    #[error("{path}: line {number}: {cause}")]
    BrokenLine {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        number: usize,
        /// What is wrong.
        cause: String,
    },
}

/// A record being written.
#[derive(Debug)]
pub struct RecordWriter {
    path: PathBuf,
    file: File,
}

impl RecordWriter {
    /// Begins a record; the file must not exist yet.
    ///
    /// # Errors
    /// If the file exists or cannot be made.
    pub fn create(path: &Path) -> Result<RecordWriter, RecordError> {
        let file = File::options().append(true).create_new(true).open(path);
        let file = file.map_err(|cause| RecordError::Io { path: path.to_owned(), cause })?;
        Ok(RecordWriter { path: path.to_owned(), file })
    }

    /// Where it is written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one line with a single write, so that a killed run leaves whole lines.
    ///
    /// # Errors
    /// If the file cannot be written, for instance on a full disk.
    pub fn append(&mut self, line: &Line) -> Result<(), RecordError> {
        let mut text = serde_json::to_vec(line).expect("records hold only strings, numbers and string keys");
        text.push(b'\n');
        self.file.write_all(&text).map_err(|cause| RecordError::Io { path: self.path.clone(), cause })
    }
}

impl Record {
    /// Reads a record back, as far as it was written: a last line that was cut off is left out.
    ///
    /// # Errors
    /// If the file is no record, is of a later schema, or is broken in the middle.
    pub fn read(path: &Path) -> Result<Record, RecordError> {
        let io = |cause| RecordError::Io { path: path.to_owned(), cause };
        let mut file = BufReader::new(File::open(path).map_err(io)?);
        let mut line = Vec::new();
        file.read_until(b'\n', &mut line).map_err(io)?;
        let mut record = Record::begin(path, &line)?;
        for number in 2.. {
            line.clear();
            if file.read_until(b'\n', &mut line).map_err(io)? == 0 {
                break;
            }
            match serde_json::from_slice(&line) {
                Ok(found) => record.add(found),
                // Only what has no end was cut off; anything else is broken, wherever it stands.
                Err(_) if !line.ends_with(b"\n") => break,
                Err(cause) => {
                    let (path, cause) = (path.to_owned(), cause.to_string());
                    return Err(RecordError::BrokenLine { path, number, cause });
                }
            }
        }
        Ok(record)
    }

    /// An empty record from its first line.
    fn begin(path: &Path, first: &[u8]) -> Result<Record, RecordError> {
        let not_a_record = |cause: String| RecordError::NotARecord { path: path.to_owned(), cause };
        let value: serde_json::Value =
            serde_json::from_slice(first).map_err(|e| not_a_record(e.to_string()))?;
        if value["schema"] != SCHEMA {
            return Err(not_a_record(format!("its first line has no \"schema\": \"{SCHEMA}\"")));
        }
        let found = value["version"].as_u64().unwrap_or(0);
        if found > u64::from(SCHEMA_VERSION) {
            return Err(RecordError::LaterSchema { path: path.to_owned(), found });
        }
        match serde_json::from_value(value).map_err(|e| not_a_record(e.to_string()))? {
            Line::Header(header) => Ok(Record::new(*header)),
            _ => Err(not_a_record("its first line is no header".to_owned())),
        }
    }
}
