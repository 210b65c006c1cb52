//! The bytes of HTTP/1.1 responses: of correct servers, and of servers that misbehave.

use flate2::Compression;
use flate2::write::GzEncoder;
use readlab_roster::server::HttpStatus;
use readlab_roster::server::file_version::{FileVersion, RequestedPart};
use readlab_roster::server::request::Request;
use std::io::Write;
use std::ops::Range;
use std::time::Duration;

/// The ETag of a version of the content that no client requested.
const OTHER_ETAG: &str = "\"fedcba9876543210fedcba9876543210-1\"";

/// How long a silent server keeps its connection open. It is shorter than any client's time limit,
/// so that the client sees the end of the connection and not a timeout of its own.
const SILENCE_TIME: Duration = Duration::from_secs(1);

/// The boundary between the parts of a response.
const BOUNDARY: &str = "THE-BOUNDARY-OF-PARTS";

/// Number of bytes that a server sends after the bytes that `Content-Length` promised.
const EXTRA_BYTES: usize = 1 << 20;

/// What is wrong with the responses for a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misbehaviour {
    Forbidden,
    NotFound,
    InternalError,
    Busy,
    BusyTwice,
    Redirect,
    CutShort,
    Reset,
    ChunksWithoutEnd,
    SilentBeforeHead,
    SilentAfterHead,
    BytesAfterEnd,
    Encoded,
    /// The content has another version than the request asked for, as if the server ignored
    /// `If-Match`.
    OtherVersion,
    /// The content has another version from the second request on.
    ChangedVersion,
    Whole,
    OtherRange,
    ShorterRange,
    WrongContentRange,
    ShorterPart,
    LongerPart,
}

/// The content of a server under a URL.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resource<'a> {
    pub content: &'a [u8],
    pub etag: &'a str,
    /// The path to which redirects lead.
    pub redirect_path: &'a str,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub bytes: Vec<u8>,
    pub end: ConnectionFate,
    /// True if the response is not what the request asked for.
    pub is_wrong: bool,
}

/// What a server does after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionFate {
    /// Waits for the next request, unless the client announced that this was its last.
    Stays,
    Closes,
    Resets,
    /// Sends nothing for this long, and then closes the connection.
    ClosesAfter(Duration),
}

