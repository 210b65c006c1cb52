//! The methods of the crate `object_store`.
//!
//! A method keeps a store for all readings, or makes one for each. The methods differ only in how
//! they read from the store. Requests are counted in [`traffic`], where they are sent.

mod store;
mod traffic;

use crate::async_reader::{self, AsyncReader};
use crate::methods::{COALESCE, CONCURRENCY, KEPT, MERGE, PART};
use crate::{failure, ranges};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use object_store::{OBJECT_STORE_COALESCE_DEFAULT, coalesce_ranges};
use readlab_protocol::contender::{Job, Latencies, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;
use readlab_protocol::{Answer, BlockProof, LatenciesLine, Work};
use std::iter;
use std::mem;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use store::{Location, Store};
use traffic::Counts;

/// A method of reading an object from a store.
#[async_trait]
pub(crate) trait ObjectReader: Send + Sync + 'static {
    fn from_job(job: &Job) -> Self;

    async fn read(&self, store: &Store, work: Work) -> Result<Answer, Refusal>;

    /// The latencies of readings since they were last taken, if the method measures them.
    fn take_latencies(&self) -> Option<Latencies> {
        None
    }
}

struct Objects<W> {
    reader: W,
    work: Work,
    location: Location,
    /// The store, if it is kept from reading to reading.
    kept: Option<Store>,
}

pub(crate) fn open<W: ObjectReader>(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    async_reader::open(&job, |target| {
        let location = Location::from_environment(target)?;
        let kept = job.settings.is_on(&KEPT).then(|| Store::make(&location)).transpose()?;
        Ok(Objects { reader: W::from_job(&job), work: job.work, location, kept })
    })
}

#[async_trait]
impl<W: ObjectReader> AsyncReader for Objects<W> {
    async fn read(&self) -> Result<Reading, Refusal> {
        let made;
        let store = match &self.kept {
            Some(store) => store,
            None => {
                made = Store::make(&self.location)?;
                &made
            }
        };
        store.traffic.restart();
        let answer = self.reader.read(store, self.work).await?;
        let Counts { requests, failures, first_byte, bytes, .. } = store.traffic.counts();
        let read_bytes = answer.blocks.map(|_| bytes);
        Ok(Reading { answer, first_byte, requests: Some(requests), retries: Some(failures), read_bytes })
    }

    fn take_latencies(&self) -> Option<LatenciesLine> {
        let latencies = self.reader.take_latencies()?;
        Some(LatenciesLine { histogram: latencies.encoded() })
    }
}

/// Gets the whole object in memory.
pub(crate) struct Get;

#[async_trait]
impl ObjectReader for Get {
    fn from_job(_job: &Job) -> Get {
        Get
    }

    async fn read(&self, store: &Store, work: Work) -> Result<Answer, Refusal> {
        let result = store.get(None).await?;
        let size_bytes = result.meta.size;
        let bytes = result.bytes().await.map_err(|error| failure::innermost(&error))?;
        let mut tally = Tally::new(work);
        tally.take(&bytes);
        checked_length(tally, size_bytes)
    }
}

/// Visits pieces as they arrive.
pub(crate) struct StreamedReader;

#[async_trait]
impl ObjectReader for StreamedReader {
    fn from_job(_job: &Job) -> StreamedReader {
        StreamedReader
    }

    async fn read(&self, store: &Store, work: Work) -> Result<Answer, Refusal> {
        let result = store.get(None).await?;
        let size_bytes = result.meta.size;
        let mut pieces = result.into_stream();
        let mut tally = Tally::new(work);
        while let Some(piece) = pieces.try_next().await.map_err(|error| failure::innermost(&error))? {
            tally.take(&piece);
        }
        checked_length(tally, size_bytes)
    }
}

/// Requests ranges in any order, some of them at once.
pub(crate) struct RangedReader {
    part_bytes: u64,
    concurrency: usize,
}

#[async_trait]
impl ObjectReader for RangedReader {
    fn from_job(job: &Job) -> RangedReader {
        let settings = &job.settings;
        RangedReader { part_bytes: settings.get(&PART), concurrency: settings.size(&CONCURRENCY) }
    }

    /// The size of the object comes with the answer to the first range. The other ranges are
    /// requested while the bytes of the first one arrive.
    async fn read(&self, store: &Store, work: Work) -> Result<Answer, Refusal> {
        let mut tally = Tally::new(work);
        let first = match store.get(Some(0..self.part_bytes)).await {
            // Only an empty object has no first byte.
            Err(_) if store.traffic.counts().unsatisfiable => return Ok(tally.answer()),
            first => first?,
        };
        let size_bytes = first.meta.size;
        let first = store::all_bytes(first).boxed();
        let others = ranges::cut(self.part_bytes.min(size_bytes)..size_bytes, self.part_bytes);
        let others = others.map(|range| store.part(range).boxed());
        // A future does nothing before it is polled.
        let all: Vec<_> = iter::once(first).chain(others).collect();
        let mut parts = stream::iter(all).buffer_unordered(self.concurrency);
        while let Some(bytes) = parts.try_next().await? {
            tally.take(&bytes);
        }
        checked_length(tally, size_bytes)
    }
}

