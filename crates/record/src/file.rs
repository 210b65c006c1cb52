//! The record file: lines are appended during a run, and read back up to the last complete line.

use super::check::{LINE_BYTES_MAX, LineTreatment, RecordCheck, SAMPLES_MAX};
use super::draft::Draft;
use super::{Line, Record, SCHEMA, SCHEMA_VERSION};
use readlab_system::user;
use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{path}: {cause}")]
    Io { path: PathBuf, cause: io::Error },
    /// Only the owner of a record may continue it, because the record names the programs that are
    /// started.
    #[error("{0}: belongs to another user")]
    NotOwn(PathBuf),
    #[error("{0}: another readlab is writing it")]
    InUse(PathBuf),
    #[error("{path}: not a readlab record: {cause}")]
    NotARecord { path: PathBuf, cause: String },
    #[error("{path}: schema version {found}, and this readlab reads version {SCHEMA_VERSION}")]
    OtherVersion { path: PathBuf, found: u64 },
    #[error("{path}: line {number}: {cause}")]
    BrokenLine { path: PathBuf, number: usize, cause: String },
}

impl RecordError {
    fn io(path: &Path) -> impl Fn(io::Error) -> RecordError {
        move |cause| RecordError::Io { path: path.to_owned(), cause }
    }
}

/// The only writer of a record.
#[derive(Debug)]
pub struct RecordWriter {
    path: PathBuf,
    file: File,
    draft: Option<Draft>,
    /// True if the last line in the file may be incomplete.
    may_be_torn: bool,
    sample_count: u64,
}

/// The open file of the record that this process writes, for an end without destructors.
static WRITTEN_RECORD: Mutex<Option<File>> = Mutex::new(None);

/// Unlocks the record that this process writes. This process ends next, and a thread of it or a file
/// system may keep the file open for longer.
pub fn unlock_written_record() {
    let file = WRITTEN_RECORD.lock().unwrap_or_else(PoisonError::into_inner).take();
    // Without the lock, there is nothing to do.
    let _ = file.map(|file| file.unlock());
}

/// Bytes that are read at once in the search for the last complete line.
const SEARCH_BLOCK_BYTES: usize = 1 << 16;

impl RecordWriter {
    /// Creates a record. Its file gets its name, which must be free, only in
    /// [`RecordWriter::publish`].
    pub fn create(path: &Path) -> Result<RecordWriter, RecordError> {
        let io = RecordError::io(path);
        if path.exists() {
            return Err(io(io::ErrorKind::AlreadyExists.into()));
        }
        let (file, draft) = Draft::create(path).map_err(&io)?;
        let mut writer = RecordWriter::lock(path, file, false)?;
        draft.clear(&writer.file).map_err(&io)?;
        writer.draft = Some(draft);
        Ok(writer)
    }

    /// Gives the file its name after the first lines were appended, so that a named record has a
    /// header. Does nothing if the file has its name already.
    pub fn publish(&mut self) -> Result<(), RecordError> {
        let Some(draft) = &self.draft else { return Ok(()) };
        draft.publish(&self.file, &self.path).map_err(RecordError::io(&self.path))?;
        self.draft = None;
        Ok(())
    }

    /// Removes the file of a record that this writer created.
    pub fn withdraw(mut self) -> Result<(), RecordError> {
        match self.draft.take() {
            Some(draft) => draft.discard(),
            None => std::fs::remove_file(&self.path).map_err(RecordError::io(&self.path))?,
        }
        Ok(())
    }

    /// Opens a record to continue it. The file is not changed before the first line is appended;
    /// then an incomplete last line is cut off.
    pub fn reopen(path: &Path) -> Result<RecordWriter, RecordError> {
        let io = RecordError::io(path);
        let file = File::options().read(true).append(true).open(path).map_err(&io)?;
        // The owner of the open file is checked, and not of the path, because the path may name
        // another file by then.
        if !user::owns(&file.metadata().map_err(&io)?) {
            return Err(RecordError::NotOwn(path.to_owned()));
        }
        RecordWriter::lock(path, file, true)
    }

    /// Reads the record from the open file, even if its path now names another file; also returns
    /// the time of the last write.
    pub fn read_back(&self) -> Result<(Record, SystemTime), RecordError> {
        let io = RecordError::io(&self.path);
        let mut file = &self.file;
        file.rewind().map_err(&io)?;
        let record = Record::read_from(&self.path, file)?;
        let written = self.file.metadata().and_then(|facts| facts.modified()).map_err(&io)?;
        Ok((record, written))
    }

