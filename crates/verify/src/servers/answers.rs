//! Answers of HTTP/1.1 byte by byte, right ones and those of servers that misbehave.

use flate2::Compression;
use flate2::write::GzEncoder;
use readlab_roster::server::Status;
use readlab_roster::server::file_version::{Asked, FileVersion};
use readlab_roster::server::request::Request;
use std::io::Write;
use std::ops::Range;
use std::time::Duration;

/// The version of content that nobody asked for.
const OTHER_ETAG: &str = "\"fedcba9876543210fedcba9876543210-1\"";

/// How long a server that falls silent keeps its connection: shorter than a client waits, so that
/// what follows is the end of the connection, and no client's own limit.
const SILENCE: Duration = Duration::from_secs(1);

/// How many bytes come behind those that were promised.
const BYTES_BEHIND: usize = 1 << 20;

/// What goes wrong with the answers for a page.
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
    BytesBehind,
    Encoded,
    /// Another version than asked for, as by a server that does not know `If-Match`.
    OtherVersion,
    /// The same from the second request on.
    ChangedVersion,
    Whole,
    OtherRange,
    ShorterRange,
    WrongContentRange,
    ShorterPart,
    LongerPart,
}

/// What a server has under a URL.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resource<'a> {
    pub content: &'a [u8],
    pub etag: &'a str,
    /// Where redirects lead.
    pub elsewhere: &'a str,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub bytes: Vec<u8>,
    pub end: End,
    /// Whether it is not what the request asked for.
    pub is_wrong: bool,
}

/// What a server does after a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It waits for the next request, unless the client said that this was its last.
    Stays,
    Closes,
    Resets,
    /// It sends nothing for this long, and ends the connection.
    ClosesAfter(Duration),
}

/// An answer, still to be changed by a misbehaviour.
struct Answer {
    status: Status,
    fields: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Misbehaviour {
    /// What a report says of such a server.
    pub(super) fn words(self) -> &'static str {
        match self {
            Misbehaviour::Forbidden => "a server that answers 403",
            Misbehaviour::NotFound => "a server that answers 404",
            Misbehaviour::InternalError => "a server that answers 500",
            Misbehaviour::Busy => "a server that answers 503",
            Misbehaviour::BusyTwice => "a server that answers 503 twice",
            Misbehaviour::Redirect => "a server that redirects",
            Misbehaviour::CutShort => "a server that ends the connection within a body",
            Misbehaviour::Reset => "a server that resets the connection within a body",
            Misbehaviour::ChunksWithoutEnd => "a server that does not end its chunks",
            Misbehaviour::SilentBeforeHead => "a server that is silent",
            Misbehaviour::SilentAfterHead => "a server that is silent after the head",
            Misbehaviour::BytesBehind => "a server that sends more than it promised",
            Misbehaviour::Encoded => "a server that encodes its answer",
            Misbehaviour::OtherVersion => "a server that sends another version",
            Misbehaviour::ChangedVersion => "a server whose version changes after the first request",
            Misbehaviour::Whole => "a server that sends the whole for a range",
            Misbehaviour::OtherRange => "a server that sends another range",
            Misbehaviour::ShorterRange => "a server that sends a shorter range",
            Misbehaviour::WrongContentRange => "a server that says another range than it sends",
            Misbehaviour::ShorterPart => "a server that sends fewer bytes than the range has",
            Misbehaviour::LongerPart => "a server that sends more bytes than the range has",
        }
    }

    /// The reply to a request that has so many others before it, `HEAD` not counted.
    pub(super) fn reply(self, request: &Request, resource: Resource<'_>, earlier: usize) -> Reply {
        let wrong = |answer: Answer| answer.reply(request, true);
        if let Some(answer) = self.refusal(resource, earlier) {
            return wrong(answer);
        }
        // Of a body: some clients begin with a `HEAD`.
        if request.is_head() {
            return right_reply(request, resource);
        }
        let answer = right(request, resource);
        match self {
            _ if !matches!(answer.status, Status::Ok | Status::PartialContent) => {
                answer.reply(request, false)
            }
            Misbehaviour::ChangedVersion if earlier == 0 => answer.reply(request, false),
            Misbehaviour::OtherVersion | Misbehaviour::ChangedVersion => {
                let other = Resource { etag: OTHER_ETAG, ..resource };
                right(&request.clone().without("if-match"), other).reply(request, true)
            }
            Misbehaviour::CutShort | Misbehaviour::Reset => {
                let half = answer.body.len().div_ceil(2);
                let mut reply = wrong(answer);
                reply.bytes.truncate(reply.bytes.len() - half);
                let end = if self == Misbehaviour::Reset { End::Resets } else { End::Closes };
                Reply { end, ..reply }
            }
            Misbehaviour::ChunksWithoutEnd => answer.without_last_chunk(),
            Misbehaviour::SilentBeforeHead => {
                Reply { bytes: Vec::new(), end: End::ClosesAfter(SILENCE), is_wrong: true }
            }
            Misbehaviour::SilentAfterHead => {
                let length = answer.body.len();
                let mut reply = wrong(answer);
                reply.bytes.truncate(reply.bytes.len() - length);
                Reply { end: End::ClosesAfter(SILENCE), ..reply }
            }
            Misbehaviour::BytesBehind => {
                let mut reply = wrong(answer);
                reply.bytes.extend(std::iter::repeat_n(b'\n', BYTES_BEHIND));
                Reply { end: End::Closes, ..reply }
            }
            Misbehaviour::Encoded => wrong(answer.encoded()),
            _ => self.range_reply(answer, request, resource),
        }
    }

