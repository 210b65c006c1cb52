//! What the loopback server serves: one file, to those who may read it. The two services,
//! [`super::secret_path`] and [`super::s3`], differ in how a client shows that it may, and in the
//! words of their errors.

use super::answer::{Answer, Status};
use super::file_version::{Asked, FileVersion};
use super::request::Request;
use jiff::Timestamp;
use std::fs::File;
use std::io;
use std::path::Path;

/// How a request is answered.
#[derive(Debug)]
pub(super) enum Decision {
    /// With the file, or what the request asks for of it.
    File,
    /// With the file as the only part of which it was uploaded.
    OnlyPart,
    /// With something else, to a client that may read the file.
    Other(Answer),
    /// With an error, to a client that has not shown that it may read the file; then the
    /// connection ends.
    Refused(Answer),
}

/// Why a request does not get the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    /// The file cannot be opened.
    NoFile,
    /// The file is another version than the one asked for.
    OtherVersion,
    /// The range is beyond the end.
    Range,
    Body,
    /// All connections are taken.
    Busy,
}

/// A service of one file.
pub(super) trait Service: Send + Sync + 'static {
    fn file(&self) -> &Path;

    /// Whether the client may read the file, and what it asks for.
    fn decide(&self, request: &Request, now: Timestamp) -> Decision;

    fn problem(&self, problem: Problem) -> Answer;

    /// Adds the fields of every answer.
    fn finish(&self, answer: Answer) -> Answer;
}

impl Problem {
    pub(super) fn status(self) -> Status {
        match self {
            Problem::NoFile => Status::NotFound,
            Problem::OtherVersion => Status::PreconditionFailed,
            Problem::Range => Status::RangeNotSatisfiable,
            Problem::Body => Status::BadRequest,
            Problem::Busy => Status::Busy,
        }
    }
}

/// The answer with what a request asks for of a file, as far as it could be opened.
pub(super) fn file_answer(service: &dyn Service, request: &Request, file: io::Result<File>) -> Answer {
    let opened = file.and_then(|file| Ok((FileVersion::from_metadata(&file.metadata()?), file)));
    let Ok((version, file)) = opened else { return service.problem(Problem::NoFile) };
    let size_bytes = version.size_bytes;
    let answer = match version.asked(request) {
        Asked::Whole => Answer::part(Status::Ok, file, 0..size_bytes),
        Asked::Part(part) => {
            let words = format!("bytes {}-{}/{size_bytes}", part.start, part.end - 1);
            Answer::part(Status::PartialContent, file, part).with("Content-Range", words)
        }
        Asked::IfChanged => return Answer::empty(Status::NotModified).with("ETag", version.etag),
        Asked::OtherVersion => return service.problem(Problem::OtherVersion),
        Asked::Nowhere => {
            let words = format!("bytes */{size_bytes}");
            return service.problem(Problem::Range).with("Content-Range", words);
        }
    };
    let modified = version.modified();
    let answer = answer.with("Content-Type", "application/octet-stream").with("Accept-Ranges", "bytes");
    answer.with("ETag", version.etag).with("Last-Modified", modified)
}
