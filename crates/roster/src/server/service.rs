//! What the loopback server serves: one file, to clients that may read it. The two services differ
//! in how a client proves that it may read the file, and in the text of their errors.
//! [`super::s3`] serves the file as an object. The service in this file serves it under a path with
//! 128 random bits. A client that knows the path may read the file, and all others get "not found",
//! so that no other user of the machine and no web page in a browser gets the file.

use super::answer::{Answer, CONTENT_TYPE, HttpStatus, content_range};
use super::file_version::{FileVersion, RequestedPart};
use super::request::Request;
use jiff::Timestamp;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) enum Decision {
    /// Respond with the file, or with the part that the request asks for.
    File,
    /// Respond with the file as part 1 of an object that was uploaded in one part.
    OnlyPart,
    /// Respond with something else, to a client that may read the file.
    Other(Answer),
    /// Respond with an error to a client that has not proven that it may read the file, and close
    /// the connection.
    Refused(Answer),
}

pub(super) trait Service: Send + Sync + 'static {
    fn file(&self) -> &Path;

    /// The line that the server prints, which states how to read the file at this address.
    fn printed_line(&self, address: &str) -> String;

    /// Decides whether the client may read the file, and what it gets.
    fn decide(&self, request: &Request, now: Timestamp) -> Decision;

    /// True if a request for several ranges gets these ranges. S3 stores send the whole object.
    fn answers_several_ranges(&self) -> bool;

    /// The response to a client that cannot get the file: the file or the version does not exist,
    /// the range is beyond the end, the request has a body, or there is no room.
    fn problem_answer(&self, status: HttpStatus) -> Answer;

    /// Adds the header fields that every response has.
    fn with_common_fields(&self, answer: Answer) -> Answer;
}

/// The response to a request for the file, if the file could be opened.
pub(super) fn file_answer(service: &dyn Service, request: &Request, file: io::Result<File>) -> Answer {
    let opened = file.and_then(|file| Ok((FileVersion::from_metadata(&file.metadata()?), file)));
    let Ok((version, file)) = opened else { return service.problem_answer(HttpStatus::NotFound) };
    let size_bytes = version.size_bytes;
    let answer = match version.requested_part(request) {
        RequestedPart::Parts(parts) if service.answers_several_ranges() => {
            // The tag is a hash, so the content does not contain it by chance.
            let boundary = version.etag.trim_matches('"');
            let kind = format!("multipart/byteranges; boundary={boundary}");
            Answer::multipart(file, parts, size_bytes, boundary).with_field("Content-Type", kind)
        }
        RequestedPart::Whole | RequestedPart::Parts(_) => {
            Answer::part(HttpStatus::Ok, file, 0..size_bytes).with_field("Content-Type", CONTENT_TYPE)
        }
        RequestedPart::Part(part) => {
            let words = content_range(&part, size_bytes);
            let answer =
                Answer::part(HttpStatus::PartialContent, file, part).with_field("Content-Range", words);
            answer.with_field("Content-Type", CONTENT_TYPE)
        }
        RequestedPart::NothingNew => {
            return Answer::empty(HttpStatus::NotModified).with_field("ETag", version.etag);
        }
        RequestedPart::OtherVersion => return service.problem_answer(HttpStatus::PreconditionFailed),
        RequestedPart::BeyondEnd => {
            let words = format!("bytes */{size_bytes}");
            return service
                .problem_answer(HttpStatus::RangeNotSatisfiable)
                .with_field("Content-Range", words);
        }
    };
    let modified = version.http_modified_time();
    answer
        .with_field("Accept-Ranges", "bytes")
        .with_field("ETag", version.etag)
        .with_field("Last-Modified", modified)
}

#[derive(Debug)]
pub(super) struct SecretPathService {
    file: PathBuf,
    path: String,
}

impl SecretPathService {
    pub(super) fn new(file: &Path, token: &str) -> SecretPathService {
        SecretPathService { file: file.to_owned(), path: format!("/{token}") }
    }
}

impl Service for SecretPathService {
    fn file(&self) -> &Path {
        &self.file
    }

    fn printed_line(&self, address: &str) -> String {
        format!("http://{address}{}", self.path)
    }

    fn decide(&self, request: &Request, _now: Timestamp) -> Decision {
        let is_right = request.path == self.path
            && request.query.is_empty()
            && ["GET", "HEAD"].contains(&request.verb.as_str());
        if is_right { Decision::File } else { Decision::Refused(Answer::empty(HttpStatus::NotFound)) }
    }

    fn answers_several_ranges(&self) -> bool {
        true
    }

    fn problem_answer(&self, status: HttpStatus) -> Answer {
        Answer::empty(status)
    }

    fn with_common_fields(&self, answer: Answer) -> Answer {
        answer.with_field("Cache-Control", "no-store")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_secret_path_gives_the_file() {
        let service = SecretPathService::new(Path::new("/f"), "secret");
        let decide = |line: &str| {
            let request = Request::from_text(&format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n"));
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
