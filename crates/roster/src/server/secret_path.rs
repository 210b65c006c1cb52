//! The file over HTTP under a path of 128 random bits: who knows it may read, all others find
//! nothing, so that no other user of the machine and no page in a browser gets the file.

use super::answer::{Answer, Status};
use super::request::Request;
use super::service::{Decision, Problem, Service};
use jiff::Timestamp;
use std::path::{Path, PathBuf};

/// A file and its secret path.
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

    /// Its URL at an address.
    pub(super) fn line(&self, address: &str) -> String {
        format!("http://{address}{}", self.path)
    }
}

impl Service for SecretPath {
    fn file(&self) -> &Path {
        &self.file
    }

    fn decide(&self, request: &Request, _now: Timestamp) -> Decision {
        let is_right = request.path == self.path
            && request.query.is_empty()
            && ["GET", "HEAD"].contains(&request.verb.as_str());
        if is_right { Decision::File } else { Decision::Refused(Answer::empty(Status::NotFound)) }
    }

    fn problem(&self, problem: Problem) -> Answer {
        Answer::empty(problem.status())
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
