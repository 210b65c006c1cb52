//! Tests the methods that read URLs: correct answers from a correct server, and failures from
//! servers that answer something else.

use crate::server::{Answer, Request, Server};
use readlab_protocol::{Part, SampleLine};
use readlab_rust::{Reading, Work};
use std::path::Path;

const METHODS: [&str; 2] = ["http", "http-ranged"];
/// The smallest possible part, so that little content has several.
const PART_BYTES: usize = 64 << 10;

/// Content with lines of varying length.
fn content(size: usize) -> Vec<u8> {
    (0..size).map(|at| if at % 7 == 3 || at % 113 == 0 { b'\n' } else { (at % 251) as u8 }).collect()
}

fn reading(method: &str, work: Work, url: &str, settings: &[(&str, u64)]) -> Reading {
    let scan = if work == Work::Discard { "-" } else { "scalar" };
    Reading::new(method, scan, work, Path::new(url), settings.iter().copied()).unwrap()
}

/// The two readings of one turn.
fn samples(mut reading: Reading) -> [SampleLine; 2] {
    reading.prepare().unwrap();
    [reading.sample().unwrap(), reading.sample().unwrap()]
}

/// The reason why the method does not read from this server.
fn failure(method: &str, answer: impl Fn(&Request, &[u8]) -> Answer + Send + Sync + 'static) -> String {
    let content = content(3 * PART_BYTES + 1);
    let server = Server::start(move |request| answer(request, &content));
    let url = format!("{}?signature=secret", server.url);
    let settings: &[(&str, u64)] = if method == "http" { &[] } else { &[("part_bytes", PART_BYTES as u64)] };
    let error = reading(method, Work::Sum, &url, settings).read().unwrap_err().to_string();
    let cause = error.strip_prefix(&format!("{}: ", server.url));
    cause.unwrap_or_else(|| panic!("{error}")).to_owned()
}

#[test]
fn a_stream_is_read_whole_by_a_client_for_each_reading_or_for_all() {
    for size in [0, 1, PART_BYTES + 1, 3_000_001] {
        let bytes = content(size);
        let sum = bytes.iter().copied().fold(0, u8::wrapping_add);
        let server = Server::start(move |request| request.answer(&bytes));
        for kept in [0, 1] {
            for sample in samples(reading("http", Work::Sum, &server.url, &[("kept", kept)])) {
                assert_eq!((sample.bytes, sample.sum), (Some(size as u64), Some(sum.into())));
                assert_eq!((sample.requests, sample.first_byte_ns.is_some()), (Some(1), size > 0));
                assert!(sample.first_byte_ns.is_none_or(|first| first <= sample.wall_ns));
            }
        }
    }
}

#[test]
fn ranges_add_up_to_the_whole() {
    for size in [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 20 * PART_BYTES + 7] {
        let bytes = content(size);
        let newlines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let server = Server::start(move |request| request.answer(&bytes));
        for (kept, concurrency) in [(0, 1), (0, 3), (1, 1), (1, 3), (0, 40)] {
            let settings = [("kept", kept), ("concurrency", concurrency), ("part_bytes", PART_BYTES as u64)];
            for sample in samples(reading("http-ranged", Work::Newlines, &server.url, &settings)) {
                let found = (sample.bytes, sample.newlines);
                assert_eq!(found, (Some(size as u64), Some(newlines)), "{size} {settings:?}");
                let parts = size.div_ceil(PART_BYTES).max(1) as u64;
                assert_eq!((sample.requests, sample.first_byte_ns.is_some()), (Some(parts), size > 0));
            }
        }
    }
}

#[test]
fn only_the_part_is_requested_and_it_ends_with_the_content() {
    let bytes = content(5 * PART_BYTES + 7);
    let size = bytes.len() as u64;
    let content = bytes.clone();
    let server = Server::start(move |request| match request.range(&content) {
        Some(_) => request.answer(&content),
        None => Answer::new("400 Bad Request", "", b""),
    });
    let page = 4096;
    for (start_bytes, length_bytes) in [
        (0, page),
        (page, 3 * PART_BYTES as u64),
        (16 * page, size),
        (size - 7, 7),
        (page, 0),
        (100 * page, page),
    ] {
        let part = Part { start_bytes, length_bytes };
        let start = start_bytes.min(size);
        let end = part.range().end.min(size);
        let newlines = bytes[start as usize..end as usize].iter().filter(|byte| **byte == b'\n').count();
        for method in METHODS {
            let settings: &[(&str, u64)] =
                if method == "http" { &[] } else { &[("part_bytes", PART_BYTES as u64)] };
            let reading = reading(method, Work::Newlines, &server.url, settings).part(part).unwrap();
            for sample in samples(reading) {
                let found = (sample.bytes, sample.newlines);
                assert_eq!(found, (Some(end - start), Some(newlines as u64)), "{method} {part:?}");
            }
        }
    }
}

