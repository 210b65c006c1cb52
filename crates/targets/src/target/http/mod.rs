//! The lab's HTTP/1.1 client, with or without TLS: one connection for each request, no proxy, no
//! redirects, no cache.
//!
//! The client reads a URL once for the true answer, and checks around readings whether the content
//! has changed. It shares no code with contenders, and reports every response with fewer or more
//! bytes than its head states.
//!
//! The lab has its own client instead of ureq, which the Rust contender uses. ureq 3.5 accepts
//! incomplete bodies: a body without a length whose connection is reset or ends without a TLS
//! notice, and chunks whose last line is missing. It accepts chunk sizes with a sign, trailers
//! without end, and other transfer encodings beside chunked. It does not report bytes after the
//! promised length, rejects chunks with long extensions, and has no time limit for the line of a
//! chunk. Its transports are `'static`, so a wait cannot call the caller's borrowed check. An error
//! that the lab shared with a contender would make both answers equal and wrong.

mod body;
mod connection;
mod error;
#[cfg(test)]
mod tests;
mod trust;

use super::url::Url;
use body::{Body, parse_framing};
use connection::{Connection, TimedPart};
pub use error::{CertificateFault, HttpError, RedirectUrl};
use readlab_system::interrupt;
use rustls::ClientConfig;
use std::fmt;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};
pub use trust::{Trust, TrustError};

/// Longest time without a byte from the server.
pub const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Longest time before the client checks again whether the user requested a stop.
const INTERRUPT_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Largest size of the head of a response, and of the trailers.
const HEAD_BYTES_MAX: u64 = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestVerb {
    Get,
    Head,
}

/// A function that is called whenever the client waits for bytes. If it returns an error, the wait
/// ends.
pub type WaitCheck<'a> = &'a dyn Fn() -> io::Result<()>;

pub struct Response<'a> {
    fields: Vec<(String, String)>,
    body: Body<'a>,
}

struct ResponseHead {
    code: u16,
    reason: String,
    fields: Vec<(String, String)>,
}

/// Sends requests. It determines which servers are trusted, and never uses a proxy.
#[derive(Default)]
pub struct Client {
    trust: Trust,
    /// The TLS configuration, which is created for the first encrypted connection.
    tls_config: OnceLock<Arc<ClientConfig>>,
}

impl Client {
    /// A client that trusts these servers. Certificates are read when they are first needed.
    pub fn new(trust: Trust) -> Client {
        Client { trust, tls_config: OnceLock::new() }
    }

    pub fn trust(&self) -> &Trust {
        &self.trust
    }

    /// Requests a URL with these header fields and the client's own, and reads the head, whose
    /// status must be 200. `check` is also called while the body is read.
    pub fn ask<'a>(
        &self,
        verb: RequestVerb,
        url: &Url,
        fields: &[(&str, &str)],
        check: WaitCheck<'a>,
    ) -> Result<Response<'a>, HttpError> {
        let request = request_head(verb, url, fields)?;
        let mut connection = match url.is_encrypted() {
            true => Connection::connect_encrypted(url, self.tls_config()?, check)?,
            false => Connection::connect_plain(url, check)?,
        };
        connection.send(request.as_bytes())?;
        connection.wire().part = Some(TimedPart::begin("the head of its answer"));
        let mut wire = BufReader::new(connection);
        let head = read_head(&mut wire)?;
        wire.get_mut().wire().part = None;
        let fields = head.accepted_fields()?;
        let framing = parse_framing(&fields)?;
        Ok(Response { fields, body: Body { connection: wire, framing, received_bytes: 0 } })
    }

    fn tls_config(&self) -> Result<Arc<ClientConfig>, HttpError> {
        if let Some(config) = self.tls_config.get() {
            return Ok(Arc::clone(config));
        }
        let config = self.trust.tls_config()?;
        Ok(Arc::clone(self.tls_config.get_or_init(|| config)))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("trust", &self.trust).finish_non_exhaustive()
    }
}

