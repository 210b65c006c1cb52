//! Serves the file as the only object of one bucket, to clients that sign requests with the server's
//! access key.
//!
//! The server answers the requests that libraries and tools send to read an object: the object and
//! its head, the bucket, its region, and lists that contain only this object. Requests must name the
//! bucket in the path. The rest of the protocol, and every writing verb, is rejected with S3's own
//! errors.

use super::answer::{Answer, HttpStatus};
use super::file_version::FileVersion;
use super::request::Request;
use super::s3_documents as documents;
use super::service::{Decision, Service};
use jiff::Timestamp;
use readlab_targets::target::s3::Credentials;
use readlab_targets::target::s3::signature::percent_decoded;
use readlab_targets::target::s3::verification::{ReceivedRequest, Refusal};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The region of the bucket, which is the default region of most tools.
pub(super) const REGION: &str = "us-east-1";

pub(super) const BUCKET: &str = "readlab";

/// The object's key if a URL would change the name of the file.
const PLAIN_KEY: &str = "file";

#[derive(Debug)]
pub(super) struct S3Service {
    file: PathBuf,
    object_key: String,
    credentials: Credentials,
    answer_count: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ErrorCode {
    status: HttpStatus,
    pub(super) name: &'static str,
    pub(super) message: &'static str,
}

const NO_BUCKET: ErrorCode = error_code(HttpStatus::NotFound, "NoSuchBucket", "There is no such bucket.");
const NO_KEY: ErrorCode = error_code(HttpStatus::NotFound, "NoSuchKey", "There is no such object.");
const READ_ONLY: ErrorCode =
    error_code(HttpStatus::MethodNotAllowed, "MethodNotAllowed", "Only GET and HEAD are allowed.");
const NO_PART: ErrorCode =
    error_code(HttpStatus::RangeNotSatisfiable, "InvalidPartNumber", "The object has one part.");
const NOT_IMPLEMENTED: ErrorCode = error_code(
    HttpStatus::NotImplemented,
    "NotImplemented",
    "This server has one object, and nothing but its bytes.",
);

const fn error_code(status: HttpStatus, name: &'static str, message: &'static str) -> ErrorCode {
    ErrorCode { status, name, message }
}

/// Prefixes of parameters that do not change what is requested.
const HARMLESS_PARAMETER_PREFIXES: [&str; 2] = ["x-id", "x-amz-"];

/// Parameters of list requests. Those that the server ignores would not change a list of one object.
const LIST_PARAMETERS: [&str; 10] = [
    "list-type",
    "prefix",
    "delimiter",
    "encoding-type",
    "max-keys",
    "marker",
    "start-after",
    "continuation-token",
    "fetch-owner",
    "optional-object-attributes",
];

impl S3Service {
    /// Serves a file, under its own name if a URL does not change it.
    pub(super) fn new(file: &Path, credentials: Credentials) -> S3Service {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or(PLAIN_KEY);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let key = if name.bytes().all(is_plain) { name } else { PLAIN_KEY };
        S3Service {
            file: file.to_owned(),
            object_key: key.to_owned(),
            credentials,
            answer_count: AtomicU64::new(0),
        }
    }

    /// The decision about a request with a valid signature.
    fn routing_decision(&self, request: &Request) -> Decision {
        if !["GET", "HEAD"].contains(&request.verb.as_str()) {
            return error_decision(READ_ONLY);
        }
        let path = percent_decoded(&request.path);
        let Some(path) = path.strip_prefix(b"/") else { return error_decision(NO_BUCKET) };
        let end = path.iter().position(|&byte| byte == b'/').unwrap_or(path.len());
        let (bucket, key) = (&path[..end], path.get(end + 1..).unwrap_or(&[]));
        match (bucket, key) {
            (b"", _) => Decision::Other(Answer::text(HttpStatus::Ok, documents::bucket_list_xml(BUCKET))),
            (bucket, _) if bucket != BUCKET.as_bytes() => error_decision(NO_BUCKET),
            (_, b"") => self.bucket_decision(request),
            (_, key) if key != self.object_key.as_bytes() => error_decision(NO_KEY),
            _ => object_decision(request),
        }
    }