#[test]
fn an_answer_with_another_range_than_the_part_is_a_failure() {
    for method in METHODS {
        let whole = Server::start(|_| Answer::new("200 OK", "", &[b'x'; 9000]));
        let moved = Server::start(|_| Answer::part(0..100, 9000, &[b'x'; 100]));
        let short = Server::start(|_| Answer::part(4096..4196, 9000, &[b'x'; 99]));
        for (server, why) in [
            (whole, "status 200 OK to a range"),
            (moved, "the answer is about another range"),
            (short, "99 bytes instead of 100 in a range"),
        ] {
            let part = Part { start_bytes: 4096, length_bytes: 100 };
            let reading = reading(method, Work::Sum, &server.url, &[]).part(part);
            let error = reading.unwrap().read().unwrap_err().to_string();
            assert!(error.ends_with(why), "{method}: {error}");
        }
    }
}

#[test]
fn empty_content_may_be_answered_whole() {
    let server = Server::start(|_| Answer::new("200 OK", "", b""));
    let answer = reading("http-ranged", Work::Sum, &server.url, &[]).read().unwrap();
    assert_eq!((answer.bytes, answer.sum), (Some(0), Some(0)));
}

#[test]
fn a_request_asks_for_the_content_as_it_is() {
    for method in METHODS {
        let server = Server::start(|request| match request.header("accept-encoding") {
            Some("identity") => request.answer(b"x"),
            _ => Answer::new("400 Bad Request", "", b""),
        });
        assert_eq!(reading(method, Work::Discard, &server.url, &[]).read().unwrap().bytes, Some(1));
    }
}

#[test]
fn only_a_kept_connection_stays_open() {
    let server = Server::start(|request| match request.header("connection") {
        Some("close") => request.answer(b"closed"),
        _ => request.answer(b"kept"),
    });
    for (kept, bytes) in [(0, 6), (1, 4)] {
        let answer = reading("http", Work::Discard, &server.url, &[("kept", kept)]).read().unwrap();
        assert_eq!(answer.bytes, Some(bytes));
    }
}

#[test]
fn an_answer_that_is_not_the_content_is_a_failure_without_the_query() {
    for method in METHODS {
        let encoded = |request: &Request, content: &[u8]| {
            let range = request.range(content).map_or(0..content.len(), |range| range);
            let headers =
                format!("Content-Range: bytes {}-{}/{}\r\n", range.start, range.end - 1, content.len());
            let status = if request.header("range").is_some() { "206 Partial Content" } else { "200 OK" };
            Answer::new(status, &format!("Content-Encoding: gzip\r\n{headers}"), &content[range])
        };
        assert_eq!(failure(method, encoded), "the answer has the content encoding gzip");
        let redirect = |_: &Request, _: &[u8]| Answer::new("302 Found", "Location: /other\r\n", b"");
        assert!(failure(method, redirect).starts_with("status 302 Found"));
        let changed = |_: &Request, _: &[u8]| Answer::new("412 Precondition Failed", "", b"");
        assert!(failure(method, changed).starts_with("status 412 Precondition Failed"));
        let truncated = |request: &Request, content: &[u8]| request.answer(content).cut(10);
        let why = failure(method, truncated);
        assert!(why.contains(" at byte "), "{why}");
    }
}

#[test]
fn an_answer_that_is_not_the_range_is_a_failure() {
    let whole = |_: &Request, content: &[u8]| Answer::new("200 OK", "", content);
    assert_eq!(failure("http-ranged", whole), "status 200 OK to a range");
    let moved = |request: &Request, content: &[u8]| {
        let range = request.range(content).unwrap();
        let start = range.start + usize::from(range.start > 0);
        Answer::part(start..range.end, content.len(), &content[start..range.end])
    };
    assert_eq!(failure("http-ranged", moved), "the answer is about another range");
    let grown = |request: &Request, content: &[u8]| {
        let range = request.range(content).unwrap();
        Answer::part(range.clone(), content.len() + range.start, &content[range])
    };
    assert_eq!(failure("http-ranged", grown), "the answer is about another range");
    let short = |request: &Request, content: &[u8]| {
        let range = request.range(content).unwrap();
        Answer::part(range.clone(), content.len(), &content[range.start..range.end - 1])
    };
    assert!(failure("http-ranged", short).contains(" instead of "));
    let unsaid = |request: &Request, content: &[u8]| {
        Answer::new("206 Partial Content", "", &content[request.range(content).unwrap()])
    };
    assert_eq!(failure("http-ranged", unsaid), "the answer has no Content-Range");
}

#[test]
fn a_path_is_not_read_as_a_url() {
    for method in METHODS {
        let error = reading(method, Work::Sum, "/f?x", &[]).read().unwrap_err().to_string();
        assert_eq!(error, "/f?x: this is no http:// or https:// URL");
    }
}
