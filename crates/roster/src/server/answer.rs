//! Responses of the loopback server, and how they are sent.
//!
//! The bytes of the file are copied through a buffer with read(2) and write(2), not sent with
//! sendfile(2). After sendfile(2) the network stack may still hold pages of the page cache when the
//! last byte has arrived, and a file with such pages cannot be made cold.

use super::file_version::http_time_text;
use jiff::Timestamp;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Size of the buffer: large enough to make system calls cheap, and small enough to stay in a
/// processor's cache.
const PIECE_BYTES: usize = 256 << 10;

/// The media type of the file, and of each of its parts.
pub(super) const CONTENT_TYPE: &str = "application/octet-stream";

/// A response before it is sent.
#[derive(Debug)]
pub(super) struct Answer {
    status: HttpStatus,
    fields: Vec<(&'static str, String)>,
    body: AnswerBody,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpStatus {
    Ok,
    PartialContent,
    NotModified,
    TemporaryRedirect,
    BadRequest,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    PreconditionFailed,
    RangeNotSatisfiable,
    InternalServerError,
    NotImplemented,
    Busy,
}

/// The part of a response after the head.
#[derive(Debug)]
enum AnswerBody {
    Text(String),
    Parts {
        file: File,
        parts: Vec<BodyPart>,
        /// Text after the last part.
        end: String,
    },
}

/// A part of the file in a response.
#[derive(Debug)]
struct BodyPart {
    /// Text before the bytes; empty if the response has one part only.
    head: String,
    range: Range<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Delivery {
    /// True if only the head is sent, without the body.
    pub(super) is_head_only: bool,
    /// True if the connection ends after this response.
    pub(super) is_last: bool,
}

/// Sends responses to one client; the buffer is allocated for the first response.
#[derive(Debug)]
pub(super) struct Sender<'a> {
    stream: &'a TcpStream,
    piece: Vec<u8>,
    /// Number of bytes at the start of `piece` that are not sent yet.
    filled_bytes: usize,
}

impl HttpStatus {
    pub fn code_and_reason(self) -> &'static str {
        match self {
            HttpStatus::Ok => "200 OK",
            HttpStatus::PartialContent => "206 Partial Content",
            HttpStatus::NotModified => "304 Not Modified",
            HttpStatus::TemporaryRedirect => "307 Temporary Redirect",
            HttpStatus::BadRequest => "400 Bad Request",
            HttpStatus::Forbidden => "403 Forbidden",
            HttpStatus::NotFound => "404 Not Found",
            HttpStatus::MethodNotAllowed => "405 Method Not Allowed",
            HttpStatus::PreconditionFailed => "412 Precondition Failed",
            HttpStatus::RangeNotSatisfiable => "416 Range Not Satisfiable",
            HttpStatus::InternalServerError => "500 Internal Server Error",
            HttpStatus::NotImplemented => "501 Not Implemented",
            HttpStatus::Busy => "503 Service Unavailable",
        }
    }
}

impl Answer {
    pub(super) fn empty(status: HttpStatus) -> Answer {
        Answer::text(status, String::new())
    }

    pub(super) fn text(status: HttpStatus, text: String) -> Answer {
        Answer { status, fields: Vec::new(), body: AnswerBody::Text(text) }
    }

    pub(super) fn part(status: HttpStatus, file: File, part: Range<u64>) -> Answer {
        let parts = vec![BodyPart { head: String::new(), range: part }];
        Answer { status, fields: Vec::new(), body: AnswerBody::Parts { file, parts, end: String::new() } }
    }

    /// Several ranges of a file of this size, in parts that the boundary separates (RFC 9110,
    /// 14.6).
    pub(super) fn multipart(file: File, ranges: Vec<Range<u64>>, size_bytes: u64, boundary: &str) -> Answer {
        let part = |range: Range<u64>| {
            let words = content_range(&range, size_bytes);
            let fields = format!("Content-Type: {CONTENT_TYPE}\r\nContent-Range: {words}\r\n");
            BodyPart { head: format!("\r\n--{boundary}\r\n{fields}\r\n"), range }
        };
        let parts = ranges.into_iter().map(part).collect();
        let body = AnswerBody::Parts { file, parts, end: format!("\r\n--{boundary}--\r\n") };
        Answer { status: HttpStatus::PartialContent, fields: Vec::new(), body }
    }

