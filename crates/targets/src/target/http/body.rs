//! The body of a response: where it ends, and whether it arrived completely.

use super::connection::{Connection, TimedPart};
use super::{HEAD_BYTES_MAX, HttpError, read_line};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::time::Duration;

/// How long the client waits after the last byte for the server to close the connection.
const CLOSE_WAIT_MAX: Duration = Duration::from_millis(100);

pub(super) struct Body<'a> {
    pub(super) connection: BufReader<Connection<'a>>,
    pub(super) framing: Framing,
    pub(super) received_bytes: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Framing {
    /// The body has this many bytes.
    Length(u64),
    /// The body ends with an empty chunk; this many bytes of the current chunk remain.
    Chunked(u64),
    /// The body ends with the connection.
    Close,
    /// The whole body has been read.
    Ended,
}

/// Determines from the header fields how the end of the body is found. If a server sends chunks and
/// a length, chunks take precedence. Several lengths must be equal (RFC 9112, 6.3), and there may
/// be only one encoding.
pub(super) fn parse_framing(fields: &[(String, String)]) -> Result<Framing, HttpError> {
    let all =
        |name: &'static str| fields.iter().filter(move |(found, _)| found == name).map(|(_, value)| value);
    let mut encodings = all("transfer-encoding");
    match (encodings.next(), encodings.next()) {
        (Some(encoding), None) if encoding.eq_ignore_ascii_case("chunked") => return Ok(Framing::Chunked(0)),
        (Some(_), _) => return Err(HttpError::Garbled("a transfer encoding other than chunked")),
        (None, _) => {}
    }
    let mut lengths =
        all("content-length").flat_map(|value| value.split(',')).map(|value| parse_length(value.trim()));
    let Some(first) = lengths.next().transpose()? else { return Ok(Framing::Close) };
    for other in lengths {
        if other? != first {
            return Err(HttpError::Garbled("it has several Content-Lengths that differ"));
        }
    }
    Ok(Framing::Length(first))
}

/// Parses a length that consists of digits only.
fn parse_length(text: &str) -> Result<u64, HttpError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text);
    let number = digits.and_then(|digits| digits.parse().ok());
    number.ok_or(HttpError::Garbled("its Content-Length is no number"))
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
            Framing::Length(promised) if self.received_bytes == promised => {
                return self.refuse_bytes_beyond_length(promised);
            }
            Framing::Length(promised) => room.min(promised - self.received_bytes),
            Framing::Chunked(0) => match self.read_chunk_size()? {
                0 => return Ok(0),
                left => room.min(left),
            },
            Framing::Chunked(left) => room.min(left),
        };
        let most = usize::try_from(most).unwrap_or(buffer.len());
        let count = self.read_wire(&mut buffer[..most])?;
        self.received_bytes += count as u64;
        match &mut self.framing {
            Framing::Length(promised) if count == 0 => {
                Err(io::Error::other(HttpError::Cut { got: self.received_bytes, promised: *promised }))
            }
            Framing::Chunked(_) if count == 0 => Err(self.cut_chunks_error()),
            Framing::Chunked(left) => {
                *left -= count as u64;
                Ok(count)
            }
            _ => Ok(count),
        }
    }
}

impl Body<'_> {
    /// Reads from the connection; 0 at its end. If the end of the connection is also the end of the
    /// body, TLS must announce it, because otherwise an attacker may have cut the connection.
    fn read_wire(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match (self.connection.read(buffer), self.framing) {
            (Err(error), Framing::Close) if error.kind() == ErrorKind::UnexpectedEof => {
                Err(io::Error::other(HttpError::CutEncrypted { got: self.received_bytes }))
            }
            (Err(error), _) if error.kind() == ErrorKind::UnexpectedEof => Ok(0),
            (read, _) => read,
        }
    }

    /// Checks that the server sends no bytes after the promised ones; returns 0, as at the end.
    fn refuse_bytes_beyond_length(&mut self, promised: u64) -> io::Result<usize> {
        self.connection.get_mut().wire().silence_max = CLOSE_WAIT_MAX;
        let more = self.connection.fill_buf().is_ok_and(|more| !more.is_empty());
        self.framing = Framing::Ended;
        if more { Err(io::Error::other(HttpError::TooMany { promised })) } else { Ok(0) }
    }

    /// Reads the line before the next chunk, and returns the size of the chunk; 0 after the last one.
    fn read_chunk_size(&mut self) -> io::Result<u64> {
        let mut size = self.read_chunk_line()?;
        // An empty line is the end of the previous chunk.
        if size.is_empty() && self.received_bytes > 0 {
            size = self.read_chunk_line()?;
        }
        let digits = size.split(';').next().unwrap_or("").trim();
        let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let left = u64::from_str_radix(digits, 16).ok().filter(|_| is_number);
        let left =
            left.ok_or_else(|| io::Error::other(HttpError::Garbled("the size of a chunk is no number")))?;
        self.framing = Framing::Chunked(left);
        if left == 0 {
            self.skip_trailers()?;
            self.framing = Framing::Ended;
        }
        Ok(left)
    }

    fn skip_trailers(&mut self) -> io::Result<()> {
        self.connection.get_mut().wire().part =
            Some(TimedPart::begin("what comes after the last chunk of its answer"));
        let mut rest = (&mut self.connection).take(HEAD_BYTES_MAX);
        loop {
            match read_line(&mut rest) {
                Ok(line) if line.is_empty() => break,
                Ok(_) => {}
                Err(HttpError::Garbled(_)) if rest.limit() == 0 => {
                    return Err(io::Error::other(HttpError::Garbled(
                        "what comes after the last chunk has no end",
                    )));
                }
                Err(HttpError::Garbled(_)) => return Err(self.cut_chunks_error()),
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        self.connection.get_mut().wire().part = None;
        Ok(())
    }

    fn read_chunk_line(&mut self) -> io::Result<String> {
        self.connection.get_mut().wire().part =
            Some(TimedPart::begin("the line before a chunk of its answer"));
        let line = self.read_next_line();
        self.connection.get_mut().wire().part = None;
        line
    }

    fn read_next_line(&mut self) -> io::Result<String> {
        match read_line(&mut (&mut self.connection).take(HEAD_BYTES_MAX)) {
            Err(HttpError::Garbled(_)) => Err(self.cut_chunks_error()),
            line => line.map_err(io::Error::other),
        }
    }

    fn cut_chunks_error(&self) -> io::Error {
        io::Error::other(HttpError::CutChunks { got: self.received_bytes })
    }
}
