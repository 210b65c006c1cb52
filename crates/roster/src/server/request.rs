//! The heads of requests that arrive over one connection; there are several if the client keeps the
//! connection open. Bodies are never read.

use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub(super) const HEAD_BYTES_MAX: usize = 16 << 10;

/// Largest number of header fields of a request.
const FIELDS_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The verb as it was sent; verbs are in upper case.
    pub verb: String,
    /// The path without the query; percent-encoded.
    pub path: String,
    /// The query without the question mark; percent-encoded.
    pub query: String,
    /// The header fields, with names in lower case.
    pub fields: Vec<(String, String)>,
    is_http_1_0: bool,
}

#[derive(Debug)]
pub(super) struct Requests<'a> {
    stream: &'a TcpStream,
    /// Received bytes that do not belong to a request yet.
    unread: Vec<u8>,
}

/// How long to wait until the first byte of a request arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IdleTimeout {
    /// The time limit for the whole head, because the client has not shown that it may read the
    /// file.
    Stranger,
    /// Without limit, because the client has shown that it may read the file.
    Reader,
}

impl Request {
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Sets or replaces the range.
    pub(super) fn with_range(self, range: &str) -> Request {
        let mut request = self.without_field("range");
        request.fields.push(("range".to_owned(), range.to_owned()));
        request
    }

    pub fn without_field(mut self, name: &str) -> Request {
        self.fields.retain(|(known, _)| known != name);
        self
    }

    /// True if a body follows, or the client asks whether it may send a body.
    pub fn has_body(&self) -> bool {
        let length = self.field("content-length").is_some_and(|length| length.trim() != "0");
        length || self.field("transfer-encoding").is_some() || self.field("expect").is_some()
    }

    /// True if the connection ends after the response.
    pub fn ends_connection(&self) -> bool {
        let of_connection = self.fields.iter().filter(|(name, _)| name == "connection");
        let mut words = of_connection.flat_map(|(_, value)| value.split(','));
        self.is_http_1_0 || words.any(|word| word.trim().eq_ignore_ascii_case("close"))
    }

    pub fn is_head(&self) -> bool {
        self.verb == "HEAD"
    }
}

impl<'a> Requests<'a> {
    pub(super) fn new(stream: &'a TcpStream) -> Requests<'a> {
        Requests { stream, unread: Vec::new() }
    }

    /// Reads the next request; `None` at the end of the connection. The complete head must arrive
    /// within `timeout`.
    pub(super) fn next(
        &mut self,
        timeout: Duration,
        idle_timeout: IdleTimeout,
    ) -> io::Result<Option<Request>> {
        if self.unread.is_empty() && idle_timeout == IdleTimeout::Reader {
            self.stream.set_read_timeout(None)?;
            if !read_more(&mut self.stream, &mut self.unread)? {
                return Ok(None);
            }
        }
        let deadline = Instant::now() + timeout;
        loop {
            if let Some((request, length)) = parse_request(&self.unread)? {
                self.unread.drain(..length);
                return Ok(Some(request));
            }
            if self.unread.len() >= HEAD_BYTES_MAX {
                return Err(ErrorKind::InvalidData.into());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
            if !read_more(&mut self.stream, &mut self.unread)? {
                return if self.unread.is_empty() { Ok(None) } else { Err(ErrorKind::UnexpectedEof.into()) };
            }
        }
    }
}

/// Appends received bytes to `unread`; `false` at the end of the connection.
pub fn read_more(stream: &mut impl Read, unread: &mut Vec<u8>) -> io::Result<bool> {
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(count) => {
                unread.extend_from_slice(&piece[..count]);
                return Ok(count > 0);
            }
        }
    }
}

/// Parses the request at the start of these bytes; also returns the length of its head. `None` if
/// the head is incomplete.
pub fn parse_request(bytes: &[u8]) -> io::Result<Option<(Request, usize)>> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Request::new(&mut fields);
    let status = head.parse(bytes).map_err(|_| io::Error::from(ErrorKind::InvalidData))?;
    let httparse::Status::Complete(length) = status else { return Ok(None) };
    let target = head.path.unwrap_or("");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let field = |field: &httparse::Header<'_>| {
        (field.name.to_ascii_lowercase(), String::from_utf8_lossy(field.value).into_owned())
    };
    let request = Request {
        verb: head.method.unwrap_or("").to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        fields: head.headers.iter().map(field).collect(),
        is_http_1_0: head.version != Some(1),
    };
    Ok(Some((request, length)))
}

