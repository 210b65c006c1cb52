//! What the loopback server serves: one file, to those who may read it. The two services differ in how a
//! client shows that it may, and in the words of their errors: [`super::s3`] has the file as an object; here
//! it is under a path of 128 random bits: who knows it may read, all others find nothing, so that no
//! other user of the machine and no page in a browser gets the file.

use super::answer::{Answer, Status};
use super::file_version::{Asked, FileVersion};
use super::request::Request;
use jiff::Timestamp;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

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

pub(super) trait Service: Send + Sync + 'static {
    fn file(&self) -> &Path;

    /// What the server prints: how the file is read at an address.
    fn line(&self, address: &str) -> String;

    /// Whether the client may read the file, and what it asks for.
    fn decide(&self, request: &Request, now: Timestamp) -> Decision;

    /// Why a client gets no file: there is none, or another version; the range is beyond its end; the
    /// request has a body; or there is no room.
    fn problem(&self, status: Status) -> Answer;

    /// Adds the fields of every answer.
    fn finish(&self, answer: Answer) -> Answer;
}

/// The answer with what a request asks for of a file, as far as it could be opened.
pub(super) fn file_answer(service: &dyn Service, request: &Request, file: io::Result<File>) -> Answer {
    let opened = file.and_then(|file| Ok((FileVersion::from_metadata(&file.metadata()?), file)));
    let Ok((version, file)) = opened else { return service.problem(Status::NotFound) };
    let size_bytes = version.size_bytes;
    let answer = match version.asked(request) {
        Asked::Whole => Answer::part(Status::Ok, file, 0..size_bytes),
        Asked::Part(part) => {
            let words = format!("bytes {}-{}/{size_bytes}", part.start, part.end - 1);
            Answer::part(Status::PartialContent, file, part).with("Content-Range", words)
        }
        Asked::IfChanged => return Answer::empty(Status::NotModified).with("ETag", version.etag),
        Asked::OtherVersion => return service.problem(Status::PreconditionFailed),
        Asked::Nowhere => {
            let words = format!("bytes */{size_bytes}");
            return service.problem(Status::RangeNotSatisfiable).with("Content-Range", words);
        }
    };
    let modified = version.modified();
    let answer = answer.with("Content-Type", "application/octet-stream").with("Accept-Ranges", "bytes");
    answer.with("ETag", version.etag).with("Last-Modified", modified)
}

#[derive(Debug)]
pub(super) struct SecretPath {
    file: PathBuf,
    path: String,
}

impl SecretPath {
    /// Of a file, under `/token`.
    pub(super) fn new(file: &Path, token: &str) -> SecretPath {
        SecretPath { file: file.to_owned(), path: format!("/{token}") }
    }
}

impl Service for SecretPath {
    fn file(&self) -> &Path {
        &self.file
    }

    fn line(&self, address: &str) -> String {
        format!("http://{address}{}", self.path)
    }

    fn decide(&self, request: &Request, _now: Timestamp) -> Decision {
        let is_right = request.path == self.path
            && request.query.is_empty()
            && ["GET", "HEAD"].contains(&request.verb.as_str());
        if is_right { Decision::File } else { Decision::Refused(Answer::empty(Status::NotFound)) }
    }

    fn problem(&self, status: Status) -> Answer {
        Answer::empty(status)
    }

    fn finish(&self, answer: Answer) -> Answer {
        answer.with("Cache-Control", "no-store")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_secret_path_gives_the_file() {
        let service = SecretPath::new(Path::new("/f"), "secret");
        let decide = |line: &str| {
            let request = Request::of_text(&format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n"));
            service.decide(&request, Timestamp::UNIX_EPOCH)
        };
        assert!(matches!(decide("GET /secret"), Decision::File));
        assert!(matches!(decide("HEAD /secret"), Decision::File));
        for other in [
            "GET /",
            "GET /secret/",
            "GET /secret2",
            "GET /../secret",
            "GET secret",
            "GET http://x/secret",
            "GET /secret?a",
            "POST /secret",
            "get /secret",
        ] {
            assert!(matches!(decide(other), Decision::Refused(_)), "{other}");
        }
    }
}
