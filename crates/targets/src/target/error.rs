//! Why a path, a URL or an object cannot be a target; one line each, whatever characters the name
//! contains.

use super::http::HttpError;
use super::source::SourceError;
use super::{RESPONSE_TIME_MAX, secret};
use readlab_system::terminal::printable::display_path;
use std::fmt::Display;
use std::io;
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// A refusal whose reason is only shown to the user; no code distinguishes such reasons.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The server redirects to another server. The message has the whole address, so that the user
    /// can name it.
    #[error(
        "{name}: the server answers {code} with a redirect to another server, which is not followed: race {to} instead"
    )]
    Redirected {
        name: String,
        code: u16,
        /// The URL on the other server. It may contain a secret of the user, so it is never written
        /// into a record.
        to: String,
    },
    #[error(
        "{name}: the server redirects it to itself more than {redirects} times: its redirects lead in a circle"
    )]
    RedirectLoop { name: String, redirects: u32 },
    #[error("{name}: the bucket is in {region}: set AWS_REGION={region}")]
    OtherRegion { name: String, region: String },
    #[error("{name}: {cause}")]
    Web { name: String, cause: HttpError },
}

impl TargetError {
    /// The error for a file whose file system is on a network or in user space and does not
    /// respond.
    pub fn no_answer(path: &Path) -> TargetError {
        let seconds = RESPONSE_TIME_MAX.as_secs();
        TargetError::about(path, format!("its file system did not answer within {seconds} s"))
    }

    pub(super) fn about(path: &Path, why: impl Display) -> TargetError {
        TargetError::Refused(format!("{}: {why}", display_path(path)))
    }

    /// A function that makes an I/O error on this path a `TargetError`. For a path that may not exist,
    /// [`refusal`] has better words.
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> TargetError {
        move |cause| TargetError::about(path, cause)
    }
}

/// The error for a word of the command line whose target could not be examined. `path` is the
/// absolute path of the word.
pub(super) fn refusal_of_word(word: &Path, path: &Path, cause: io::Error) -> TargetError {
    let word = display_path(word);
    let shown = secret::redact_url(&word);
    match cause.kind() {
        // No file has this name. It contains a password, so it was meant to be a URL.
        io::ErrorKind::NotFound if shown != word => {
            TargetError::Refused(format!("{shown}: no such file; a URL begins with http:// or https://"))
        }
        _ => refusal(path, cause),
    }
}

/// The error for a path that could not be examined or opened.
pub(super) fn refusal(path: &Path, cause: io::Error) -> TargetError {
    match cause.kind() {
        io::ErrorKind::NotFound if path.is_symlink() => {
            TargetError::about(path, "a link to a file that does not exist")
        }
        io::ErrorKind::NotFound => TargetError::about(path, "no such file"),
        // The user may not read the file, or may not enter a folder above it.
        io::ErrorKind::PermissionDenied => TargetError::about(path, "no permission to read it"),
        _ => TargetError::about(path, cause),
    }
}
