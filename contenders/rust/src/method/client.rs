//! The common part of the methods that read URLs: the client of the crate ureq, its requests, and
//! the checks that every answer must pass.
//!
//! Proxies and redirects are not used, because every method must request the same bytes from the
//! same server. An error never contains the URL, whose query may be a secret.

use super::Fault;
use crate::source::Source;
use crate::traffic::Traffic;
use readlab_protocol::Part;
use readlab_protocol::remote::{cacert, content_range, etag};
use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use ureq::http::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, IF_MATCH, RANGE,
};
use ureq::http::{HeaderName, Response, StatusCode};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

/// The default size of the client's own input buffer. A larger buffer of ours would never be filled
/// from it.
pub(super) const CLIENT_BUFFER_BYTES: usize = 128 << 10;

/// A server that sends nothing for this long is given up.
const SILENCE_MAX: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy)]
pub(super) struct ClientSettings {
    pub(super) buffer_bytes: usize,
    /// Number of connections that stay open for later requests.
    pub(super) idle_connections: usize,
}

/// The client of a method, which is made once before the readings, or in each.
pub(super) struct ReadingClient {
    settings: ClientSettings,
    is_kept: bool,
    kept: Option<Client>,
}

impl ReadingClient {
    pub(super) fn new(settings: ClientSettings, is_kept: bool) -> ReadingClient {
        ReadingClient { settings, is_kept, kept: None }
    }

    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Makes the client, if it is kept.
    pub(super) fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        if self.is_kept && self.kept.is_none() {
            self.kept = Some(Client::make(source, self.settings)?);
        }
        Ok(())
    }

    /// The client that is kept, or one that is made now and lasts as long as `made`.
    pub(super) fn for_reading<'c>(
        &'c self,
        source: &Source,
        made: &'c mut Option<Client>,
    ) -> Result<&'c Client, Fault> {
        match &self.kept {
            Some(client) => Ok(client),
            None => Ok(made.insert(Client::make(source, self.settings)?)),
        }
    }
}

/// An answer, and the range of the content that it holds.
type ResponseWithRange = (Response<Body>, Range<u64>);

/// A client and the URL that it requests.
pub(super) struct Client {
    agent: Agent,
    url: String,
    etag: Option<String>,
}

impl Client {
    pub(super) fn make(source: &Source, settings: ClientSettings) -> Result<Client, Fault> {
        let url = source.url().ok_or_else(|| failure("this is no http:// or https:// URL"))?.to_owned();
        let etag = etag().map_err(|error| failure(error.to_string()))?;
        let mut config = Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .accept_encoding("identity")
            .timeout_recv_response(Some(SILENCE_MAX))
            .timeout_per_read(Some(SILENCE_MAX))
            .input_buffer_size(settings.buffer_bytes.max(CLIENT_BUFFER_BYTES))
            .max_idle_connections(settings.idle_connections)
            .max_idle_connections_per_host(settings.idle_connections);
        if url.starts_with("https://") {
            config = config.tls_config(encryption()?);
        }
        Ok(Client { agent: config.build().into(), url, etag })
    }

    /// Requests the whole content; `close` if the connection is for this request only.
    pub(super) fn get(&self, close: bool) -> Result<Response<Body>, Fault> {
        let headers = close.then(|| (CONNECTION, "close".to_owned()));
        let answer = self.request(headers)?;
        match answer.status() {
            StatusCode::OK => Ok(answer),
            status => Err(failure(format!("status {status}"))),
        }
    }

    /// Requests a part, up to the end of the content, and returns the answer with its range; `None`
    /// if the content ends before the part. `close` if the connection is for this request only. An
    /// answer with another range is a failure.
    pub(super) fn get_part(&self, part: Part, close: bool) -> Result<Option<ResponseWithRange>, Fault> {
        let range = part.range();
        let headers = close.then(|| (CONNECTION, "close".to_owned()));
        let answer = self.request(headers.into_iter().chain([range_header([&range])]))?;
        if is_empty(&answer) {
            return Ok(None);
        }
        let (given, size_bytes) = range_of(&answer)?;
        if given != (range.start..range.end.min(size_bytes)) {
            return Err(failure("the answer is about another range"));
        }
        Ok(Some((answer, given)))
    }

    /// Requests a range. Its answer is not checked, so that the caller can recognise empty content.
    pub(super) fn get_range(&self, range: &Range<u64>) -> Result<Response<Body>, Fault> {
        self.request([range_header([range])])
    }

    /// Requests several ranges by one request. Its answer is not checked.
    pub(super) fn get_ranges(&self, ranges: &[Range<u64>]) -> Result<Response<Body>, Fault> {
        self.request([range_header(ranges)])
    }