#[cfg(test)]
impl Request {
    pub fn from_text(text: &str) -> Request {
        parse_request(text.as_bytes()).unwrap().unwrap().0
    }
}

#[cfg(test)]
mod tests {
    use super::super::connected_streams;
    use super::*;
    use std::io::Write;
    use std::net::Shutdown;

    const TIMEOUT: Duration = Duration::from_secs(20);

    #[test]
    fn pipelined_requests_are_parsed_one_by_one() {
        let (mut client, server) = connected_streams();
        client
            .write_all(b"GET /a?b=c HTTP/1.1\r\nHost:  x \r\nRANGE: r\r\n\r\nHEAD /d HTTP/1.1\r\n\r\nGET")
            .unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut requests = Requests::new(&server);
        let first = requests.next(TIMEOUT, IdleTimeout::Stranger).unwrap().unwrap();
        assert_eq!((first.verb.as_str(), first.path.as_str(), first.query.as_str()), ("GET", "/a", "b=c"));
        assert_eq!(
            (first.field("host"), first.field("range"), first.field("x")),
            (Some("x"), Some("r"), None)
        );
        let second = requests.next(TIMEOUT, IdleTimeout::Reader).unwrap().unwrap();
        assert!(second.is_head() && second.query.is_empty());
        let rest = requests.next(TIMEOUT, IdleTimeout::Reader).unwrap_err();
        assert_eq!(rest.kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_connection_may_end_between_requests() {
        for idle_timeout in [IdleTimeout::Stranger, IdleTimeout::Reader] {
            let (client, server) = connected_streams();
            drop(client);
            assert_eq!(Requests::new(&server).next(TIMEOUT, idle_timeout).unwrap(), None);
        }
    }

    #[test]
    fn an_invalid_or_too_long_head_is_an_error() {
        let long = format!("GET / HTTP/1.1\r\nA: {}", "x".repeat(2 * HEAD_BYTES_MAX));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(FIELDS_MAX + 1));
        for text in [long.as_str(), &many, "GET\r\n\r\n", "\0\0\0\0", "GET / HTTP/2.0\r\n\r\n"] {
            let (mut client, server) = connected_streams();
            client.write_all(text.as_bytes()).unwrap();
            assert!(Requests::new(&server).next(TIMEOUT, IdleTimeout::Stranger).is_err(), "{text}");
        }
    }

    #[test]
    fn a_slow_head_has_the_same_time_limit_as_a_missing_one() {
        let (mut client, server) = connected_streams();
        std::thread::spawn(move || {
            // The loop ends when the other end is closed, after the server gave up the request.
            while client.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        assert!(Requests::new(&server).next(Duration::from_millis(100), IdleTimeout::Reader).is_err());
    }

    #[test]
    fn the_client_decides_whether_the_connection_ends() {
        let is_last = |line: &str, field: &str| {
            Request::from_text(&format!("{line}\r\n{field}\r\n\r\n")).ends_connection()
        };
        assert!(!is_last("GET / HTTP/1.1", "Connection: keep-alive"));
        assert!(is_last("GET / HTTP/1.1", "connection: a, Close"));
        assert!(is_last("GET / HTTP/1.0", "A: b"));
    }

    #[test]
    fn a_body_is_detected_from_the_head() {
        let has_body =
            |field: &str| Request::from_text(&format!("GET / HTTP/1.1\r\n{field}\r\n\r\n")).has_body();
        assert!(!has_body("Content-Length: 0") && !has_body("A: b"));
        assert!(has_body("Content-Length: 1") && has_body("Transfer-Encoding: chunked"));
        assert!(has_body("Expect: 100-continue") && has_body("Content-Length: x"));
    }
}