/// A response that a misbehaviour may still change.
struct Answer {
    status: HttpStatus,
    fields: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Misbehaviour {
    /// The description of the server in a report.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Forbidden => "a server that answers 403",
            Self::NotFound => "a server that answers 404",
            Self::InternalError => "a server that answers 500",
            Self::Busy => "a server that answers 503",
            Self::BusyTwice => "a server that answers 503 twice",
            Self::Redirect => "a server that redirects",
            Self::CutShort => "a server that ends the connection within a body",
            Self::Reset => "a server that resets the connection within a body",
            Self::ChunksWithoutEnd => "a server that does not end its chunks",
            Self::SilentBeforeHead => "a server that is silent",
            Self::SilentAfterHead => "a server that is silent after the head",
            Self::BytesAfterEnd => "a server that sends more than it promised",
            Self::Encoded => "a server that encodes its answer",
            Self::OtherVersion => "a server that sends another version",
            Self::ChangedVersion => "a server whose version changes after the first request",
            Self::Whole => "a server that sends the whole for a range",
            Self::OtherRange => "a server that sends another range",
            Self::ShorterRange => "a server that sends a shorter range",
            Self::WrongContentRange => "a server that says another range than it sends",
            Self::ShorterPart => "a server that sends fewer bytes than the range has",
            Self::LongerPart => "a server that sends more bytes than the range has",
        }
    }

    /// The response to a request after `earlier` others, not counting `HEAD` requests.
    pub(super) fn reply(self, request: &Request, resource: Resource<'_>, earlier: usize) -> Reply {
        let wrong = |answer: Answer| answer.reply(request, true);
        if let Some(answer) = self.error_status_answer(resource, earlier) {
            return wrong(answer);
        }
        // Of the other misbehaviours only responses with a body are wrong: a client that begins with
        // `HEAD` must meet them as a client does that only sends `GET`.
        if request.is_head() {
            return right_reply(request, resource);
        }
        let answer = right_answer(request, resource);
        match self {
            _ if !matches!(answer.status, HttpStatus::Ok | HttpStatus::PartialContent) => {
                answer.reply(request, false)
            }
            Self::ChangedVersion if earlier == 0 => answer.reply(request, false),
            Self::OtherVersion | Self::ChangedVersion => {
                let other = Resource { etag: OTHER_ETAG, ..resource };
                right_answer(&request.clone().without_field("if-match"), other).reply(request, true)
            }
            Self::CutShort | Self::Reset => {
                let half = answer.body.len().div_ceil(2);
                let mut reply = wrong(answer);
                reply.bytes.truncate(reply.bytes.len() - half);
                let end = if self == Self::Reset { ConnectionFate::Resets } else { ConnectionFate::Closes };
                Reply { end, ..reply }
            }
            Self::ChunksWithoutEnd => answer.without_last_chunk(),
            Self::SilentBeforeHead => {
                Reply { bytes: Vec::new(), end: ConnectionFate::ClosesAfter(SILENCE_TIME), is_wrong: true }
            }
            Self::SilentAfterHead => {
                let length = answer.body.len();
                let mut reply = wrong(answer);
                reply.bytes.truncate(reply.bytes.len() - length);
                Reply { end: ConnectionFate::ClosesAfter(SILENCE_TIME), ..reply }
            }
            Self::BytesAfterEnd => {
                let mut reply = wrong(answer);
                reply.bytes.extend(std::iter::repeat_n(b'\n', EXTRA_BYTES));
                Reply { end: ConnectionFate::Closes, ..reply }
            }
            Self::Encoded => wrong(answer.encoded()),
            _ => self.range_reply(answer, request, resource),
        }
    }

    /// The response with a wrong range. If the request asks for no range, `OtherRange` and
    /// `ShorterRange` still send a range, and the others a correct response.
    fn range_reply(self, answer: Answer, request: &Request, resource: Resource<'_>) -> Reply {
        let (is_range, size) = (answer.status == HttpStatus::PartialContent, resource.content.len());
        let wrong = |answer: Answer| answer.reply(request, true);
        match self {
            Self::Whole if is_range => {
                right_answer(&request.clone().without_field("range"), resource).reply(request, true)
            }
            Self::OtherRange => wrong(answer.with_range(resource, |range| shifted_range(range, size))),
            Self::ShorterRange => wrong(answer.with_range(resource, |range| range.start..range.end - 1)),
            Self::WrongContentRange if is_range => {
                let body = answer.body.clone();
                wrong(Answer { body, ..answer.with_range(resource, |range| shifted_range(range, size)) })
            }
            Self::ShorterPart if is_range => {
                let body = answer.body[..answer.body.len() - 1].to_vec();
                wrong(Answer { body, ..answer })
            }
            Self::LongerPart if is_range => {
                let body = [&answer.body[..], b"\n"].concat();
                wrong(Answer { body, ..answer })
            }
            _ => answer.reply(request, false),
        }
    }

    fn error_status_answer(self, resource: Resource<'_>, earlier: usize) -> Option<Answer> {
        match self {
            Self::Forbidden => Some(error_answer(HttpStatus::Forbidden, "AccessDenied")),
            Self::NotFound => Some(error_answer(HttpStatus::NotFound, "NoSuchKey")),
            Self::InternalError => Some(error_answer(HttpStatus::InternalServerError, "InternalError")),
            Self::Busy => Some(error_answer(HttpStatus::Busy, "SlowDown")),
            Self::BusyTwice if earlier < 2 => Some(error_answer(HttpStatus::Busy, "SlowDown")),
            Self::Redirect => Some(Answer {
                fields: vec![("Location", resource.redirect_path.to_owned())],
                ..error_answer(HttpStatus::TemporaryRedirect, "TemporaryRedirect")
            }),
            _ => None,
        }
    }
}

/// The response of a correct server.
pub(super) fn right_reply(request: &Request, resource: Resource<'_>) -> Reply {
    right_answer(request, resource).reply(request, false)
}

/// An error response in the format of S3; the connection stays open.
pub(super) fn error_reply(request: &Request, status: HttpStatus, code: &str) -> Reply {
    error_answer(status, code).reply(request, false)
}

fn right_answer(request: &Request, resource: Resource<'_>) -> Answer {
    if !["GET", "HEAD"].contains(&request.verb.as_str()) {
        return error_answer(HttpStatus::MethodNotAllowed, "MethodNotAllowed");
    }
    let Resource { content, etag, .. } = resource;
    let version = FileVersion::with_etag(content.len() as u64, etag);
    let fields = vec![
        ("ETag", etag.to_owned()),
        ("Accept-Ranges", "bytes".to_owned()),
        ("Content-Type", "application/octet-stream".to_owned()),
        ("Last-Modified", version.http_modified_time()),
    ];
    match version.requested_part(request) {
        RequestedPart::Whole => Answer { status: HttpStatus::Ok, fields, body: content.to_vec() },
        RequestedPart::Part(part) => Answer { status: HttpStatus::PartialContent, fields, body: Vec::new() }
            .with_range(resource, |_| to_usize_range(&part)),
        RequestedPart::Parts(parts) => Answer {
            status: HttpStatus::PartialContent,
            fields: with_content_type(fields, &format!("multipart/byteranges; boundary={BOUNDARY}")),
            body: multipart_body(content, &parts),
        },
        RequestedPart::OtherVersion => error_answer(HttpStatus::PreconditionFailed, "PreconditionFailed"),
        RequestedPart::NothingNew => Answer { status: HttpStatus::NotModified, fields, body: Vec::new() },
        RequestedPart::BeyondEnd => {
            let mut answer = error_answer(HttpStatus::RangeNotSatisfiable, "InvalidRange");
            answer.fields.push(("Content-Range", format!("bytes */{}", content.len())));
            answer
        }
    }
}

