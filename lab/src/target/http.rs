//! The lab's own plain HTTP/1.1 client: one request over one connection, no proxy, no redirect, no cache.
//!
//! It reads a URL once for the right answer, and asks around readings whether the URL still gives the same. It shares no
//! code with any contender, and says everything in which an answer breaks its promise: too few bytes, too many, none.

use super::url::Url;
use crate::linux::interrupt;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// How long a server may be silent.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How long one waits behind the last promised byte for the end of the connection, which was asked for.
const FAREWELL: Duration = Duration::from_millis(100);

/// The longest sleep before the wish to stop is looked at again.
const INTERRUPT_CHECK: Duration = Duration::from_millis(200);

/// How long a head may take from its first byte to its end, and so may the line before a chunk, and what comes behind the last one:
/// a server that gives a byte now and then is never silent.
const PART_TIME: Duration = Duration::from_secs(30);

/// The longest head of an answer; so much may come behind the last chunk too.
const HEAD_BYTES_MAX: u64 = 64 << 10;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// The head and the bytes.
    Get,
    /// The head alone.
    Head,
}

/// Asked whenever bytes are waited for; its error ends the waiting.
pub type Check<'a> = &'a dyn Fn() -> io::Result<()>;

/// How asking a server came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Nobody answers at this address.
    #[error("cannot connect: {0}")]
    NotConnected(io::Error),
    /// The connection stands, and nothing comes.
    #[error("no answer within {0:?}")]
    Silent(Duration),
    /// Bytes come, and too slowly.
    #[error("{0} of its answer took longer than {PART_TIME:?}")]
    Slow(&'static str),
    /// The server said something else than 200.
    #[error("the server answers {code}{}", .reason.is_empty().then(String::new).unwrap_or_else(|| format!(" {}", .reason)))]
    Status {
        /// The number.
        code: u16,
        /// The server's words for it.
        reason: String,
    },
    /// The server sends elsewhere.
    #[error(
        "the server answers {code} and sends elsewhere, and redirects are not followed: name {to} instead"
    )]
    Redirect {
        /// The number.
        code: u16,
        /// Where to.
        to: String,
    },
    /// What came is no HTTP/1.
    #[error("not an answer in HTTP/1: {0}")]
    Garbled(&'static str),
    /// The connection ended too early.
    #[error("the connection ended after {got} of {promised} bytes")]
    Cut {
        /// Bytes that came.
        got: u64,
        /// Bytes that were promised.
        promised: u64,
    },
    /// The connection ended in the middle of a chunked body.
    #[error("the connection ended after {got} bytes, before the end of the chunked body")]
    CutChunks {
        /// Bytes that came.
        got: u64,
    },
    /// Bytes came that nobody promised.
    #[error("the server sends more than the {promised} bytes that it promises")]
    TooMany {
        /// Bytes that were promised.
        promised: u64,
    },
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
    /// The connection failed.
    #[error("{0}")]
    Io(io::Error),
}

/// An answer whose head has come.
pub struct Response<'a> {
    fields: Vec<(String, String)>,
    body: Body<'a>,
}

/// The bytes of an answer, as they come.
struct Body<'a> {
    wire: BufReader<Wire<'a>>,
    framing: Framing,
    got: u64,
}

/// How one knows where a body ends.
#[derive(Debug, Clone, Copy)]
enum Framing {
    /// After so many bytes.
    Length(u64),
    /// With a chunk of no bytes; so many bytes of the current one are left.
    Chunked(u64),
    /// With the connection.
    Close,
    /// It has ended.
    Ended,
}

/// A connection that is patient for so long.
struct Wire<'a> {
    stream: TcpStream,
    patience: Duration,
    check: Check<'a>,
    /// The part of the answer that is being read and must end in time, and when it began.
    part: Option<(&'static str, Instant)>,
}

