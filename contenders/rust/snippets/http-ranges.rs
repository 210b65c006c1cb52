// needs: the crate ureq
use std::io::{self, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use ureq::Agent;

const CONCURRENCY: usize = 8; // = concurrency

/// Adds up `count` over these ranges of a URL, in any order: threads request the next range until
/// none is left.
pub fn total(url: &str, ranges: &[Range<u64>], count: impl Fn(&[u8]) -> u64 + Sync) -> io::Result<u64> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .max_idle_connections(CONCURRENCY)
        .max_idle_connections_per_host(CONCURRENCY)
        .build()
        .into();
    let next = AtomicUsize::new(0);
    let work = || -> io::Result<u64> {
        let mut bytes = Vec::new();
        let mut total = 0;
        while let Some(range) = ranges.get(next.fetch_add(1, Ordering::Relaxed)) {
            let asked = format!("{}-{}", range.start, range.end - 1);
            let request = agent.get(url).header("Range", format!("bytes={asked}"));
            let response = request.call().map_err(ureq::Error::into_io)?;
            let found = response.headers().get("Content-Range").and_then(|value| value.to_str().ok());
            if !found.is_some_and(|found| found.starts_with(&format!("bytes {asked}/"))) {
                return Err(io::Error::other(format!("status {} to a range", response.status())));
            }
            bytes.clear();
            response.into_body().into_reader().read_to_end(&mut bytes)?;
            total += count(&bytes);
        }
        Ok(total)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..CONCURRENCY).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).sum()
    })
}
