//! Why a method cannot work here, or a reading failed: one line with the path and the cause.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;

/// A reason in one line.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The kernel or the file system lacks what the method needs.
    Unavailable(String),
    /// A call failed, or the request is wrong.
    Failed(String),
}

impl Failure {
    pub(crate) fn new(reason: impl Into<String>) -> Failure {
        Failure::Failed(reason.into())
    }

    /// What a runtime needs is not there.
    pub(crate) fn unavailable(what: &str, error: &dyn fmt::Display) -> Failure {
        Failure::Unavailable(format!("{what}: {error}"))
    }

    /// A read that failed at a place in the file.
    pub(crate) fn at(at: u64, error: &io::Error) -> Failure {
        Failure::Failed(format!("{error} at byte {at}"))
    }

    /// The same with the file that it is about.
    pub(crate) fn about(self, path: &Path) -> Failure {
        let shown = |reason| format!("{}: {reason}", path.display());
        match self {
            Failure::Unavailable(reason) => Failure::Unavailable(shown(reason)),
            Failure::Failed(reason) => Failure::Failed(shown(reason)),
        }
    }

    /// The reason, in one line.
    pub(crate) fn line(&self) -> String {
        let (Failure::Unavailable(reason) | Failure::Failed(reason)) = self;
        reason.replace(['\n', '\r'], " ")
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Failed(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line())
    }
}

impl Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_the_file_the_cause_and_the_place_in_one_line() {
        let error = io::Error::other("broken");
        let why = Failure::at(7, &error).about(Path::new("/a\nb"));
        assert_eq!(why.line(), "/a b: broken at byte 7");
    }
}
