//! The methods of the crate `reqwest`: a URL as a stream, or in ranges.

use crate::async_reader::{self, AsyncReader};
use crate::client::{self, Version};
use crate::methods::{CONCURRENCY, HTTP, KEPT_URL, PART};
use crate::{failure, ranges};
use async_trait::async_trait;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use http::{HeaderValue, StatusCode, header};
use readlab_protocol::Work;
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::remote::content_range;
use readlab_protocol::serve::Refusal;
use readlab_protocol::setting::Settings;
use reqwest::{Client, Response, Url};
use std::iter;
use std::ops::Range;
use std::time::Instant;

/// A method of reading a URL.
#[async_trait]
pub(crate) trait UrlReader: Send + Sync + 'static {
    fn from_settings(settings: &Settings) -> Self;

    /// Reads the whole content.
    async fn read(&self, server: &Server, work: Work) -> Result<VisitedAnswers, Refusal>;
}

/// The counts and the tally of the answers to some requests.
pub(crate) struct VisitedAnswers {
    requests: u64,
    tally: Tally,
    first_byte: Option<Instant>,
}

struct Urls<W> {
    reader: W,
    work: Work,
    address: Address,
    /// The client, if it is kept from reading to reading.
    kept: Option<Client>,
}

/// The URL that is requested, and how.
#[derive(Clone)]
struct Address {
    url: Url,
    etag: Option<HeaderValue>,
    version: Version,
    kept: bool,
}

/// A client with the address that it requests.
#[derive(Clone)]
pub(crate) struct Server {
    client: Client,
    address: Address,
}

pub(crate) fn open<W: UrlReader>(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    let settings = &job.settings;
    async_reader::open(&job, |target| {
        let url = Url::parse(target).map_err(|error| failure::innermost(&error))?;
        let version = if settings.get(&HTTP) == 2 { Version::Http2 } else { Version::Http1 };
        let kept = settings.is_on(&KEPT_URL);
        let address = Address { url, etag: client::etag()?, version, kept };
        let client = kept.then(|| client::make(version)).transpose()?;
        Ok(Urls { reader: W::from_settings(settings), work: job.work, address, kept: client })
    })
}

#[async_trait]
impl<W: UrlReader> AsyncReader for Urls<W> {
    async fn read(&self) -> Result<Reading, Refusal> {
        let client = match &self.kept {
            Some(client) => client.clone(),
            None => client::make(self.address.version)?,
        };
        let server = Server { client, address: self.address.clone() };
        let VisitedAnswers { requests, tally, first_byte } = self.reader.read(&server, self.work).await?;
        // The client may repeat a request over another connection, but does not report how often.
        Ok(Reading { first_byte, requests: Some(requests), ..tally.answer().into() })
    }
}

impl VisitedAnswers {
    /// The value of one request whose content is not visited yet.
    fn new(work: Work) -> VisitedAnswers {
        VisitedAnswers { requests: 1, tally: Tally::new(work), first_byte: None }
    }

    fn merge(self, other: VisitedAnswers) -> VisitedAnswers {
        VisitedAnswers {
            requests: self.requests + other.requests,
            tally: self.tally.merge(other.tally),
            first_byte: [self.first_byte, other.first_byte].into_iter().flatten().min(),
        }
    }
}

impl Server {
    /// The answer to a request for the whole content or a range. Its status is not checked.
    async fn get(&self, range: Option<&Range<u64>>, last: bool) -> Result<Response, Refusal> {
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
        let answer = request.send().await.map_err(failure::request_failure)?;
        if (answer.version() == http::Version::HTTP_2) != (self.address.version == Version::Http2) {
            return Err(Refusal::failed(format!("the answer is {:?}", answer.version())));
        }
        if answer.status().is_success() {
            client::check_headers(answer.headers(), self.address.etag.as_ref())?;
        }
        Ok(answer)
    }

    /// Requests a range and visits its bytes.
    async fn read_part(
        self,
        range: Range<u64>,
        size_bytes: u64,
        work: Work,
    ) -> Result<VisitedAnswers, Refusal> {
        let answer = self.get(Some(&range), false).await?;
        if range_of(&answer)? != (range, size_bytes) {
            return Err(Refusal::failed("the answer is about another range"));
        }
        visit(answer, work).await
    }
}

