//! The heads of requests as they arrive over one connection, several of them if the client keeps
//! it. A body is never read.

use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest head.
pub(super) const HEAD_BYTES_MAX: usize = 16 << 10;

/// The most fields of a head.
const FIELDS_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// As it was sent: verbs are in capital letters.
    pub verb: String,
    /// Without the query; percent-encoded.
    pub path: String,
    /// Without the question mark; percent-encoded.
    pub query: String,
    /// With their names in small letters.
    pub fields: Vec<(String, String)>,
    /// Whether the client is of HTTP/1.0.
    is_old: bool,
}

#[derive(Debug)]
pub(super) struct Requests<'a> {
    stream: &'a TcpStream,
    /// What arrived and is of no request yet.
    unread: Vec<u8>,
}

/// How long the first byte of a request may be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IdleTimeout {
    /// As long as its head.
    Stranger,
    /// For ever: the client has shown that it may read the file.
    Reader,
}

impl Request {
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// With another range, or one at all.
    pub(super) fn with_range(self, range: &str) -> Request {
        let mut request = self.without("range");
        request.fields.push(("range".to_owned(), range.to_owned()));
        request
    }

    pub fn without(mut self, name: &str) -> Request {
        self.fields.retain(|(known, _)| known != name);
        self
    }

    /// Whether a body follows, or the client asks whether it may send one.
    pub fn has_body(&self) -> bool {
        let length = self.field("content-length").is_some_and(|length| length.trim() != "0");
        length || self.field("transfer-encoding").is_some() || self.field("expect").is_some()
    }

    /// Whether the connection ends with the answer.
    pub fn is_last(&self) -> bool {
        let of_connection = self.fields.iter().filter(|(name, _)| name == "connection");
        let mut words = of_connection.flat_map(|(_, value)| value.split(','));
        self.is_old || words.any(|word| word.trim().eq_ignore_ascii_case("close"))
    }

    pub fn is_head(&self) -> bool {
        self.verb == "HEAD"
    }
}

impl<'a> Requests<'a> {
    pub(super) fn new(stream: &'a TcpStream) -> Requests<'a> {
        Requests { stream, unread: Vec::new() }
    }

    /// The next request; `None` at the end of the connection. The whole head must arrive within
    /// `timeout`.
    pub(super) fn next(&mut self, timeout: Duration, patience: IdleTimeout) -> io::Result<Option<Request>> {
        if self.unread.is_empty() && patience == IdleTimeout::Reader {
            self.stream.set_read_timeout(None)?;
            if !read_more(&mut self.stream, &mut self.unread)? {
                return Ok(None);
            }
        }
        let deadline = Instant::now() + timeout;
        loop {
            if let Some((request, length)) = parsed(&self.unread)? {
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

/// Adds bytes that arrive to those that are of no request yet; `false` at the end of the connection.
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

/// The request at the start of these bytes with the length of its head; `None` if its end has not
/// arrived.
pub fn parsed(bytes: &[u8]) -> io::Result<Option<(Request, usize)>> {
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
        is_old: head.version != Some(1),
    };
    Ok(Some((request, length)))
}

#[cfg(test)]
impl Request {
    pub fn of_text(text: &str) -> Request {
        parsed(text.as_bytes()).unwrap().unwrap().0
    }
}

#[cfg(test)]
mod tests {
    use super::super::connected;
    use super::*;
    use std::io::Write;
    use std::net::Shutdown;

    const TIMEOUT: Duration = Duration::from_secs(20);

    #[test]
    fn requests_that_come_together_are_read_one_by_one() {
        let (mut client, server) = connected();
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
        for patience in [IdleTimeout::Stranger, IdleTimeout::Reader] {
            let (client, server) = connected();
            drop(client);
            assert_eq!(Requests::new(&server).next(TIMEOUT, patience).unwrap(), None);
        }
    }

    #[test]
    fn a_head_that_is_none_or_too_long_is_an_error() {
        let long = format!("GET / HTTP/1.1\r\nA: {}", "x".repeat(2 * HEAD_BYTES_MAX));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(FIELDS_MAX + 1));
        for text in [long.as_str(), &many, "GET\r\n\r\n", "\0\0\0\0", "GET / HTTP/2.0\r\n\r\n"] {
            let (mut client, server) = connected();
            client.write_all(text.as_bytes()).unwrap();
            assert!(Requests::new(&server).next(TIMEOUT, IdleTimeout::Stranger).is_err(), "{text}");
        }
    }

    #[test]
    fn a_head_that_comes_byte_by_byte_has_no_more_time_than_one_that_never_comes() {
        let (mut client, server) = connected();
        std::thread::spawn(move || {
            // Ends when the other end is closed, which is when the request was given up.
            while client.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        assert!(Requests::new(&server).next(Duration::from_millis(100), IdleTimeout::Reader).is_err());
    }

    #[test]
    fn the_end_of_the_connection_is_as_the_client_says() {
        let is_last =
            |line: &str, field: &str| Request::of_text(&format!("{line}\r\n{field}\r\n\r\n")).is_last();
        assert!(!is_last("GET / HTTP/1.1", "Connection: keep-alive"));
        assert!(is_last("GET / HTTP/1.1", "connection: a, Close"));
        assert!(is_last("GET / HTTP/1.0", "A: b"));
    }

    #[test]
    fn a_body_is_seen_by_its_head() {
        let has_body =
            |field: &str| Request::of_text(&format!("GET / HTTP/1.1\r\n{field}\r\n\r\n")).has_body();
        assert!(!has_body("Content-Length: 0") && !has_body("A: b"));
        assert!(has_body("Content-Length: 1") && has_body("Transfer-Encoding: chunked"));
        assert!(has_body("Expect: 100-continue") && has_body("Content-Length: x"));
    }
}
