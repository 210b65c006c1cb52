//! Why one of many files was not read to its end.

use crate::ReadError;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Which of many files was not read to its end, and why.
#[derive(Debug)]
pub struct FileError {
    path: PathBuf,
    cause: ReadError,
}

impl FileError {
    pub(super) fn new(path: &Path, cause: ReadError) -> FileError {
        FileError { path: path.to_owned(), cause }
    }

    /// The path of the file. It is empty if the error concerns no file, for example if no thread
    /// could be started.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error of the call that failed.
    #[must_use]
    pub fn cause(&self) -> &ReadError {
        &self.cause
    }

    /// The path of the file and the error.
    #[must_use]
    pub fn into_parts(self) -> (PathBuf, ReadError) {
        (self.path, self.cause)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.as_os_str().is_empty() {
            return self.cause.fmt(f);
        }
        write!(f, "{}: {}", self.path.display(), self.cause)
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

/// An error that concerns no file.
impl From<io::Error> for FileError {
    fn from(cause: io::Error) -> FileError {
        FileError::new(Path::new(""), cause.into())
    }
}