    fn request(
        &self,
        headers: impl IntoIterator<Item = (HeaderName, String)>,
    ) -> Result<Response<Body>, Fault> {
        let mut request = self.agent.get(&self.url);
        let version = self.etag.iter().map(|etag| (IF_MATCH, etag.clone()));
        for (name, value) in version.chain(headers) {
            request = request.header(name, value);
        }
        let answer = request.call().map_err(cause)?;
        let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
        if !answer.status().is_success() {
            return Ok(answer);
        }
        if let Some(encoding) = header(CONTENT_ENCODING).filter(|encoding| *encoding != "identity") {
            return Err(failure(format!("the answer has the content encoding {encoding}")));
        }
        match (header(ETAG), &self.etag) {
            (Some(found), Some(demanded)) if found != demanded => {
                Err(failure(format!("the answer is of the version {found}, not {demanded}")))
            }
            _ => Ok(answer),
        }
    }
}

fn range_header<'a>(ranges: impl IntoIterator<Item = &'a Range<u64>>) -> (HeaderName, String) {
    let ranges = ranges.into_iter().map(|range| format!("{}-{}", range.start, range.end - 1));
    (RANGE, format!("bytes={}", ranges.collect::<Vec<_>>().join(",")))
}

/// The range in an answer, and the size of the whole content.
pub(super) fn range_of(answer: &Response<Body>) -> Result<(Range<u64>, u64), Fault> {
    if answer.status() != StatusCode::PARTIAL_CONTENT {
        return Err(failure(format!("status {} to a range", answer.status())));
    }
    let value = answer.headers().get(CONTENT_RANGE).and_then(|value| value.to_str().ok());
    value.and_then(content_range).ok_or_else(|| failure("the answer has no Content-Range"))
}

/// Refuses a body that has fewer or more bytes than the range of its answer.
pub(super) fn check_length(range: &Range<u64>, length: u64) -> Result<(), Fault> {
    let wanted = range.end - range.start;
    if length == wanted {
        return Ok(());
    }
    Err(failure(format!("{length} bytes instead of {wanted} in a range")))
}

/// Whether an answer to the first range shows that the content is empty.
pub(super) fn is_empty(answer: &Response<Body>) -> bool {
    let length = answer.headers().get(CONTENT_LENGTH).map(|length| length.as_bytes());
    let whole = answer.status() == StatusCode::OK && length == Some(b"0");
    whole || answer.status() == StatusCode::RANGE_NOT_SATISFIABLE
}

/// The encryption by ring, with the certificates of the file or else those of the system.
fn encryption() -> Result<TlsConfig, Fault> {
    let roots = match cacert() {
        Some(path) => {
            let named = |cause: String| failure(format!("{}: {cause}", path.display()));
            let pem = fs::read(&path).map_err(|error| named(error.to_string()))?;
            certificates(&pem).map_err(|error| named(error.to_string()))?
        }
        None => {
            let found = rustls_native_certs::load_native_certs().certs;
            found.iter().map(|der| Certificate::from_der(der).to_owned()).collect()
        }
    };
    Ok(TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .build())
}

fn certificates(pem: &[u8]) -> Result<Vec<Certificate<'static>>, ureq::Error> {
    let items = parse_pem(pem).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    });
    items.collect()
}

/// The reason why a request failed, without the URL.
fn cause(error: ureq::Error) -> Fault {
    match error {
        ureq::Error::BadUri(_) => failure("this URL has no host or no scheme"),
        error => error.into_io().into(),
    }
}

pub(super) fn failure(reason: impl Into<String>) -> Fault {
    io::Error::other(reason.into()).into()
}

/// The body of an answer, which counts its bytes and records the time of the first.
pub(super) struct TimedBody<R> {
    body: R,
    first_byte: Option<Instant>,
    bytes: u64,
}

impl<R> TimedBody<R> {
    pub(super) fn new(body: R) -> TimedBody<R> {
        TimedBody { body, first_byte: None, bytes: 0 }
    }

    /// Number of bytes that were read.
    pub(super) fn byte_count(&self) -> u64 {
        self.bytes
    }

    /// The traffic of one request, with the time of its first byte.
    pub(super) fn traffic(&self) -> Traffic {
        Traffic { requests: Some(1), first_byte: self.first_byte }
    }
}

impl<R: Read> Read for TimedBody<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.body.read(buffer)?;
        self.bytes += count as u64;
        if count > 0 && self.first_byte.is_none() {
            self.first_byte = Some(Instant::now());
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_is_timed_once_and_all_are_counted() {
        let mut body = TimedBody::new(&b"ab"[..]);
        assert_eq!(body.traffic().first_byte, None);
        body.read_exact(&mut [0]).unwrap();
        let first = body.traffic().first_byte;
        body.read_exact(&mut [0]).unwrap();
        assert!(first.is_some() && body.traffic().first_byte == first);
        assert_eq!(body.byte_count(), 2);
    }
}