/// Asks for a URL; the answer's head is there and says 200. `check` is asked again while the body is read.
///
/// # Errors
/// If nobody answers in time, or with anything else; or the error of `check`.
pub fn ask<'a>(verb: Verb, url: &Url, check: Check<'a>) -> Result<Response<'a>, HttpError> {
    let stream = connect(url)?;
    stream.set_read_timeout(Some(INTERRUPT_CHECK)).map_err(HttpError::Io)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(HttpError::Io)?;
    let word = if verb == Verb::Get { "GET" } else { "HEAD" };
    let request = format!(
        "{word} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: readlab/{}\r\nAccept: */*\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n",
        url.request(),
        url.authority(),
        env!("CARGO_PKG_VERSION"),
    );
    (&stream).write_all(request.as_bytes()).map_err(HttpError::Io)?;
    let part = Some(("the head", Instant::now()));
    let mut wire = BufReader::new(Wire { stream, patience: PATIENCE, check, part });
    let (code, reason, fields) = head(&mut wire)?;
    wire.get_mut().part = None;
    let field = |name: &str| find(&fields, name);
    match code {
        200 => {}
        300..=399 if field("location").is_some() => {
            return Err(HttpError::Redirect { code, to: field("location").unwrap_or_default().to_owned() });
        }
        _ => return Err(HttpError::Status { code, reason }),
    }
    let framing = framing(&fields)?;
    Ok(Response { fields, body: Body { wire, framing, got: 0 } })
}

fn connect(url: &Url) -> Result<TcpStream, HttpError> {
    let addresses = url.address().to_socket_addrs().map_err(HttpError::NotConnected)?;
    let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(HttpError::NotConnected(last))
}

/// Status, the server's words for it, and the fields of an answer.
type Head = (u16, String, Vec<(String, String)>);

fn head(wire: &mut impl BufRead) -> Result<Head, HttpError> {
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
            return Ok((code, reason, fields));
        }
        let (name, value) =
            line.split_once(':').ok_or(HttpError::Garbled("a line of its head is no field"))?;
        fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

/// The next line without its end.
fn line(wire: &mut impl BufRead) -> Result<String, HttpError> {
    let mut line = Vec::new();
    wire.read_until(b'\n', &mut line).map_err(told)?;
    let line = line.strip_suffix(b"\n").ok_or(HttpError::Garbled("its head has no end"))?;
    Ok(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned())
}

fn find<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
}

/// Chunks go before a length: that is the rule where a server gives both. Where it gives several lengths, all must be the
/// same (RFC 9112, 6.3), and an encoding is given once.
fn framing(fields: &[(String, String)]) -> Result<Framing, HttpError> {
    let all =
        |name: &'static str| fields.iter().filter(move |(found, _)| found == name).map(|(_, value)| value);
    let mut encodings = all("transfer-encoding");
    match (encodings.next(), encodings.next()) {
        (Some(encoding), None) if encoding.eq_ignore_ascii_case("chunked") => return Ok(Framing::Chunked(0)),
        (Some(_), _) => return Err(HttpError::Garbled("a transfer encoding other than chunked")),
        (None, _) => {}
    }
    let mut lengths =
        all("content-length").flat_map(|value| value.split(',')).map(|value| length(value.trim()));
    let Some(first) = lengths.next().transpose()? else { return Ok(Framing::Close) };
    for other in lengths {
        if other? != first {
            return Err(HttpError::Garbled("it has several Content-Lengths that differ"));
        }
    }
    Ok(Framing::Length(first))
}

/// A length in digits and nothing else.
fn length(text: &str) -> Result<u64, HttpError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text);
    let number = digits.and_then(|digits| digits.parse().ok());
    number.ok_or(HttpError::Garbled("its Content-Length is no number"))
}