/// Requests small ranges that the library joins, as it does for readers of columns.
pub(crate) struct CoalescedReader {
    part_bytes: u64,
    coalesce_bytes: u64,
    concurrency: usize,
}

#[async_trait]
impl ObjectReader for CoalescedReader {
    fn from_job(job: &Job) -> CoalescedReader {
        let settings = &job.settings;
        CoalescedReader {
            part_bytes: settings.get(&PART),
            coalesce_bytes: settings.get(&COALESCE),
            concurrency: settings.size(&CONCURRENCY),
        }
    }

    async fn read(&self, store: &Store, work: Work) -> Result<Answer, Refusal> {
        let size_bytes = store.size().await?;
        let joined = ranges::cut(0..size_bytes, self.coalesce_bytes).map(|range| self.fetch(store, range));
        let mut groups = stream::iter(joined).buffer_unordered(self.concurrency);
        let mut tally = Tally::new(work);
        while let Some(group) = groups.try_next().await? {
            group.iter().for_each(|bytes| tally.take(bytes));
        }
        checked_length(tally, size_bytes)
    }
}

impl CoalescedReader {
    /// Does the same as `get_ranges`, but each request also requires the version of the content.
    async fn fetch(&self, store: &Store, joined: Range<u64>) -> Result<Vec<Bytes>, Refusal> {
        let ranges: Vec<Range<u64>> = ranges::cut(joined, self.part_bytes).collect();
        coalesce_ranges(&ranges, |range| store.part(range), OBJECT_STORE_COALESCE_DEFAULT).await
    }
}

/// Reads the ranges of a list, which the library joins.
pub(crate) struct ListedRangesReader {
    ranges: Vec<Range<u64>>,
    merge_bytes: u64,
    /// The requests of each reading since latencies were last taken.
    readings: Mutex<Vec<TimedRequests>>,
}

#[async_trait]
impl ObjectReader for ListedRangesReader {
    fn from_job(job: &Job) -> ListedRangesReader {
        let places = job.ranges.iter();
        let ranges = places.flat_map(|it| (0..it.offsets.len()).map(move |number| it.range_of(number)));
        ListedRangesReader {
            ranges: ranges.collect(),
            merge_bytes: job.settings.get(&MERGE),
            readings: Mutex::default(),
        }
    }

    /// Does the same as `get_ranges`, but each request also requires the version of the content, and
    /// the largest gap is a parameter.
    async fn read(&self, store: &Store, work: Work) -> Result<Answer, Refusal> {
        let requests = TimedRequests::default();
        let fetch = |range| requests.part(store, range);
        let blocks = coalesce_ranges(&self.ranges, fetch, self.merge_bytes).await?;
        // The latencies are counted after the window.
        self.readings.lock().unwrap_or_else(PoisonError::into_inner).push(requests);
        let answers = (0..).zip(&self.ranges).zip(&blocks).map(|((number, range), bytes)| {
            let mut tally = Tally::new(work);
            tally.take(bytes);
            let answer = checked_length(tally, range.end - range.start)?;
            Ok(Answer { blocks: Some(BlockProof::from_block(number, answer.value())), ..answer })
        });
        Ok(Answer::of_parts(answers.collect::<Result<_, Refusal>>()?))
    }

    fn take_latencies(&self) -> Option<Latencies> {
        let readings = mem::take(&mut *self.readings.lock().unwrap_or_else(PoisonError::into_inner));
        Latencies::sum(readings.into_iter().map(|requests| requests.into_latencies(&self.ranges)).collect())
    }
}

/// The requests of a reading, with what each took.
#[derive(Default)]
struct TimedRequests(Mutex<Vec<TimedRequest>>);

struct TimedRequest {
    /// Offset of the first byte.
    start: u64,
    /// The time from the request until all its bytes were there.
    took: Duration,
}

impl TimedRequests {
    async fn part(&self, store: &Store, range: Range<u64>) -> Result<Bytes, Refusal> {
        let (start, begun) = (range.start, Instant::now());
        let bytes = store.part(range).await?;
        let request = TimedRequest { start, took: begun.elapsed() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        Ok(bytes)
    }

    /// What each of these ranges took: as long as the request that brought it. Requests do not overlap.
    fn into_latencies(self, ranges: &[Range<u64>]) -> Latencies {
        let mut requests = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        requests.sort_unstable_by_key(|request| request.start);
        let mut latencies = Latencies::default();
        for range in ranges {
            let later = requests.partition_point(|request| request.start <= range.start);
            if let Some(request) = requests[..later].last() {
                latencies.record(request.took);
            }
        }
        latencies
    }
}

/// The answer about these bytes, whose number must be the right one.
fn checked_length(tally: Tally, size_bytes: u64) -> Result<Answer, Refusal> {
    if tally.bytes() == size_bytes {
        return Ok(tally.answer());
    }
    Err(Refusal::failed(format!("{} bytes instead of {size_bytes}", tally.bytes())))
}
