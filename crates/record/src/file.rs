//! The record file: lines are appended during a run, and read back up to the last whole line.

use super::check::{Checked, LINE_BYTES_MAX, RecordCheck, SAMPLES_MAX};
use super::draft::Draft;
use super::{Line, Record, SCHEMA, SCHEMA_VERSION};
use readlab_system::user;
use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{path}: {cause}")]
    Io { path: PathBuf, cause: io::Error },
    /// It is gone on with only by the user whose it is: it names the programs that are started.
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
    /// Whether its last line may be torn.
    torn: bool,
    samples: u64,
}

/// What is read of a record at once to find its last whole line.
const BLOCK_BYTES: usize = 1 << 16;

impl RecordWriter {
    /// Begins a record. Its file has no name, which must be free, before [`RecordWriter::publish`].
    pub fn create(path: &Path) -> Result<RecordWriter, RecordError> {
        let io = RecordError::io(path);
        if path.exists() {
            return Err(io(io::ErrorKind::AlreadyExists.into()));
        }
        let (file, draft) = Draft::make(path).map_err(&io)?;
        let mut writer = RecordWriter::locked(path, file, false)?;
        draft.clear(&writer.file).map_err(&io)?;
        writer.draft = Some(draft);
        Ok(writer)
    }

    /// Gives the file its name, with all that was appended so far: a record under a name has its
    /// header. Nothing happens to one that has its name.
    pub fn publish(&mut self) -> Result<(), RecordError> {
        let Some(draft) = &self.draft else { return Ok(()) };
        draft.name(&self.file, &self.path).map_err(RecordError::io(&self.path))?;
        self.draft = None;
        Ok(())
    }

    /// Removes the file of a record that was begun here.
    pub fn withdraw(mut self) -> Result<(), RecordError> {
        match self.draft.take() {
            Some(draft) => draft.discard(),
            None => std::fs::remove_file(&self.path).map_err(RecordError::io(&self.path))?,
        }
        Ok(())
    }

    /// Opens a record to go on with it. Nothing is changed before the first line is appended: then
    /// a last line that was torn is cut off.
    pub fn reopen(path: &Path) -> Result<RecordWriter, RecordError> {
        let io = RecordError::io(path);
        let file = File::options().read(true).append(true).open(path).map_err(&io)?;
        // Of the open file: its name may come to mean another.
        if !user::owns(&file.metadata().map_err(&io)?) {
            return Err(RecordError::NotOwn(path.to_owned()));
        }
        RecordWriter::locked(path, file, true)
    }

    /// What the file holds, whatever its name means by now, and when it was last written.
    pub fn read_back(&self) -> Result<(Record, SystemTime), RecordError> {
        let io = RecordError::io(&self.path);
        let mut file = &self.file;
        file.rewind().map_err(&io)?;
        let record = Record::read_from(&self.path, file)?;
        let written = self.file.metadata().and_then(|facts| facts.modified()).map_err(&io)?;
        Ok((record, written))
    }