impl PartialEq for Client {
    /// Two clients are equal if they trust the same servers.
    fn eq(&self, other: &Client) -> bool {
        self.trust == other.trust
    }
}

impl Eq for Client {}

fn request_head(verb: RequestVerb, url: &Url, fields: &[(&str, &str)]) -> Result<String, HttpError> {
    let word = if verb == RequestVerb::Get { "GET" } else { "HEAD" };
    let mut request = format!(
        "{word} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: readlab/{}\r\nAccept: */*\r\nAccept-Encoding: identity\r\nConnection: close\r\n",
        url.exact_path_and_query(),
        url.authority(),
        env!("CARGO_PKG_VERSION"),
    );
    for (name, value) in fields {
        if name.chars().chain(value.chars()).any(char::is_control) {
            return Err(HttpError::Field((*name).to_owned()));
        }
        request.extend([name, ": ", value, "\r\n"]);
    }
    Ok(request + "\r\n")
}

impl ResponseHead {
    fn accepted_fields(self) -> Result<Vec<(String, String)>, HttpError> {
        let bucket_region = find_field(&self.fields, "x-amz-bucket-region").map(str::to_owned);
        match (self.code, find_field(&self.fields, "location")) {
            (200, _) => self.unencoded_fields(),
            (code @ 300..=399, Some(to)) => {
                let to = RedirectUrl { exact_url: to.to_owned() };
                Err(HttpError::Redirect { code, to, bucket_region })
            }
            (code, _) => Err(HttpError::Status { code, reason: self.reason, bucket_region }),
        }
    }

    /// The header fields, if the body has no content encoding.
    fn unencoded_fields(self) -> Result<Vec<(String, String)>, HttpError> {
        let encodings = self.fields.iter().filter(|(name, _)| name == "content-encoding");
        let mut encodings = encodings.flat_map(|(_, value)| value.split(',')).map(str::trim);
        match encodings.find(|it| !it.is_empty() && !it.eq_ignore_ascii_case("identity")) {
            Some(encoding) => Err(HttpError::Encoded(encoding.to_owned())),
            None => Ok(self.fields),
        }
    }
}

fn read_head(wire: &mut impl BufRead) -> Result<ResponseHead, HttpError> {
    let mut wire = wire.take(HEAD_BYTES_MAX);
    let status = read_line(&mut wire)?;
    let mut words = status.splitn(3, ' ');
    let version = words.next().is_some_and(|word| word.starts_with("HTTP/1."));
    let code = words.next().and_then(|code| code.parse().ok()).filter(|_| version);
    let code = code.ok_or(HttpError::Garbled("its first line is no status"))?;
    let reason = words.next().unwrap_or("").trim().to_owned();
    let mut fields = Vec::new();
    loop {
        let line = read_line(&mut wire)?;
        if line.is_empty() {
            return Ok(ResponseHead { code, reason, fields });
        }
        let (name, value) =
            line.split_once(':').ok_or(HttpError::Garbled("a line of its head is no field"))?;
        fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

/// Reads the next line, without its end.
fn read_line(wire: &mut impl BufRead) -> Result<String, HttpError> {
    let mut line = Vec::new();
    match wire.read_until(b'\n', &mut line) {
        // The encrypted connection ended without a TLS notice, so the line has no end either.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => 0,
        read => read.map_err(HttpError::from_io)?,
    };
    let line = line.strip_suffix(b"\n").ok_or(HttpError::Garbled("its head has no end"))?;
    Ok(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned())
}

/// Waits between two requests; an error as soon as the user requests a stop.
pub(super) fn pause(time: Duration) -> Result<(), HttpError> {
    let begun = Instant::now();
    while !interrupt::is_stop_requested() {
        let left = time.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(INTERRUPT_CHECK_INTERVAL));
    }
    Err(HttpError::Interrupted)
}

fn find_field<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
}

impl Response<'_> {
    pub fn field(&self, name: &str) -> Option<&str> {
        find_field(&self.fields, name)
    }
}

impl Read for Response<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.body.read(buffer)
    }
}