    fn bucket_decision(&self, request: &Request) -> Decision {
        let query = documents::decoded_parameters(&request.query);
        let is_known =
            |(name, _): &(String, String)| LIST_PARAMETERS.contains(&name.as_str()) || is_harmless(name);
        let text = if request.is_head() {
            String::new()
        } else if query.iter().any(|(name, _)| name == "location") {
            documents::region_xml(REGION)
        } else if query.iter().all(is_known) {
            let version =
                std::fs::metadata(&self.file).ok().map(|metadata| FileVersion::from_metadata(&metadata));
            documents::key_list_xml(BUCKET, &self.object_key, version.as_ref(), &query)
        } else {
            return error_decision(NOT_IMPLEMENTED);
        };
        Decision::Other(Answer::text(HttpStatus::Ok, text).with_field("x-amz-bucket-region", REGION))
    }
}

fn object_decision(request: &Request) -> Decision {
    let is_known = |name: &str| is_harmless(name) || name.starts_with("response-");
    let query = documents::decoded_parameters(&request.query);
    let (parts, others): (Vec<_>, Vec<_>) = query.iter().partition(|(name, _)| name == "partNumber");
    match parts.first() {
        _ if !others.iter().all(|(name, _)| is_known(name)) => error_decision(NOT_IMPLEMENTED),
        Some((_, number)) if number == "1" => Decision::OnlyPart,
        Some(_) => error_decision(NO_PART),
        None => Decision::File,
    }
}

fn is_harmless(parameter: &str) -> bool {
    HARMLESS_PARAMETER_PREFIXES.iter().any(|start| parameter.to_ascii_lowercase().starts_with(start))
}

/// An error for a client that may read the file; its connection stays open.
fn error_decision(code: ErrorCode) -> Decision {
    Decision::Other(error_answer(code))
}

fn error_answer(code: ErrorCode) -> Answer {
    Answer::text(code.status, documents::error_xml(code)).with_field("Content-Type", "application/xml")
}

fn refusal_code(refusal: Refusal) -> ErrorCode {
    let (forbidden, bad) = (HttpStatus::Forbidden, HttpStatus::BadRequest);
    match refusal {
        Refusal::Unsigned => error_code(forbidden, "AccessDenied", "The request is not signed."),
        Refusal::Malformed(why) => error_code(bad, "AuthorizationHeaderMalformed", why),
        Refusal::UnknownKey => {
            error_code(forbidden, "InvalidAccessKeyId", "The access key is not known here.")
        }
        Refusal::UnsignedField => error_code(
            forbidden,
            "AccessDenied",
            "There were headers present in the request which were not signed.",
        ),
        Refusal::Payload => error_code(
            bad,
            "XAmzContentSHA256Mismatch",
            "Only the digest of no bytes and UNSIGNED-PAYLOAD are taken.",
        ),
        Refusal::Skewed => {
            error_code(forbidden, "RequestTimeTooSkewed", "The clocks differ by more than 15 minutes.")
        }
        Refusal::Expired => error_code(forbidden, "AccessDenied", "Request has expired."),
        Refusal::Mismatch => error_code(
            forbidden,
            "SignatureDoesNotMatch",
            "The signature does not match the request and the secret.",
        ),
    }
}

impl Service for S3Service {
    fn file(&self) -> &Path {
        &self.file
    }

    /// The line has the endpoint, region, bucket, key, access key and secret.
    fn printed_line(&self, address: &str) -> String {
        let Credentials { access_key, secret, .. } = &self.credentials;
        format!("http://{address} {REGION} {BUCKET} {} {access_key} {}", self.object_key, secret.reveal())
    }

    fn decide(&self, request: &Request, now: Timestamp) -> Decision {
        let Request { verb, path, query, fields, .. } = request;
        let received = ReceivedRequest { verb, path, query, fields };
        match received.verify(&self.credentials, REGION, now) {
            Ok(()) => self.routing_decision(request),
            Err(refusal) => Decision::Refused(error_answer(refusal_code(refusal))),
        }
    }

    fn answers_several_ranges(&self) -> bool {
        false
    }

    fn problem_answer(&self, status: HttpStatus) -> Answer {
        let (name, message) = match status {
            HttpStatus::NotFound => return error_answer(NO_KEY),
            HttpStatus::PreconditionFailed => ("PreconditionFailed", "The object has another ETag."),
            HttpStatus::RangeNotSatisfiable => ("InvalidRange", "The range is beyond the end of the object."),
            HttpStatus::BadRequest => ("InvalidRequest", "A request with a body is not read."),
            _ => ("SlowDown", "All connections are taken."),
        };
        error_answer(error_code(status, name, message))
    }

    fn with_common_fields(&self, answer: Answer) -> Answer {
        let number = self.answer_count.fetch_add(1, Ordering::Relaxed);
        answer.with_field("x-amz-request-id", format!("{number:016X}")).with_field("Server", "readlab")
    }
}

#[cfg(test)]
mod tests;
