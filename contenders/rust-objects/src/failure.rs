//! Why a reading failed, in one line that has no secret.
//!
//! Errors of the libraries may carry a URL with its query, or the text of a server's answer, which
//! can repeat credentials. Of a chain of errors only the innermost is shown: the cause, as the
//! system, the encryption or the library says it.

use std::error::Error;
use std::fmt;

/// A reason in one line.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(reason: impl Into<String>) -> Failure {
        Failure(reason.into())
    }

    /// The innermost cause of an error.
    pub(crate) fn from_error(error: &(dyn Error + 'static)) -> Failure {
        let mut cause = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        Failure(cause.to_string())
    }

    /// The same for an error of reqwest, which shows its URL where it is the innermost itself.
    pub(crate) fn of_request(error: reqwest::Error) -> Failure {
        Failure::from_error(&error.without_url())
    }

    /// The same with what it is about.
    pub(crate) fn about(self, what: &str) -> Failure {
        Failure(format!("{what}: {}", self.0))
    }

    /// The reason, in one line.
    pub(crate) fn line(&self) -> String {
        let words: Vec<&str> = self.0.split_whitespace().collect();
        words.join(" ").trim_end_matches(':').to_owned()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn only_the_innermost_cause_is_shown_in_one_line() {
        let cause = io::Error::other("reset\nby peer");
        let error = io::Error::other(io::Error::other(cause));
        assert_eq!(Failure::from_error(&error).about("s3://b/k").line(), "s3://b/k: reset by peer");
    }
}