    pub(super) fn with_field(mut self, name: &'static str, value: impl Into<String>) -> Answer {
        self.fields.push((name, value.into()));
        self
    }

    fn head(&self, is_last: bool) -> String {
        let mut head = format!(
            "HTTP/1.1 {}\r\nDate: {}\r\n",
            self.status.code_and_reason(),
            http_time_text(Timestamp::now())
        );
        // A response with this status has no body, and a length would describe the content.
        if self.status != HttpStatus::NotModified {
            write!(head, "Content-Length: {}\r\n", self.body.length_bytes())
                .expect("a String takes everything");
        }
        for (name, value) in &self.fields {
            write!(head, "{name}: {value}\r\n").expect("a String takes everything");
        }
        head + if is_last { "Connection: close\r\n\r\n" } else { "\r\n" }
    }
}

impl AnswerBody {
    fn length_bytes(&self) -> u64 {
        match self {
            AnswerBody::Text(text) => text.len() as u64,
            AnswerBody::Parts { parts, end, .. } => {
                let of_part = |part: &BodyPart| part.head.len() as u64 + part.range.end - part.range.start;
                parts.iter().map(of_part).sum::<u64>() + end.len() as u64
            }
        }
    }
}

/// The value of `Content-Range` for a range of a file of this size.
pub(super) fn content_range(range: &Range<u64>, size_bytes: u64) -> String {
    format!("bytes {}-{}/{size_bytes}", range.start, range.end - 1)
}

impl<'a> Sender<'a> {
    pub(super) fn new(stream: &'a TcpStream) -> Sender<'a> {
        Sender { stream, piece: Vec::new(), filled_bytes: 0 }
    }

    pub(super) fn send(&mut self, answer: Answer, how: Delivery) -> io::Result<()> {
        let head = answer.head(how.is_last);
        match answer.body {
            AnswerBody::Parts { file, parts, end } if !how.is_head_only => {
                self.send_parts(&head, &file, &parts, &end)
            }
            AnswerBody::Text(text) if !how.is_head_only => self.stream.write_all((head + &text).as_bytes()),
            _ => self.stream.write_all(head.as_bytes()),
        }
    }

    /// Sends the head together with the first bytes. If the file became shorter, the connection
    /// ends early, which the client notices.
    fn send_parts(&mut self, head: &str, file: &File, parts: &[BodyPart], end: &str) -> io::Result<()> {
        self.piece.resize(PIECE_BYTES, 0);
        self.filled_bytes = 0;
        self.add_text(head)?;
        for part in parts {
            self.add_text(&part.head)?;
            self.add_range(file, part.range.clone())?;
        }
        self.add_text(end)?;
        self.send_piece()
    }

    /// Adds a text, which must be shorter than a piece.
    fn add_text(&mut self, text: &str) -> io::Result<()> {
        if self.filled_bytes + text.len() > PIECE_BYTES {
            self.send_piece()?;
        }
        self.piece[self.filled_bytes..][..text.len()].copy_from_slice(text.as_bytes());
        self.filled_bytes += text.len();
        Ok(())
    }

    /// Adds the bytes of a range, and sends each piece that is full.
    fn add_range(&mut self, file: &File, mut range: Range<u64>) -> io::Result<()> {
        while !range.is_empty() {
            if self.filled_bytes == PIECE_BYTES {
                self.send_piece()?;
            }
            let room = &mut self.piece[self.filled_bytes..];
            let left = range.end - range.start;
            let wanted = usize::try_from(left).map_or(room.len(), |left| left.min(room.len()));
            let count = read_at(file, &mut room[..wanted], range.start)?;
            if count == 0 {
                self.send_piece()?;
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.filled_bytes += count;
            range.start += count as u64;
        }
        Ok(())
    }

    fn send_piece(&mut self) -> io::Result<()> {
        let filled = std::mem::take(&mut self.filled_bytes);
        self.stream.write_all(&self.piece[..filled])
    }
}

/// Reads once; if a signal interrupts the call, the call is repeated.
fn read_at(file: &File, piece: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match file.read_at(piece, offset) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::connected_streams;
    use super::*;
    use std::io::{Read, Seek};

    /// Sends a response to a client; returns what the client received, and whether sending succeeded.
    fn send_to_client(answer: Answer, how: Delivery) -> (String, bool) {
        let (mut client, server) = connected_streams();
        let thread = std::thread::spawn(move || Sender::new(&server).send(answer, how).is_ok());
        let mut got = Vec::new();
        client.read_to_end(&mut got).unwrap();
        (String::from_utf8(got).unwrap(), thread.join().unwrap())
    }

    fn file_with(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

    const KEEP_OPEN: Delivery = Delivery { is_head_only: false, is_last: false };

    #[test]
    fn a_part_of_any_length_is_sent_whole() {
        let bytes: Vec<u8> = (0..3 * PIECE_BYTES).map(|at| b'a' + (at % 23) as u8).collect();
        let end = bytes.len() as u64;
        let near = PIECE_BYTES as u64;
        for part in [0..0, 0..1, 5..6, 0..near, 7..near + 7, near - 200..near + 1, 0..end, end - 1..end] {
            let (text, is_whole) =
                send_to_client(Answer::part(HttpStatus::Ok, file_with(&bytes), part.clone()), KEEP_OPEN);
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("Content-Length: {}", part.end - part.start)), "{head}");
            let expected = &bytes[part.start as usize..part.end as usize];
            assert!(is_whole && body.as_bytes() == expected, "{part:?}");
        }
    }

    #[test]
    fn several_parts_are_sent_with_their_ranges() {
        let bytes: Vec<u8> = (0..2 * PIECE_BYTES).map(|at| b'a' + (at % 23) as u8).collect();
        let end = bytes.len() as u64;
        let ranges = vec![end - 1..end, 0..1, 5..PIECE_BYTES as u64 + 7];
        let answer = Answer::multipart(file_with(&bytes), ranges.clone(), end, "B");
        let (text, is_whole) = send_to_client(answer, KEEP_OPEN);
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let part = |range: &Range<u64>| {
            let bytes = std::str::from_utf8(&bytes[range.start as usize..range.end as usize]).unwrap();
            let (first, last) = (range.start, range.end - 1);
            let kind = "Content-Type: application/octet-stream";
            format!("\r\n--B\r\n{kind}\r\nContent-Range: bytes {first}-{last}/{end}\r\n\r\n{bytes}")
        };
        let expected = ranges.iter().map(part).collect::<String>() + "\r\n--B--\r\n";
        assert!(head.ends_with(&format!("\r\nContent-Length: {}", expected.len())), "{head}");
        assert!(is_whole && body == expected);
    }

    #[test]
    fn a_file_that_became_shorter_ends_the_connection() {
        let (text, is_whole) =
            send_to_client(Answer::part(HttpStatus::Ok, file_with(b"short"), 0..9), KEEP_OPEN);
        assert!(text.contains("Content-Length: 9") && text.ends_with("short") && !is_whole);
    }

    #[test]
    fn a_head_response_equals_the_full_response_without_its_body() {
        let head = Delivery { is_head_only: true, is_last: true };
        let (text, _) = send_to_client(Answer::part(HttpStatus::Ok, file_with(b"content"), 0..7), head);
        assert!(
            text.contains("Content-Length: 7\r\n") && text.ends_with("Connection: close\r\n\r\n"),
            "{text}"
        );
        let (text, _) = send_to_client(Answer::text(HttpStatus::NotFound, "reason".to_owned()), head);
        assert!(text.starts_with("HTTP/1.1 404 Not Found\r\n") && !text.contains("reason"), "{text}");
    }

    #[test]
    fn only_the_last_response_announces_the_end_of_the_connection() {
        let (text, _) =
            send_to_client(Answer::empty(HttpStatus::NotModified).with_field("ETag", "x"), KEEP_OPEN);
        assert!(
            !text.contains("Connection") && !text.contains("Length") && text.ends_with("ETag: x\r\n\r\n")
        );
    }
}
