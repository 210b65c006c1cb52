// needs: the crate ureq
use std::io::{self, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use ureq::Agent;

const CONCURRENCY: usize = 8; // = concurrency
const RANGES: usize = 64; // = ranges

/// Adds up `count` over these ranges of a URL, in any order: threads request the next ranges, many
/// at once, until none is left.
pub fn total(url: &str, ranges: &[Range<u64>], count: impl Fn(&[u8]) -> u64 + Sync) -> io::Result<u64> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .max_idle_connections(CONCURRENCY)
        .max_idle_connections_per_host(CONCURRENCY)
        .build()
        .into();
    let next = AtomicUsize::new(0);
    let work = || -> io::Result<u64> {
        let mut total = 0;
        loop {
            let first = next.fetch_add(RANGES, Ordering::Relaxed);
            if first >= ranges.len() {
                return Ok(total);
            }
            let asked = &ranges[first..ranges.len().min(first + RANGES)];
            let words: Vec<_> =
                asked.iter().map(|range| format!("{}-{}", range.start, range.end - 1)).collect();
            let request = agent.get(url).header("Range", format!("bytes={}", words.join(",")));
            let response = request.call().map_err(ureq::Error::into_io)?;
            if response.status() != 206 {
                return Err(io::Error::other(format!("status {} to ranges", response.status())));
            }
            // A single range has its Content-Range in the head of the answer.
            let single = response.headers().get("Content-Range").and_then(|value| value.to_str().ok());
            let mut answer: Vec<u8> =
                single.map_or(Vec::new(), |value| format!("Content-Range: {value}\r\n\r\n").into());
            response.into_body().into_reader().read_to_end(&mut answer)?;
            let parts = parts(&answer).ok_or_else(|| io::Error::other("the answer has other parts"))?;
            for range in asked {
                // A server may join ranges that are near each other.
                let holds =
                    |part: &&Part<'_>| part.0 <= range.start && range.end <= part.0 + part.1.len() as u64;
                let (start, bytes) =
                    parts.iter().find(holds).ok_or_else(|| io::Error::other("the answer lacks a range"))?;
                total += count(&bytes[(range.start - start) as usize..(range.end - start) as usize]);
            }
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..CONCURRENCY).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).sum()
    })
}

/// The offset of a part, and its bytes.
type Part<'a> = (u64, &'a [u8]);

/// The parts of an answer: each has a head with its range, then an empty line and its bytes.
fn parts(mut answer: &[u8]) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    while let Some(end) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
        let head = std::str::from_utf8(&answer[..end]).ok()?.to_ascii_lowercase();
        let (range, _) = head.split_once("content-range: bytes ")?.1.split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        let (bytes, rest) = answer[end + 4..].split_at_checked((last + 1).checked_sub(first)? as usize)?;
        parts.push((first, bytes));
        answer = rest;
    }
    Some(parts)
}
