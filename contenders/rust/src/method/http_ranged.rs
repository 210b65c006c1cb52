//! The method `http-ranged`: ranges of a URL, requested by several threads through the crate ureq.
//!
//! The answer to the first request contains the size of the whole content. The threads then take
//! ranges in turn. The thread that takes the first range reads the answer that already arrived.

use super::client::{self, CLIENT_BUFFER_BYTES, Client, ClientSettings, ReadingClient, TimedBody};
use super::read::drain;
use super::{Fault, Feeding, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::segments::Segments;
use crate::setting::Param;
use crate::source::Source;
use crate::traffic::Traffic;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Part, Reads};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use ureq::Body;
use ureq::http::Response;

const CONCURRENCY: Param = Param::new("concurrency", 8, 1, 256);
const KEPT: Param = Param::switch("kept");
const PART: Param = Param::new("part_bytes", 8 << 20, 64 << 10, 1 << 30);

pub(super) const HTTP_RANGED: Method = Method {
    name: "http-ranged",
    about: "GET of ranges by the crate ureq, HTTP/1.1, by threads that take ranges in turn; a client for each reading, \
            or with kept=1 for all",
    reads: Reads::Url,
    feeding: Feeding::AnyOrder,
    parts: true,
    tls: true,
    params: &[CONCURRENCY, KEPT, PART],
    build: |settings| {
        let idle_connections = settings.size(&CONCURRENCY);
        let client = ClientSettings { buffer_bytes: CLIENT_BUFFER_BYTES, idle_connections };
        Ok(Box::new(RangedReader {
            client: ReadingClient::new(client, settings.is_on(&KEPT)),
            part_bytes: settings.get(&PART),
            threads: settings.get(&CONCURRENCY),
            traffic: Traffic::default(),
        }))
    },
    ..Method::DEFAULT
};

struct RangedReader {
    client: ReadingClient,
    part_bytes: u64,
    threads: u64,
    traffic: Traffic,
}

impl Reader for RangedReader {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        self.client.prepare(source)
    }

    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let mut made = None;
        let client = self.client.for_reading(source, &mut made)?;
        let asked = source.as_part().map_or(0..u64::MAX, Part::range);
        if asked.is_empty() {
            return Ok(Consumer::new(visit).finish());
        }
        let first_end = asked.end.min(asked.start.saturating_add(self.part_bytes));
        let first = client.get_range(&(asked.start..first_end))?;
        if client::is_empty(&first) {
            self.traffic = Traffic { requests: Some(1), first_byte: None };
            return Ok(Consumer::new(visit).finish());
        }
        let (_, size_bytes) = client::range_of(&first)?;
        let start = asked.start;
        if size_bytes < start {
            return Err(client::failure("the answer is about another range"));
        }
        let content = Content { client, size_bytes, start, first: Mutex::new(Some(first)) };
        let parts = Segments::new(start..asked.end.min(size_bytes), self.part_bytes)
            .run_on_threads(self.threads, |segments| content.visit(segments, visit))?;
        let (answers, traffic): (Vec<Answer>, Vec<Traffic>) = parts.into_iter().unzip();
        self.traffic = traffic.into_iter().fold(Traffic::default(), Traffic::merge);
        Ok(Answer::of_parts(answers))
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }
}

/// The content that the threads read.
struct Content<'a> {
    client: &'a Client,
    size_bytes: u64,
    /// Offset of the first range.
    start: u64,
    /// The answer to the request for the first range, until a thread takes it.
    first: Mutex<Option<Response<Body>>>,
}

impl Content<'_> {
    /// Reads ranges until none is left.
    fn visit(&self, segments: &Segments, visit: Visit) -> Result<(Answer, Traffic), Fault> {
        let mut buffer = Buffer::new(CLIENT_BUFFER_BYTES)?;
        let mut consumer = Consumer::new(visit);
        let mut traffic = Traffic::default();
        while let Some(range) = segments.take() {
            let mut body = TimedBody::new(self.answer(&range)?.into_body().into_reader());
            let length = drain(&mut body, &mut buffer[..CLIENT_BUFFER_BYTES], &mut consumer)
                .map_err(|fault| fault_in_whole(&range, fault))?;
            client::check_length(&range, length)?;
            traffic = traffic.merge(body.traffic());
        }
        Ok((consumer.finish(), traffic))
    }

    /// The answer to the request for a range, which must have that range.
    fn answer(&self, range: &Range<u64>) -> Result<Response<Body>, Fault> {
        let is_first = range.start == self.start;
        let first = is_first.then(|| self.first.lock().unwrap_or_else(PoisonError::into_inner).take());
        let first = first.flatten();
        let answer = first.map_or_else(|| self.client.get_range(range), Ok)?;
        if client::range_of(&answer)? != (range.clone(), self.size_bytes) {
            return Err(client::failure("the answer is about another range"));
        }
        Ok(answer)
    }
}

/// Turns the offset of an error within a range into the offset in the whole content.
fn fault_in_whole(range: &Range<u64>, fault: Fault) -> Fault {
    match fault {
        Fault::Io { at: Some(at), cause } => Fault::at(range.start + at, cause),
        fault => fault,
    }
}
