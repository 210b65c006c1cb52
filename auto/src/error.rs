//! Why a file was not read to its end.

use std::error::Error;
use std::{fmt, io};

/// A call that failed, and the offset in the file at which it failed.
#[derive(Debug)]
pub struct ReadError {
    at: Option<u64>,
    cause: io::Error,
}

impl ReadError {
    /// An error of a read at this offset of the file.
    #[must_use]
    pub fn at(offset: u64, cause: io::Error) -> ReadError {
        ReadError { at: Some(offset), cause }
    }

    /// The offset in the file, if the call failed at one.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.at
    }

    /// The error of the call.
    #[must_use]
    pub fn cause(&self) -> &io::Error {
        &self.cause
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "{} at byte {at}", self.cause),
            None => self.cause.fmt(f),
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl From<io::Error> for ReadError {
    fn from(cause: io::Error) -> ReadError {
        ReadError { at: None, cause }
    }
}

#[cfg(unix)]
impl From<rustix::io::Errno> for ReadError {
    fn from(cause: rustix::io::Errno) -> ReadError {
        io::Error::from(cause).into()
    }
}

/// The error of the call without the offset, as [`std::io::Read`] requires.
impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> io::Error {
        error.cause
    }
}
