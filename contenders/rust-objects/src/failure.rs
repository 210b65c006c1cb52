//! Why a reading failed, without a secret.
//!
//! Errors of the libraries may carry a URL with its query, or the text of a server's answer, which
//! can repeat credentials. Of a chain of errors only the innermost is shown: the cause, as the
//! system, the encryption or the library says it.

use readlab_protocol::serve::Refusal;
use std::error::Error;

/// The innermost cause of an error.
pub(crate) fn innermost(error: &(dyn Error + 'static)) -> Refusal {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let text = cause.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    Refusal::failed(words.join(" ").trim_end_matches(':'))
}

/// The same for an error of reqwest, which shows its URL where it is the innermost itself.
pub(crate) fn of_request(error: reqwest::Error) -> Refusal {
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