fn with_content_type(
    mut fields: Vec<(&'static str, String)>,
    content_type: &str,
) -> Vec<(&'static str, String)> {
    fields.retain(|(name, _)| *name != "Content-Type");
    fields.push(("Content-Type", content_type.to_owned()));
    fields
}

/// The ranges of the content, each with its head.
fn multipart_body(content: &[u8], ranges: &[Range<u64>]) -> Vec<u8> {
    let mut body = Vec::new();
    for range in ranges {
        let (first, last, size) = (range.start, range.end - 1, content.len());
        let head = format!("--{BOUNDARY}\r\nContent-Range: bytes {first}-{last}/{size}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&content[to_usize_range(range)]);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

/// The range shifted by one byte: to the right, or to the left if the range ends with the content.
/// If the range is the whole content, all bytes except the first.
fn shifted_range(range: Range<usize>, size: usize) -> Range<usize> {
    match range {
        Range { start, end } if end < size => start + 1..end + 1,
        Range { start: 0, end } => 1..end,
        Range { start, end } => start - 1..end - 1,
    }
}

fn to_usize_range(part: &Range<u64>) -> Range<usize> {
    let at = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX);
    at(part.start)..at(part.end)
}

fn error_answer(status: HttpStatus, code: &str) -> Answer {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{code}</Message></Error>"
    );
    let fields = vec![("Content-Type", "application/xml".to_owned())];
    Answer { status, fields, body: body.into_bytes() }
}

impl Answer {
    /// Changes this response to another range. `change` computes the range from the present one,
    /// which is the whole content if the response has no range.
    fn with_range(self, resource: Resource<'_>, change: impl Fn(Range<usize>) -> Range<usize>) -> Answer {
        let content = resource.content;
        let known = self.range().unwrap_or(0..content.len());
        let Range { start, end } = change(known);
        let (body, total) = (content[start..end].to_vec(), content.len());
        let mut fields: Vec<_> =
            self.fields.into_iter().filter(|(name, _)| *name != "Content-Range").collect();
        fields.push(("Content-Range", format!("bytes {start}-{}/{total}", end.saturating_sub(1))));
        Answer { status: HttpStatus::PartialContent, fields, body }
    }

    fn range(&self) -> Option<Range<usize>> {
        let (_, field) = self.fields.iter().find(|(name, _)| *name == "Content-Range")?;
        let (range, _) = field.strip_prefix("bytes ")?.split_once('/')?;
        let (first, last) = range.split_once('-')?;
        Some(first.parse().ok()?..last.parse::<usize>().ok()? + 1)
    }

    fn encoded(mut self) -> Answer {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let encoded = encoder.write_all(&self.body).and_then(|()| encoder.finish());
        self.body = encoded.expect("a Vec takes everything");
        self.fields.push(("Content-Encoding", "gzip".to_owned()));
        self
    }

    fn head(&self, length: Option<usize>) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {}\r\n", self.status.code_and_reason());
        for (name, value) in &self.fields {
            head += &format!("{name}: {value}\r\n");
        }
        head += &match length {
            Some(length) => format!("Content-Length: {length}\r\n\r\n"),
            None => "Transfer-Encoding: chunked\r\n\r\n".to_owned(),
        };
        head.into_bytes()
    }

    fn reply(self, request: &Request, is_wrong: bool) -> Reply {
        let mut bytes = self.head(Some(self.body.len()));
        if !request.is_head() && self.status != HttpStatus::NotModified {
            bytes.extend(self.body);
        }
        Reply { bytes, end: ConnectionFate::Stays, is_wrong }
    }

    fn without_last_chunk(self) -> Reply {
        let mut bytes = self.head(None);
        bytes.extend(format!("{:x}\r\n", self.body.len()).into_bytes());
        bytes.extend(self.body);
        bytes.extend(b"\r\n");
        Reply { bytes, end: ConnectionFate::Closes, is_wrong: true }
    }
}

#[cfg(test)]
mod tests;