/// Sends one request and visits the content piece by piece.
pub(crate) struct StreamedReader;

#[async_trait]
impl UrlReader for StreamedReader {
    fn from_settings(_settings: &Settings) -> StreamedReader {
        StreamedReader
    }

    async fn read(&self, server: &Server, work: Work) -> Result<VisitedAnswers, Refusal> {
        let answer = server.get(None, true).await?;
        if answer.status() != StatusCode::OK {
            return Err(Refusal::failed(format!("status {}", answer.status())));
        }
        visit(answer, work).await
    }
}

/// Requests each range in a separate task, some of them at once.
pub(crate) struct RangedReader {
    part_bytes: u64,
    concurrency: usize,
}

#[async_trait]
impl UrlReader for RangedReader {
    fn from_settings(settings: &Settings) -> RangedReader {
        RangedReader { part_bytes: settings.get(&PART), concurrency: settings.size(&CONCURRENCY) }
    }

    /// The size comes with the answer to the first range. The other ranges are requested while the
    /// bytes of the first one arrive.
    async fn read(&self, server: &Server, work: Work) -> Result<VisitedAnswers, Refusal> {
        let first = server.get(Some(&(0..self.part_bytes)), false).await?;
        if is_empty(&first) {
            return Ok(VisitedAnswers::new(work));
        }
        let (range, size_bytes) = range_of(&first)?;
        if range != (0..self.part_bytes.min(size_bytes)) {
            return Err(Refusal::failed("the answer is about another range"));
        }
        let first = tokio::spawn(visit(first, work));
        let others = ranges::cut(range.end..size_bytes, self.part_bytes);
        let others = others.map(|range| tokio::spawn(server.clone().read_part(range, size_bytes, work)));
        let mut tasks = stream::iter(iter::once(first).chain(others)).buffer_unordered(self.concurrency);
        let mut all = VisitedAnswers { requests: 0, ..VisitedAnswers::new(work) };
        while let Some(part) = tasks.try_next().await.map_err(|error| failure::innermost(&error))? {
            all = all.merge(part?);
        }
        Ok(all)
    }
}

/// Visits the bytes of an answer as they arrive. Their number must be the promised one.
async fn visit(mut answer: Response, work: Work) -> Result<VisitedAnswers, Refusal> {
    let promised = answer.content_length();
    let mut visited = VisitedAnswers::new(work);
    while let Some(piece) = answer.chunk().await.map_err(failure::request_failure)? {
        if !piece.is_empty() {
            visited.first_byte.get_or_insert_with(Instant::now);
        }
        visited.tally.take(&piece);
    }
    match (promised, visited.tally.bytes()) {
        (Some(promised), bytes) if promised != bytes => {
            Err(Refusal::failed(format!("{bytes} bytes instead of {promised}")))
        }
        _ => Ok(visited),
    }
}

/// Whether the content is empty. Only empty content has no first byte. Some servers answer with the
/// whole content instead.
fn is_empty(answer: &Response) -> bool {
    answer.status() == StatusCode::RANGE_NOT_SATISFIABLE
        || (answer.status() == StatusCode::OK && answer.content_length() == Some(0))
}

/// The range in an answer, and the size of the whole content. The length of the answer must be that
/// of the range.
fn range_of(answer: &Response) -> Result<(Range<u64>, u64), Refusal> {
    if answer.status() != StatusCode::PARTIAL_CONTENT {
        return Err(Refusal::failed(format!("status {} to a range", answer.status())));
    }
    let value = answer.headers().get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok());
    let found = value.and_then(content_range);
    let (range, size_bytes) = found.ok_or_else(|| Refusal::failed("the answer has no Content-Range"))?;
    if answer.content_length().is_some_and(|length| length != range.end - range.start) {
        return Err(Refusal::failed("the answer has not the length of its range"));
    }
    Ok((range, size_bytes))
}