    /// The reply whose range goes wrong; a right one where only the answer for a range can.
    fn range_reply(self, answer: Answer, request: &Request, resource: Resource<'_>) -> Reply {
        let (is_range, size) = (answer.status == Status::PartialContent, resource.content.len());
        let wrong = |answer: Answer| answer.reply(request, true);
        match self {
            Misbehaviour::Whole if is_range => {
                right(&request.clone().without("range"), resource).reply(request, true)
            }
            Misbehaviour::OtherRange => wrong(answer.of_range(resource, |range| other(range, size))),
            Misbehaviour::ShorterRange => {
                wrong(answer.of_range(resource, |range| range.start..range.end - 1))
            }
            Misbehaviour::WrongContentRange if is_range => {
                let body = answer.body.clone();
                wrong(Answer { body, ..answer.of_range(resource, |range| other(range, size)) })
            }
            Misbehaviour::ShorterPart if is_range => {
                let body = answer.body[..answer.body.len() - 1].to_vec();
                wrong(Answer { body, ..answer })
            }
            Misbehaviour::LongerPart if is_range => {
                let body = [&answer.body[..], b"\n"].concat();
                wrong(Answer { body, ..answer })
            }
            _ => answer.reply(request, false),
        }
    }

    /// The answer that has no content, if that is what goes wrong.
    fn refusal(self, resource: Resource<'_>, earlier: usize) -> Option<Answer> {
        match self {
            Misbehaviour::Forbidden => Some(error(Status::Forbidden, "AccessDenied")),
            Misbehaviour::NotFound => Some(error(Status::NotFound, "NoSuchKey")),
            Misbehaviour::InternalError => Some(error(Status::InternalServerError, "InternalError")),
            Misbehaviour::Busy => Some(error(Status::Busy, "SlowDown")),
            Misbehaviour::BusyTwice if earlier < 2 => Some(error(Status::Busy, "SlowDown")),
            Misbehaviour::Redirect => Some(Answer {
                fields: vec![("Location", resource.elsewhere.to_owned())],
                ..error(Status::TemporaryRedirect, "TemporaryRedirect")
            }),
            _ => None,
        }
    }
}

/// The reply of a server that is as it should be.
pub(super) fn right_reply(request: &Request, resource: Resource<'_>) -> Reply {
    right(request, resource).reply(request, false)
}

/// An error, as S3 words it; then the connection stays.
pub(super) fn error_reply(request: &Request, status: Status, code: &str) -> Reply {
    error(status, code).reply(request, false)
}

fn right(request: &Request, resource: Resource<'_>) -> Answer {
    if !["GET", "HEAD"].contains(&request.verb.as_str()) {
        return error(Status::MethodNotAllowed, "MethodNotAllowed");
    }
    let Resource { content, etag, .. } = resource;
    let version = FileVersion::with_etag(content.len() as u64, etag);
    let fields = vec![
        ("ETag", etag.to_owned()),
        ("Accept-Ranges", "bytes".to_owned()),
        ("Content-Type", "application/octet-stream".to_owned()),
        ("Last-Modified", version.modified()),
    ];
    match version.asked(request) {
        Asked::Whole => Answer { status: Status::Ok, fields, body: content.to_vec() },
        Asked::Part(part) => Answer { status: Status::PartialContent, fields, body: Vec::new() }
            .of_range(resource, |_| span(&part)),
        Asked::OtherVersion => error(Status::PreconditionFailed, "PreconditionFailed"),
        Asked::IfChanged => Answer { status: Status::NotModified, fields, body: Vec::new() },
        Asked::Nowhere => {
            let mut answer = error(Status::RangeNotSatisfiable, "InvalidRange");
            answer.fields.push(("Content-Range", format!("bytes */{}", content.len())));
            answer
        }
    }
}

/// The range of as many bytes beside one, of all bytes all but the first.
fn other(range: Range<usize>, size: usize) -> Range<usize> {
    match range {
        Range { start, end } if end < size => start + 1..end + 1,
        Range { start: 0, end } => 1..end,
        Range { start, end } => start - 1..end - 1,
    }
}

fn span(part: &Range<u64>) -> Range<usize> {
    let at = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX);
    at(part.start)..at(part.end)
}

fn error(status: Status, code: &str) -> Answer {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{code}</Message></Error>"
    );
    let fields = vec![("Content-Type", "application/xml".to_owned())];
    Answer { status, fields, body: body.into_bytes() }
}

impl Answer {
    /// As the answer for another range: `change` makes it out of the range of this answer, which is
    /// all bytes if it has none.
    fn of_range(self, resource: Resource<'_>, change: impl Fn(Range<usize>) -> Range<usize>) -> Answer {
        let content = resource.content;
        let known = self.range().unwrap_or(0..content.len());
        let Range { start, end } = change(known);
        let (body, total) = (content[start..end].to_vec(), content.len());
        let mut fields: Vec<_> =
            self.fields.into_iter().filter(|(name, _)| *name != "Content-Range").collect();
        fields.push(("Content-Range", format!("bytes {start}-{}/{total}", end.saturating_sub(1))));
        Answer { status: Status::PartialContent, fields, body }
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
        let mut head = format!("HTTP/1.1 {}\r\n", self.status.line());
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
        if !request.is_head() && self.status != Status::NotModified {
            bytes.extend(self.body);
        }
        Reply { bytes, end: End::Stays, is_wrong }
    }

    fn without_last_chunk(self) -> Reply {
        let mut bytes = self.head(None);
        bytes.extend(format!("{:x}\r\n", self.body.len()).into_bytes());
        bytes.extend(self.body);
        bytes.extend(b"\r\n");
        Reply { bytes, end: End::Closes, is_wrong: true }
    }
}

#[cfg(test)]
mod tests;
