//! The reason why a reading failed, without a secret.
//!
//! Errors of the libraries may contain a URL with its query, or the text of a server's answer,
//! which can repeat credentials. Only the innermost error of a chain is shown: the cause, as the
//! system, the encryption or the library words it.

use readlab_protocol::serve::Refusal;
use std::error::Error;

pub(crate) fn innermost(error: &(dyn Error + 'static)) -> Refusal {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let text = cause.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    Refusal::failed(words.join(" ").trim_end_matches(':'))
}

/// The innermost cause of an error of reqwest. If the error of reqwest is itself the innermost, its
/// URL is removed.
pub(crate) fn request_failure(error: reqwest::Error) -> Refusal {
    innermost(&error.without_url())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn only_the_innermost_cause_is_shown_in_one_line() {
        let cause = io::Error::other("reset\nby peer: ");
        let error = io::Error::other(io::Error::other(cause));
        assert_eq!(innermost(&error), Refusal::failed("reset by peer"));
    }
}
