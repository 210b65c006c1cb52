//! The lab's own plain HTTP/1.1 client: one request over one connection, no proxy, no redirect, no
//! cache.
//!
//! It reads a URL once for the right answer, and checks around readings whether the content has
//! changed. It shares no code with any contender, and reports every answer that has fewer or more
//! bytes than its head says.

mod body;

use super::url::Url;
use body::{Body, PART_TIME_MAX, TimedPart, Wire, framing};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long a server may be silent.
pub const SILENCE_MAX: Duration = Duration::from_secs(10);

/// The longest wait before the client checks again whether the user wants to stop.
const INTERRUPT_CHECK: Duration = Duration::from_millis(200);

/// The longest head of an answer; the trailers may be as long.
const HEAD_BYTES_MAX: u64 = 64 << 10;

/// The kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestVerb {
    /// For head and body.
    Get,
    /// For the head alone.
    Head,
}

/// Called whenever the client waits for bytes; its error ends the wait.
pub type WaitCheck<'a> = &'a dyn Fn() -> io::Result<()>;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Nothing accepts connections at this address.
    #[error("cannot connect: {0}")]
    NotConnected(io::Error),
    /// The connection is open, and no bytes arrive.
    #[error("no answer within {0:?}")]
    Silent(Duration),
    /// Bytes arrive too slowly.
    #[error("{0} of its answer took longer than {PART_TIME_MAX:?}")]
    Slow(&'static str),
    /// The server answered with another status than 200.
    #[error("the server answers {code}{}", .reason.is_empty().then(String::new).unwrap_or_else(|| format!(" {}", .reason)))]
    Status {
        /// The status.
        code: u16,
        /// The server's reason.
        reason: String,
    },
    /// The server redirects to another URL.
    #[error("the server answers {code} with a redirect, which is not followed: name {to} instead")]
    Redirect {
        /// The status.
        code: u16,
        /// The other URL.
        to: String,
    },
    /// The answer is no HTTP/1.
    #[error("not an answer in HTTP/1: {0}")]
    Garbled(&'static str),
    /// The connection ended before the end of the body.
    #[error("the connection ended after {got} of {promised} bytes")]
    Cut {
        /// Bytes that arrived.
        got: u64,
        /// The length by the head.
        promised: u64,
    },
    /// The connection ended in the middle of a chunked body.
    #[error("the connection ended after {got} bytes, before the end of the chunked body")]
    CutChunks {
        /// Bytes that arrived.
        got: u64,
    },
    /// More bytes arrived than the head says.
    #[error("the server sends more than the {promised} bytes that it promises")]
    TooMany {
        /// The length by the head.
        promised: u64,
    },
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
    /// The connection failed.
    #[error("{0}")]
    Io(io::Error),
}

/// An answer, of which the head has arrived.
pub struct Response<'a> {
    fields: Vec<(String, String)>,
    body: Body<'a>,
}

/// The head of an answer.
struct ResponseHead {
    code: u16,
    /// The server's words for the status.
    reason: String,
    fields: Vec<(String, String)>,
}

/// Requests a URL and reads the head, with the status 200. `check` is called again while the body
/// is read.
///
/// # Errors
/// If there is no answer in time, or another one; or the error of `check`.
pub fn ask<'a>(verb: RequestVerb, url: &Url, check: WaitCheck<'a>) -> Result<Response<'a>, HttpError> {
    let stream = connect(url)?;
    stream.set_read_timeout(Some(INTERRUPT_CHECK)).map_err(HttpError::Io)?;
    stream.set_write_timeout(Some(SILENCE_MAX)).map_err(HttpError::Io)?;
    let word = if verb == RequestVerb::Get { "GET" } else { "HEAD" };
    let request = format!(
        "{word} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: readlab/{}\r\nAccept: */*\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n",
        url.request(),
        url.authority(),
        env!("CARGO_PKG_VERSION"),
    );
    (&stream).write_all(request.as_bytes()).map_err(HttpError::Io)?;
    let part = Some(TimedPart::begin("the head"));
    let mut wire = BufReader::new(Wire { stream, silence_max: SILENCE_MAX, check, part });
    let head = read_head(&mut wire)?;
    wire.get_mut().part = None;
    let fields = head.accepted()?;
    let framing = framing(&fields)?;
    Ok(Response { fields, body: Body { wire, framing, got: 0 } })
}

impl ResponseHead {
    /// The fields of an answer with the status 200.
    fn accepted(self) -> Result<Vec<(String, String)>, HttpError> {
        match (self.code, find(&self.fields, "location")) {
            (200, _) => Ok(self.fields),
            (code @ 300..=399, Some(to)) => Err(HttpError::Redirect { code, to: to.to_owned() }),
            (code, _) => Err(HttpError::Status { code, reason: self.reason }),
        }
    }
}

fn connect(url: &Url) -> Result<TcpStream, HttpError> {
    let addresses = url.address().to_socket_addrs().map_err(HttpError::NotConnected)?;
    let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpStream::connect_timeout(&address, SILENCE_MAX) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(HttpError::NotConnected(last))
}

fn read_head(wire: &mut impl BufRead) -> Result<ResponseHead, HttpError> {
    let mut wire = wire.take(HEAD_BYTES_MAX);
    let status = line(&mut wire)?;
    let mut words = status.splitn(3, ' ');
    let version = words.next().is_some_and(|word| word.starts_with("HTTP/1."));
    let code = words.next().and_then(|code| code.parse().ok()).filter(|_| version);
    let code = code.ok_or(HttpError::Garbled("its first line is no status"))?;
    let reason = words.next().unwrap_or("").trim().to_owned();
    let mut fields = Vec::new();
    loop {
        let line = line(&mut wire)?;
        if line.is_empty() {
            return Ok(ResponseHead { code, reason, fields });
        }
        let (name, value) =
            line.split_once(':').ok_or(HttpError::Garbled("a line of its head is no field"))?;
        fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

/// The next line without its end.
fn line(wire: &mut impl BufRead) -> Result<String, HttpError> {
    let mut line = Vec::new();
    wire.read_until(b'\n', &mut line).map_err(http_error)?;
    let line = line.strip_suffix(b"\n").ok_or(HttpError::Garbled("its head has no end"))?;
    Ok(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned())
}

fn find<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
}

/// The error of a failed read: the one that this client put into it, or the system's.
fn http_error(error: io::Error) -> HttpError {
    match error.downcast::<HttpError>() {
        Ok(error) => error,
        Err(error) => HttpError::Io(error),
    }
}

impl Response<'_> {
    /// A field of the head.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        find(&self.fields, name)
    }
}

impl Read for Response<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.body.read(buffer)
    }
}