    /// Locks the file against other labs until the writer closes it, if the file system has locks.
    fn lock(path: &Path, file: File, torn: bool) -> Result<RecordWriter, RecordError> {
        lock_record(path, &file)?;
        *WRITTEN_RECORD.lock().unwrap_or_else(PoisonError::into_inner) = file.try_clone().ok();
        Ok(RecordWriter { path: path.to_owned(), file, draft: None, may_be_torn: torn, sample_count: 0 })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one line with a single write, so that a killed run leaves complete lines.
    pub fn append(&mut self, line: &Line) -> Result<(), RecordError> {
        let mut text = serde_json::to_vec(line).expect("records hold only strings, numbers and string keys");
        text.push(b'\n');
        let io = RecordError::io(&self.path);
        if text.len() as u64 > LINE_BYTES_MAX {
            return Err(io(io::Error::other(format!("a line {}", too_long_sentence()))));
        }
        if matches!(line, Line::Sample(_)) {
            self.sample_count += 1;
            if self.sample_count > SAMPLES_MAX {
                return Err(io(io::Error::other(format!("a record holds {SAMPLES_MAX} samples at most"))));
            }
        }
        if std::mem::take(&mut self.may_be_torn) {
            repair_last_line(&mut self.file).map_err(&io)?;
        }
        self.file.write_all(&text).map_err(&io)
    }
}

impl Drop for RecordWriter {
    fn drop(&mut self) {
        if let Some(draft) = &self.draft {
            draft.discard();
        }
        // A child that cannot be ended may keep the file open.
        let _ = self.file.unlock();
        *WRITTEN_RECORD.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Locks the file of a record against other labs until it is closed, if the file system has locks.
pub(super) fn lock_record(path: &Path, file: &File) -> Result<(), RecordError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(RecordError::InUse(path.to_owned())),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Cuts off an incomplete last line. A last line that lacks only its newline gets one, because
/// [`Record::read`] accepts that line.
fn repair_last_line(file: &mut File) -> io::Result<()> {
    let (whole, size) = (complete_bytes(file)?, file.metadata()?.len());
    let mut last = vec![0; usize::try_from(size - whole).map_err(io::Error::other)?];
    file.read_exact_at(&mut last, whole)?;
    match serde_json::from_slice::<Line>(&last) {
        Ok(_) => file.write_all(b"\n"),
        Err(_) => file.set_len(whole),
    }
}

/// Number of bytes up to the last newline.
fn complete_bytes(file: &File) -> io::Result<u64> {
    let (mut end, mut block) = (file.metadata()?.len(), vec![0; SEARCH_BLOCK_BYTES]);
    while end > 0 {
        let begin = end.saturating_sub(SEARCH_BLOCK_BYTES as u64);
        let part = &mut block[..usize::try_from(end - begin).expect("at most a block")];
        file.read_exact_at(part, begin)?;
        if let Some(at) = part.iter().rposition(|&byte| byte == b'\n') {
            return Ok(begin + at as u64 + 1);
        }
        end = begin;
    }
    Ok(0)
}

impl Record {
    /// Reads a record up to its last complete line. Every line is checked by the rules of `check`.
    pub fn read(path: &Path) -> Result<Record, RecordError> {
        let file = File::open(path).map_err(RecordError::io(path))?;
        Record::read_from(path, &file)
    }

    fn read_from(path: &Path, file: &File) -> Result<Record, RecordError> {
        let io = RecordError::io(path);
        let mut file = BufReader::new(file);
        let mut line = Vec::new();
        read_next_line(&mut file, &mut line).map_err(&io)?;
        let mut record = Record::begin_record(path, &line)?;
        let mut check = RecordCheck::default();
        for number in 2.. {
            if read_next_line(&mut file, &mut line).map_err(&io)? == 0 {
                break;
            }
            let broken = |cause| RecordError::BrokenLine { path: path.to_owned(), number, cause };
            if line.len() as u64 > LINE_BYTES_MAX {
                return Err(broken(too_long_sentence()));
            }
            match serde_json::from_slice(&line) {
                Ok(found) => record.take_line(found, &mut check, line.len()).map_err(broken)?,
                // Only a line without a newline was cut off; any other line that cannot be parsed
                // is an error.
                Err(_) if !line.ends_with(b"\n") => break,
                Err(cause) => return Err(broken(cause.to_string())),
            }
        }
        Ok(record)
    }

    /// Adds one more line if it keeps the rules.
    pub(super) fn take_line(
        &mut self,
        mut line: Line,
        check: &mut RecordCheck,
        bytes: usize,
    ) -> Result<(), String> {
        match check.check_next_line(self, &mut line, bytes)? {
            LineTreatment::Add => self.add(line),
            LineTreatment::AddAndReport(why) => [line, why].into_iter().for_each(|line| self.add(line)),
            LineTreatment::LeaveOut => {}
        }
        Ok(())
    }

    /// Makes an empty record from its first line.
    fn begin_record(path: &Path, first: &[u8]) -> Result<Record, RecordError> {
        let not_a_record = |cause: String| RecordError::NotARecord { path: path.to_owned(), cause };
        if first.len() as u64 > LINE_BYTES_MAX {
            return Err(not_a_record(too_long_sentence()));
        }
        let value: serde_json::Value =
            serde_json::from_slice(first).map_err(|e| not_a_record(e.to_string()))?;
        if value["schema"] != SCHEMA {
            return Err(not_a_record(format!("its first line has no \"schema\": \"{SCHEMA}\"")));
        }
        let Some(found) = value["version"].as_u64() else {
            return Err(not_a_record("its first line has no version".to_owned()));
        };
        if found != u64::from(SCHEMA_VERSION) {
            return Err(RecordError::OtherVersion { path: path.to_owned(), found });
        }
        match serde_json::from_value(value).map_err(|e| not_a_record(e.to_string()))? {
            Line::Header(mut header) => {
                RecordCheck::check_header(&mut header).map_err(not_a_record)?;
                Ok(Record::new(*header))
            }
            _ => Err(not_a_record("its first line is no header".to_owned())),
        }
    }
}

/// Reads the next line with its newline, and returns its length. Of a line that is too long, only
/// the allowed number of bytes and one more are read.
fn read_next_line(file: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    line.clear();
    file.take(LINE_BYTES_MAX + 1).read_until(b'\n', line)
}

fn too_long_sentence() -> String {
    format!("longer than {LINE_BYTES_MAX} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_its_writer_is_not_locked_even_if_a_child_keeps_its_file_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record");
        let mut writer = RecordWriter::create(&path).unwrap();
        writer.publish().unwrap();
        let file_of_child = writer.file.try_clone().unwrap();
        drop(writer);
        assert!(RecordWriter::reopen(&path).is_ok());
        drop(file_of_child);
    }
}