/// What a failed call says: what this client put into it comes out again.
fn told(error: io::Error) -> HttpError {
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

impl Read for Body<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let room = buffer.len() as u64;
        let most = match self.framing {
            Framing::Ended => return Ok(0),
            Framing::Close => room,
            Framing::Length(promised) if self.got == promised => return self.end_of(promised),
            Framing::Length(promised) => room.min(promised - self.got),
            Framing::Chunked(0) => match self.next_chunk()? {
                0 => return Ok(0),
                left => room.min(left),
            },
            Framing::Chunked(left) => room.min(left),
        };
        let most = usize::try_from(most).unwrap_or(buffer.len());
        let count = self.wire.read(&mut buffer[..most])?;
        self.got += count as u64;
        match &mut self.framing {
            Framing::Length(promised) if count == 0 => {
                Err(io::Error::other(HttpError::Cut { got: self.got, promised: *promised }))
            }
            Framing::Chunked(_) if count == 0 => Err(self.cut_chunks()),
            Framing::Chunked(left) => {
                *left -= count as u64;
                Ok(count)
            }
            _ => Ok(count),
        }
    }
}

impl Body<'_> {
    /// All that was promised is there; whether the server thinks so too.
    fn end_of(&mut self, promised: u64) -> io::Result<usize> {
        self.wire.get_mut().patience = FAREWELL;
        let more = self.wire.fill_buf().is_ok_and(|more| !more.is_empty());
        self.framing = Framing::Ended;
        if more { Err(io::Error::other(HttpError::TooMany { promised })) } else { Ok(0) }
    }

    /// The size of the next chunk; 0 behind the last one.
    fn next_chunk(&mut self) -> io::Result<u64> {
        let mut size = self.chunk_line()?;
        // The end of the line behind the chunk before.
        if size.is_empty() && self.got > 0 {
            size = self.chunk_line()?;
        }
        let digits = size.split(';').next().unwrap_or("").trim();
        let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let left = u64::from_str_radix(digits, 16).ok().filter(|_| is_number);
        let left =
            left.ok_or_else(|| io::Error::other(HttpError::Garbled("the size of a chunk is no number")))?;
        self.framing = Framing::Chunked(left);
        if left == 0 {
            self.trailers()?;
            self.framing = Framing::Ended;
        }
        Ok(left)
    }

    /// What comes behind the last chunk, up to an empty line.
    fn trailers(&mut self) -> io::Result<()> {
        self.wire.get_mut().part = Some(("what comes behind the last chunk", Instant::now()));
        let mut rest = (&mut self.wire).take(HEAD_BYTES_MAX);
        loop {
            match line(&mut rest) {
                Ok(line) if line.is_empty() => break,
                Ok(_) => {}
                Err(HttpError::Garbled(_)) if rest.limit() == 0 => {
                    return Err(io::Error::other(HttpError::Garbled(
                        "what comes behind the last chunk has no end",
                    )));
                }
                Err(HttpError::Garbled(_)) => return Err(self.cut_chunks()),
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        self.wire.get_mut().part = None;
        Ok(())
    }

    fn chunk_line(&mut self) -> io::Result<String> {
        self.wire.get_mut().part = Some(("the line before a chunk", Instant::now()));
        let line = self.next_line();
        self.wire.get_mut().part = None;
        line
    }

    fn next_line(&mut self) -> io::Result<String> {
        match line(&mut (&mut self.wire).take(HEAD_BYTES_MAX)) {
            Err(HttpError::Garbled(_)) => Err(self.cut_chunks()),
            line => line.map_err(io::Error::other),
        }
    }

    fn cut_chunks(&self) -> io::Error {
        io::Error::other(HttpError::CutChunks { got: self.got })
    }
}

impl Read for Wire<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let deadline = Instant::now() + self.patience;
        loop {
            if interrupt::requested() {
                return Err(io::Error::other(HttpError::Interrupted));
            }
            (self.check)()?;
            if let Some((part, begun)) = self.part
                && begun.elapsed() > PART_TIME
            {
                return Err(io::Error::other(HttpError::Slow(part)));
            }
            match self.stream.read(buffer) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if Instant::now() >= deadline {
                        return Err(io::Error::other(HttpError::Silent(self.patience)));
                    }
                }
                // Not handed on: whoever reads would only ask again, and the wish to stop is looked at here.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}
