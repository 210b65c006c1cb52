//! The methods `http-ranges` and `http-multirange`: the ranges of a list, requested from a URL
//! through the crate ureq, one range or several by each request.
//!
//! A server may answer several ranges by parts in any order, and join ranges that are near each
//! other. Each block must be in some part, and no part may be another than requested.

use super::super::client::{self, CLIENT_BUFFER_BYTES, Client, ClientSettings, ReadingClient, TimedBody};
use super::super::multipart::{self, Parts};
use super::super::{Fault, Feeding, Method, Reader};
use super::stretches::{MERGE, Stretch, Stretches};
use super::{BlocksAnswer, by_threads};
use crate::Latencies;
use crate::scan::Visit;
use crate::setting::{Param, Settings};
use crate::source::Source;
use crate::traffic::Traffic;
use readlab_protocol::{Answer, Reads};
use std::io::{BufReader, Read};
use std::mem;
use std::ops::Range;
use std::time::Instant;
use ureq::Body;
use ureq::http::header::CONTENT_TYPE;
use ureq::http::{Response, StatusCode};

const CONCURRENCY: Param = Param::new("concurrency", 8, 1, 256);
const KEPT: Param = Param::switch("kept");
/// Most ranges of one request. Servers refuse or ignore longer lists, and long heads.
const RANGES: Param = Param::new("ranges", 64, 2, 256);

/// Most bytes that a server may send between two ranges which it joins.
const GAP_BYTES_MAX: u64 = 64 << 10;

pub(crate) const HTTP_RANGES: Method = Method {
    name: "http-ranges",
    about: "GET of each range of a list by the crate ureq, HTTP/1.1, by threads that take ranges in turn; with merge, of \
            ranges with at most so many bytes between them; a client for each reading, or with kept=1 for all",
    reads: Reads::Url,
    feeding: Feeding::AnyOrder,
    ranges: true,
    tls: true,
    params: &[CONCURRENCY, KEPT, MERGE],
    build: |settings| Ok(Box::new(RangesReader::new(settings, 1))),
    ..Method::DEFAULT
};

pub(crate) const HTTP_MULTIRANGE: Method = Method {
    name: "http-multirange",
    about: "GET of `ranges` ranges of a list at once, answered by multipart/byteranges, by the crate ureq, HTTP/1.1, by \
            threads that take requests in turn; merge and kept as for http-ranges",
    params: &[CONCURRENCY, KEPT, MERGE, RANGES],
    build: |settings| {
        let ranges_max = settings.size(&RANGES);
        Ok(Box::new(RangesReader::new(settings, ranges_max)))
    },
    ..HTTP_RANGES
};

struct RangesReader {
    client: ReadingClient,
    threads: u64,
    merge_bytes: u64,
    /// Most ranges of one request.
    ranges_max: usize,
    /// The latencies of readings since they were last taken.
    latencies: Vec<Latencies>,
    read_bytes: Option<u64>,
    traffic: Traffic,
}

impl RangesReader {
    fn new(settings: &Settings, ranges_max: usize) -> RangesReader {
        let idle_connections = settings.size(&CONCURRENCY);
        let client = ClientSettings { buffer_bytes: CLIENT_BUFFER_BYTES, idle_connections };
        RangesReader {
            client: ReadingClient::new(client, settings.is_on(&KEPT)),
            threads: settings.get(&CONCURRENCY),
            merge_bytes: settings.get(&MERGE),
            ranges_max,
            latencies: Vec::new(),
            read_bytes: None,
            traffic: Traffic::default(),
        }
    }
}

impl Reader for RangesReader {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        self.client.prepare(source)
    }

    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let places = source.ranges().ok_or_else(|| client::failure("no list of ranges was given"))?;
        let mut made = None;
        let client = self.client.for_reading(source, &mut made)?;
        let stretches = Stretches::new(places, 1, self.merge_bytes);
        let requests = stretches.len().div_ceil(self.ranges_max);
        let content = Content { client, stretches, ranges_max: self.ranges_max, visit };
        let request = |buffer: &mut Vec<u8>, number: usize, all: &mut BlocksAnswer| {
            content.request(buffer, number, all)
        };
        let answer = by_threads(requests, self.threads, || Ok(Vec::new()), request)?;
        // The latencies are added up after the window.
        self.latencies.push(answer.latencies);
        (self.read_bytes, self.traffic) = (answer.read_bytes, answer.traffic);
        Ok(answer.all.unwrap_or_default())
    }

    fn take_latencies(&mut self) -> Option<Latencies> {
        Latencies::sum(mem::take(&mut self.latencies))
    }

    fn read_bytes(&self) -> Option<u64> {
        self.read_bytes
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }
}

/// The content whose ranges the threads request.
struct Content<'a> {
    client: &'a Client,
    stretches: Stretches<'a>,
    ranges_max: usize,
    visit: Visit,
}

