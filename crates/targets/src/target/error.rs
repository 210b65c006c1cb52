//! Why a path, a URL or an object cannot be a target; one line each, whatever characters the name
//! contains.

use super::http::HttpError;
use super::secret;
use super::source::SourceError;
use readlab_model::target::range::FileRange;
use readlab_model::units::Bytes;
use readlab_system::terminal::printable::display_path;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    #[error("{}: no such file", display_path(.0))]
    NotFound(PathBuf),
    /// No file has this name. It contains a password, so it was meant to be a URL.
    #[error("{0}: no such file; a URL begins with http:// or https://")]
    NoScheme(String),
    #[error("{}: a link to a file that does not exist", display_path(.0))]
    DanglingLink(PathBuf),
    /// The user may not read the file, or may not enter a folder above it.
    #[error("{}: no permission to read it", display_path(.0))]
    Denied(PathBuf),
    /// The file system is on a network or in user space and does not respond.
    #[error("{}: its file system did not answer within {} s", display_path(.path), .limit.as_secs())]
    NoAnswer { path: PathBuf, limit: Duration },
    #[error("{}: {kind}, not a file", display_path(.path))]
    NotAFile { path: PathBuf, kind: &'static str },
    /// Reading the file gives more or fewer bytes than its size, as for files of /proc and /sys.
    #[error(
        "{}: its size is {size_bytes} bytes but reading gives {read}: the kernel makes it up while it is read",
        display_path(.path)
    )]
    NoTrueSize {
        path: PathBuf,
        /// The file's size from fstat(2).
        size_bytes: u64,
        read: &'static str,
    },
    #[error("{}: {cause}", display_path(.path))]
    Io { path: PathBuf, cause: io::Error },
    #[error("{}: {} is too small to be split by {readers}", display_path(.path), Bytes(*.size_bytes).binary())]
    TooSmall { path: PathBuf, size_bytes: u64, readers: NonZero<u32> },
    #[error("{name}: {why}")]
    NoGroups { name: String, why: &'static str },
    #[error("{}: {} are needed for copies and {} are free", display_path(.folder), Bytes(*.needed_bytes), Bytes(*.free_bytes))]
    NoRoom {
        folder: PathBuf,
        /// Bytes that the copies take, with a margin.
        needed_bytes: u64,
        free_bytes: u64,
    },
    #[error("{}: {} has no block of {}", display_path(.path), Bytes(*.size_bytes).binary(), Bytes(*.block_bytes).exact())]
    NoBlock { path: PathBuf, size_bytes: u64, block_bytes: u64 },
    #[error(
        "{}: --range {range} is not within it: it has {size_bytes} bytes, and a range has at least one",
        display_path(.path)
    )]
    NoRange { path: PathBuf, size_bytes: u64, range: FileRange },
    #[error(
        "{0}: --range and --ranges need a server that declares the size of the content (Content-Length) and that it \
         answers requests for ranges (Accept-Ranges)"
    )]
    NoServedRanges(String),
    #[error("{}: no range in it: offset and length a line", display_path(.0))]
    NoRanges(PathBuf),
    #[error("{}: line {line}: '{text}' is no range: offset and length in bytes, from 1 byte to 1 GiB", display_path(.list))]
    NoRangeInLine {
        list: PathBuf,
        line: u64,
        /// The begin of the line, without control characters.
        text: String,
    },
    #[error(
        "{}: {bytes} bytes from byte {offset} end behind {}, which has {size_bytes} bytes",
        display_path(.list),
        display_path(.path)
    )]
    RangeBeyond { path: PathBuf, list: PathBuf, size_bytes: u64, offset: u64, bytes: u64 },
    #[error("its ranges came from standard input, which does not have them again: begin anew")]
    RangesOfInput,
    #[error("{}: no dictionary: it is empty or larger than 64 MiB, or its name is not UTF-8", display_path(.0))]
    NoDictionary(PathBuf),
    #[error("{}: --dictionary decodes a zstd, and this is none", display_path(.0))]
    NoZstd(PathBuf),
    #[error("{}: no file in it{skipped}", display_path(.path))]
    NoFiles {
        path: PathBuf,
        /// What the folder contains instead of files, for example `, only …`: appended to the message; empty if it
        /// contains nothing.
        skipped: String,
    },
    #[error("{}: on another file system than {}: readlab reads the files of one at a time", display_path(.path), display_path(.first))]
    OtherFilesystem { path: PathBuf, first: PathBuf },
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
        /// The other URL. It may contain a secret of the user, so it is never written into a
        /// record.
        to: String,
    },
    #[error(
        "{name}: the server redirects it to itself more than {redirects} times: its redirects lead in a circle"
    )]
    RedirectLoop { name: String, redirects: u32 },
    #[error("{name}: {cause}")]
    Web { name: String, cause: HttpError },
}

impl TargetError {
    /// An error about a file that exists.
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> TargetError {
        move |cause| TargetError::Io { path: path.to_owned(), cause }
    }
}

/// The error for a word of the user that was made absolute to `path` and could not be examined.
pub(super) fn refusal_of_word(word: &Path, path: &Path, cause: io::Error) -> TargetError {
    let word = display_path(word);
    let shown = secret::redact_url(&word);
    match cause.kind() {
        io::ErrorKind::NotFound if shown != word => TargetError::NoScheme(shown),
        _ => refusal(path, cause),
    }
}

/// The error for a path that could not be examined or opened.
pub(super) fn refusal(path: &Path, cause: io::Error) -> TargetError {
    let path = path.to_owned();
    match cause.kind() {
        io::ErrorKind::NotFound if path.is_symlink() => TargetError::DanglingLink(path),
        io::ErrorKind::NotFound => TargetError::NotFound(path),
        io::ErrorKind::PermissionDenied => TargetError::Denied(path),
        _ => TargetError::Io { path, cause },
    }
}
