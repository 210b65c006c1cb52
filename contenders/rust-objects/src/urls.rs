//! The methods of the crate `reqwest`: a URL as a stream, or in ranges.

use crate::client::{self, Version};
use crate::environment;
use crate::failure::Failure;
use crate::method::{CONCURRENCY, HTTP, KEPT_URL, PART, Reader, Reading};
use crate::parts;
use crate::request::{Request, Work};
use crate::tally::Tally;
use async_trait::async_trait;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use http::{HeaderValue, StatusCode, header};
use reqwest::{Client, Response, Url};
use std::iter;
use std::ops::Range;

/// One way of reading a URL.
#[async_trait]
pub(crate) trait Way: Send + Sync + 'static {
    fn from_request(request: &Request) -> Self;

    /// Reads the whole content; returns how many requests it took as well.
    async fn read(&self, server: &Server, work: Work) -> Result<(Tally, u64), Failure>;
}

struct Urls<W> {
    way: W,
    work: Work,
    address: Address,
    /// The client, if it stays from reading to reading.
    kept: Option<Client>,
}

/// What is requested, and how.
#[derive(Clone)]
struct Address {
    url: Url,
    etag: Option<HeaderValue>,
    version: Version,
    kept: bool,
}

/// A client with what it is asked for.
#[derive(Clone)]
pub(crate) struct Server {
    client: Client,
    address: Address,
}

pub(crate) fn open<W: Way>(request: &Request) -> Result<Box<dyn Reader>, Failure> {
    let url = Url::parse(&request.target).map_err(|error| Failure::from_error(&error))?;
    let version = if request.param(&HTTP) == 2 { Version::Http2 } else { Version::Http1 };
    let kept = request.is_on(&KEPT_URL);
    let address = Address { url, etag: environment::etag()?, version, kept };
    let client = kept.then(|| client::make(version)).transpose()?;
    Ok(Box::new(Urls { way: W::from_request(request), work: request.work, address, kept: client }))
}

#[async_trait]
impl<W: Way> Reader for Urls<W> {
    async fn read(&self) -> Result<Reading, Failure> {
        let client = match &self.kept {
            Some(client) => client.clone(),
            None => client::make(self.address.version)?,
        };
        let server = Server { client, address: self.address.clone() };
        let (tally, requests) = self.way.read(&server, self.work).await?;
        // How often the client repeated a request over another connection is not known.
        Ok(Reading { tally, requests, retries: None })
    }
}

impl Server {
    /// The answer to a request for all or for a range. Its status is not checked.
    async fn get(&self, range: Option<&Range<u64>>, last: bool) -> Result<Response, Failure> {
        let mut request = self.client.get(self.address.url.clone());
        if let Some(range) = range {
            request = request.header(header::RANGE, format!("bytes={}-{}", range.start, range.end - 1));
        }
        if let Some(etag) = &self.address.etag {
            request = request.header(header::IF_MATCH, etag);
        }
        // HTTP/2 has no such header.
        if last && !self.address.kept && self.address.version == Version::Http1 {
            request = request.header(header::CONNECTION, "close");
        }
        let answer = request.send().await.map_err(Failure::of_request)?;
        if (answer.version() == http::Version::HTTP_2) != (self.address.version == Version::Http2) {
            return Err(Failure::new(format!("the answer is {:?}", answer.version())));
        }
        if answer.status().is_success() {
            client::check_headers(answer.headers(), self.address.etag.as_ref())?;
        }
        Ok(answer)
    }

    /// Requests a range and visits it.
    async fn part(self, range: Range<u64>, size_bytes: u64, work: Work) -> Result<Tally, Failure> {
        let answer = self.get(Some(&range), false).await?;
        if range_of(&answer)? != (range, size_bytes) {
            return Err(Failure::new("the answer is about another range"));
        }
        visit(answer, work).await
    }
}

/// One request, visited piece by piece.
pub(crate) struct Streamed;

#[async_trait]
impl Way for Streamed {
    fn from_request(_request: &Request) -> Streamed {
        Streamed
    }

    async fn read(&self, server: &Server, work: Work) -> Result<(Tally, u64), Failure> {
        let answer = server.get(None, true).await?;
        if answer.status() != StatusCode::OK {
            return Err(Failure::new(format!("status {}", answer.status())));
        }
        Ok((visit(answer, work).await?, 1))
    }
}

/// A request for each range, some of them at once, each in a task of its own.
pub(crate) struct Ranged {
    part_bytes: u64,
    concurrency: usize,
}

#[async_trait]
impl Way for Ranged {
    fn from_request(request: &Request) -> Ranged {
        Ranged { part_bytes: request.param(&PART), concurrency: request.count(&CONCURRENCY) }
    }

    /// The size comes with the answer to the first range; the other ranges are requested while the
    /// bytes of the first one arrive.
    async fn read(&self, server: &Server, work: Work) -> Result<(Tally, u64), Failure> {
        let first = server.get(Some(&(0..self.part_bytes)), false).await?;
        if is_empty(&first) {
            return Ok((Tally::new(work), 1));
        }
        let (range, size_bytes) = range_of(&first)?;
        if range != (0..self.part_bytes.min(size_bytes)) {
            return Err(Failure::new("the answer is about another range"));
        }
        let first = tokio::spawn(visit(first, work));
        let others = parts::cut(range.end..size_bytes, self.part_bytes);
        let others = others.map(|range| tokio::spawn(server.clone().part(range, size_bytes, work)));
        let mut tasks = stream::iter(iter::once(first).chain(others)).buffer_unordered(self.concurrency);
        let (mut tally, mut requests) = (Tally::new(work), 0);
        while let Some(part) = tasks.try_next().await.map_err(|error| Failure::from_error(&error))? {
            tally.merge(&part?);
            requests += 1;
        }
        Ok((tally, requests))
    }
}

/// Visits the bytes of an answer, as they arrive: as many as it promised.
async fn visit(mut answer: Response, work: Work) -> Result<Tally, Failure> {
    let promised = answer.content_length();
    let mut tally = Tally::new(work);
    while let Some(piece) = answer.chunk().await.map_err(Failure::of_request)? {
        tally.take(&piece);
    }
    match promised {
        Some(promised) if promised != tally.bytes => {
            Err(Failure::new(format!("{} bytes instead of {promised}", tally.bytes)))
        }
        _ => Ok(tally),
    }
}

/// Only empty content does not have its first byte; some servers answer with all of it.
fn is_empty(answer: &Response) -> bool {
    answer.status() == StatusCode::RANGE_NOT_SATISFIABLE
        || (answer.status() == StatusCode::OK && answer.content_length() == Some(0))
}

/// The range in an answer, and the size of all; the length of the answer is that of the range.
fn range_of(answer: &Response) -> Result<(Range<u64>, u64), Failure> {
    if answer.status() != StatusCode::PARTIAL_CONTENT {
        return Err(Failure::new(format!("status {} to a range", answer.status())));
    }
    let value = answer.headers().get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok());
    let found = value.and_then(parts::content_range);
    let (range, size_bytes) = found.ok_or_else(|| Failure::new("the answer has no Content-Range"))?;
    if answer.content_length().is_some_and(|length| length != range.end - range.start) {
        return Err(Failure::new("the answer has not the length of its range"));
    }
    Ok((range, size_bytes))
}