/// One request: the ranges that it names, and the stretches that no part has brought yet.
struct PendingRequest {
    ranges: Vec<Range<u64>>,
    missing: Vec<Stretch>,
    begun: Instant,
}

impl Content<'_> {
    /// Requests the ranges with this number and visits their blocks.
    fn request(&self, buffer: &mut Vec<u8>, number: usize, all: &mut BlocksAnswer) -> Result<(), Fault> {
        let first = number * self.ranges_max;
        let end = self.stretches.len().min(first + self.ranges_max);
        let missing = (first..end).map(|index| self.stretches.get(index)).collect::<Result<Vec<_>, _>>()?;
        let ranges = missing.iter().map(Stretch::range).collect();
        let mut pending = PendingRequest { ranges, missing, begun: Instant::now() };
        let answer = self.client.get_ranges(&pending.ranges)?;
        if answer.status() != StatusCode::PARTIAL_CONTENT {
            let asked = if pending.ranges.len() == 1 { "a range" } else { "several ranges" };
            return Err(client::failure(format!("status {} to {asked}", answer.status())));
        }
        let body = match boundary(&answer) {
            None => {
                let (range, _) = client::range_of(&answer)?;
                pending.check_part(&range)?;
                let mut body = TimedBody::new(answer.into_body().into_reader());
                // One byte more is read, so that a longer body is noticed.
                read_bytes(&mut body, &range, 1, buffer)?;
                self.visit_part(&mut pending, &range, buffer, all);
                body
            }
            Some(boundary) => {
                let body = TimedBody::new(answer.into_body().into_reader());
                let mut parts = Parts::new(BufReader::with_capacity(CLIENT_BUFFER_BYTES, body), &boundary);
                let mut count = 0;
                while let Some(range) = parts.next_range()? {
                    count += 1;
                    if count > pending.ranges.len() {
                        return Err(client::failure("the answer has more parts than ranges"));
                    }
                    pending.check_part(&range)?;
                    read_bytes(parts.body(), &range, 0, buffer)?;
                    self.visit_part(&mut pending, &range, buffer, all);
                }
                parts.into_body().into_inner()
            }
        };
        if let Some(stretch) = pending.missing.first() {
            return Err(client::failure(format!("the answer lacks the range at byte {}", stretch.offset)));
        }
        all.count_read_bytes(body.byte_count());
        all.traffic = all.traffic.merge(body.traffic());
        Ok(())
    }

    /// Visits the blocks that a part brings, and that no other part has brought.
    fn visit_part(
        &self,
        pending: &mut PendingRequest,
        part: &Range<u64>,
        bytes: &[u8],
        all: &mut BlocksAnswer,
    ) {
        let took = pending.begun.elapsed();
        pending.missing.retain(|stretch| {
            let range = stretch.range();
            let is_brought = holds(part, &range);
            if is_brought {
                let start = (range.start - part.start) as usize;
                let own = &bytes[start..start + stretch.bytes];
                all.visit_blocks(&self.stretches, stretch, own, took, self.visit);
            }
            !is_brought
        });
    }
}

impl PendingRequest {
    /// Refuses a part without a requested range, and one that has much more than the ranges have. A
    /// single range must be answered by itself.
    fn check_part(&self, part: &Range<u64>) -> Result<(), Fault> {
        let is_requested = match &self.ranges[..] {
            [range] => range == part,
            ranges => ranges.iter().any(|range| holds(part, range)),
        };
        if !is_requested {
            return Err(client::failure("the answer is about another range"));
        }
        let requested_bytes: u64 = self.ranges.iter().map(|range| range.end - range.start).sum();
        let bytes_max = requested_bytes + GAP_BYTES_MAX * (self.ranges.len() as u64 - 1);
        let bytes = part.end - part.start;
        if bytes > bytes_max {
            let why = format!("a part has {bytes} bytes, and the requested ranges {requested_bytes}");
            return Err(client::failure(why));
        }
        Ok(())
    }
}

/// The boundary of the parts of an answer; `None` if it has one range.
fn boundary(answer: &Response<Body>) -> Option<String> {
    let content_type = answer.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    multipart::boundary(content_type).map(str::to_owned)
}

/// Whether a part contains all bytes of a range, which has at least one.
fn holds(part: &Range<u64>, range: &Range<u64>) -> bool {
    part.start <= range.start && range.end <= part.end
}

/// Reads the bytes of a range, and up to `more` bytes after them, which are refused.
fn read_bytes(
    body: &mut impl Read,
    range: &Range<u64>,
    more: u64,
    buffer: &mut Vec<u8>,
) -> Result<(), Fault> {
    buffer.clear();
    let length = range.end - range.start;
    let read = Read::take(body, length + more).read_to_end(buffer);
    read.map_err(|cause| Fault::at(range.start + buffer.len() as u64, cause))?;
    client::check_length(range, buffer.len() as u64)
}
