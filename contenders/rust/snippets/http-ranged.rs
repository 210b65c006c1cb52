// needs: the crate ureq
use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use ureq::Agent;
use ureq::http::Response;

const PART_BYTES: u64 = 8388608; // = part_bytes
const CONCURRENCY: usize = 8; // = concurrency

/// Adds up `count` over the bytes of a URL, in any order: threads request the next range until none
/// is left.
pub fn total(url: &str, count: impl Fn(&[u8]) -> u64 + Sync) -> io::Result<u64> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .max_idle_connections(CONCURRENCY)
        .max_idle_connections_per_host(CONCURRENCY)
        .build()
        .into();
    let next = AtomicU64::new(0);
    let work = || -> io::Result<u64> {
        let mut buffer = vec![0; 131072];
        let mut total = 0;
        loop {
            let start = next.fetch_add(PART_BYTES, Ordering::Relaxed);
            let range = format!("bytes={start}-{}", start + PART_BYTES - 1);
            let response = agent.get(url).header("Range", range).call().map_err(ureq::Error::into_io)?;
            match response.status().as_u16() {
                206 if is_at(start, &response) => {}
                // Beyond the end.
                416 => return Ok(total),
                status => return Err(io::Error::other(format!("status {status} to a range"))),
            }
            let mut body = response.into_body().into_reader();
            loop {
                match body.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(length) => total += count(&buffer[..length]),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..CONCURRENCY).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).sum()
    })
}

/// Whether the answer begins where it was asked to.
fn is_at<B>(start: u64, response: &Response<B>) -> bool {
    let range = response.headers().get("Content-Range").and_then(|value| value.to_str().ok());
    range.is_some_and(|range| range.starts_with(&format!("bytes {start}-")))
}