    /// Locks the file against other labs until it is closed, where the file system has locks.
    fn locked(path: &Path, file: File, torn: bool) -> Result<RecordWriter, RecordError> {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(RecordError::InUse(path.to_owned())),
            Ok(()) | Err(TryLockError::Error(_)) => {
                Ok(RecordWriter { path: path.to_owned(), file, draft: None, torn, samples: 0 })
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one line with a single write, so that a killed run leaves whole lines.
    pub fn append(&mut self, line: &Line) -> Result<(), RecordError> {
        let mut text = serde_json::to_vec(line).expect("records hold only strings, numbers and string keys");
        text.push(b'\n');
        let io = RecordError::io(&self.path);
        if text.len() as u64 > LINE_BYTES_MAX {
            return Err(io(io::Error::other(format!("a line {}", too_long()))));
        }
        if matches!(line, Line::Sample(_)) {
            self.samples += 1;
            if self.samples > SAMPLES_MAX {
                return Err(io(io::Error::other(format!("a record holds {SAMPLES_MAX} samples at most"))));
            }
        }
        if std::mem::take(&mut self.torn) {
            mend(&mut self.file).map_err(&io)?;
        }
        self.file.write_all(&text).map_err(&io)
    }
}

impl Drop for RecordWriter {
    fn drop(&mut self) {
        if let Some(draft) = &self.draft {
            draft.discard();
        }
    }
}

/// Cuts off a torn last line, or ends one that lacks only that: [`Record::read`] takes it.
fn mend(file: &mut File) -> io::Result<()> {
    let (whole, size) = (whole_bytes(file)?, file.metadata()?.len());
    let mut last = vec![0; usize::try_from(size - whole).map_err(io::Error::other)?];
    file.read_exact_at(&mut last, whole)?;
    match serde_json::from_slice::<Line>(&last) {
        Ok(_) => file.write_all(b"\n"),
        Err(_) => file.set_len(whole),
    }
}

/// The bytes up to the end of the last line that has one.
fn whole_bytes(file: &File) -> io::Result<u64> {
    let (mut end, mut block) = (file.metadata()?.len(), vec![0; BLOCK_BYTES]);
    while end > 0 {
        let begin = end.saturating_sub(BLOCK_BYTES as u64);
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
    /// Reads a record back, as far as it was written: a last line that was cut off is left out.
    /// Every line is held against the rules of `check`.
    pub fn read(path: &Path) -> Result<Record, RecordError> {
        let file = File::open(path).map_err(RecordError::io(path))?;
        Record::read_from(path, &file)
    }

    /// The same of a file that is open; its path is for messages.
    fn read_from(path: &Path, file: &File) -> Result<Record, RecordError> {
        let io = RecordError::io(path);
        let mut file = BufReader::new(file);
        let mut line = Vec::new();
        next_line(&mut file, &mut line).map_err(&io)?;
        let mut record = Record::begin(path, &line)?;
        let mut check = RecordCheck::default();
        for number in 2.. {
            if next_line(&mut file, &mut line).map_err(&io)? == 0 {
                break;
            }
            let broken = |cause| RecordError::BrokenLine { path: path.to_owned(), number, cause };
            if line.len() as u64 > LINE_BYTES_MAX {
                return Err(broken(too_long()));
            }
            match serde_json::from_slice(&line) {
                Ok(found) => record.take(found, &mut check, line.len()).map_err(broken)?,
                // Only a line without an end was cut off; any other is broken.
                Err(_) if !line.ends_with(b"\n") => break,
                Err(cause) => return Err(broken(cause.to_string())),
            }
        }
        Ok(record)
    }

    /// Takes in one more line if it keeps the rules.
    fn take(&mut self, mut line: Line, check: &mut RecordCheck, bytes: usize) -> Result<(), String> {
        match check.line(self, &mut line, bytes)? {
            Checked::Add => self.add(line),
            Checked::AddAndSay(why) => [line, why].into_iter().for_each(|line| self.add(line)),
            Checked::LeaveOut => {}
        }
        Ok(())
    }

    /// An empty record from its first line.
    fn begin(path: &Path, first: &[u8]) -> Result<Record, RecordError> {
        let not_a_record = |cause: String| RecordError::NotARecord { path: path.to_owned(), cause };
        if first.len() as u64 > LINE_BYTES_MAX {
            return Err(not_a_record(too_long()));
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
                RecordCheck::header(&mut header).map_err(not_a_record)?;
                Ok(Record::new(*header))
            }
            _ => Err(not_a_record("its first line is no header".to_owned())),
        }
    }
}

/// The next line with its end, and its bytes; of one that is too long one byte too many.
fn next_line(file: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    line.clear();
    file.take(LINE_BYTES_MAX + 1).read_until(b'\n', line)
}

fn too_long() -> String {
    format!("longer than {LINE_BYTES_MAX} bytes")
}
