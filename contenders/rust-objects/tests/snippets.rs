//! Tests that the snippets in advice compile with the crates that they name, and count correctly.
#![allow(dead_code, reason = "a snippet is a program of its own")]

use server::{Answer, Server};
use std::ops::Range;
use std::{env, fs};

#[path = "../../rust/tests/server.rs"]
mod server;

#[path = "../snippets/coalesced.rs"]
mod coalesced;
#[path = "../snippets/get.rs"]
mod get;
#[path = "../snippets/get_ranges.rs"]
mod get_ranges;
#[path = "../snippets/ranged.rs"]
mod ranged;
#[path = "../snippets/reqwest-ranged.rs"]
mod reqwest_ranged;
#[path = "../snippets/reqwest.rs"]
mod reqwest_stream;
#[path = "../snippets/stream.rs"]
mod stream;

fn naive(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// The only test of this program, because it sets variables of the process.
#[tokio::test]
async fn every_snippet_counts_correctly() {
    rustls::crypto::ring::default_provider().install_default().unwrap();
    for size in [0, 1, 300_001, (17 << 20) + 5] {
        let bytes: Vec<u8> = (0..size).map(|at| if at % 7 == 3 { b'\n' } else { b'x' }).collect();
        let newlines = naive(&bytes);
        let end = bytes.len() as u64;
        let mut ranges = vec![end / 2..end, 0..end / 3, 0..end / 3];
        ranges.retain(|range| !range.is_empty());
        let of_range = |range: &Range<u64>| naive(&bytes[range.start as usize..range.end as usize]);
        let newlines_of_ranges: u64 = ranges.iter().map(of_range).sum();
        let server = Server::start(move |request| match request.is_head() {
            true => Answer::head(bytes.len()),
            false => request.answer(&bytes),
        });
        let endpoint = server.url.trim_end_matches("/f");
        for (name, value) in [
            ("AWS_ENDPOINT_URL_S3", endpoint),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_SKIP_SIGNATURE", "true"),
            ("AWS_REGION", "here"),
        ] {
            // SAFETY: no other thread of this program reads the environment.
            unsafe { env::set_var(name, value) };
        }
        let uri = "s3://bucket/key";
        assert_eq!(get::newlines(uri).await.unwrap(), newlines);
        assert_eq!(stream::newlines(uri).await.unwrap(), newlines);
        assert_eq!(ranged::newlines(uri).await.unwrap(), newlines);
        assert_eq!(coalesced::newlines(uri).await.unwrap(), newlines);
        assert_eq!(get_ranges::total(uri, &ranges, naive).await.unwrap(), newlines_of_ranges);
        assert_eq!(reqwest_stream::newlines(&server.url).await.unwrap(), newlines);
        assert_eq!(reqwest_ranged::newlines(&server.url).await.unwrap(), newlines);
    }
    let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/snippets")).unwrap();
    assert_eq!(files.count(), 7, "every snippet has a line above");
}
