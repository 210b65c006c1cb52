//! Tests the methods that read URLs: correct answers from a correct server, and failures from
//! servers that answer something else.

use crate::server::{Answer, Request, Server};
use readlab_protocol::{BlockBytes, BlockProof, Part, Places, SampleLine};
use readlab_rust::{Reading, Work};
use std::ops::Range;
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

const RANGES_METHODS: [&str; 2] = ["http-ranges", "http-multirange"];

/// Ranges that overlap, touch each other, come again and are in no order. The last ends with the
/// content.
const RANGES: [Range<usize>; 8] =
    [9000..9500, 0..1, 100..300, 200..250, 300..301, 5000..6000, 0..1, 69_990..70_000];

/// The number of bytes of `RANGES`, of which 50 and 1 are read twice.
const RANGES_BYTES: u64 = 500 + 1 + 200 + 50 + 1 + 1000 + 1 + 10;

fn places(ranges: &[Range<usize>]) -> Places {
    let lengths = ranges.iter().map(|range| range.len() as u64).collect();
    let offsets = ranges.iter().map(|range| range.start as u64).collect();
    Places { file: "-".into(), block_bytes: BlockBytes::Each(lengths), offsets }
}

/// The newlines of the ranges, and the proof of each range.
fn truth_of_ranges(content: &[u8], ranges: &[Range<usize>]) -> (u64, BlockProof) {
    let newlines =
        |range: &Range<usize>| content[range.clone()].iter().filter(|byte| **byte == b'\n').count();
    let values: Vec<u64> = ranges.iter().map(|range| newlines(range) as u64).collect();
    let proofs = (0..).zip(&values).map(|(number, value)| BlockProof::from_block(number, *value));
    (values.iter().sum(), proofs.fold(BlockProof::default(), BlockProof::merge))
}

/// The correct answer to a request for one range or several.
fn answer_ranges(request: &Request, content: &[u8]) -> Answer {
    match &request.ranges()[..] {
        [] | [_] => request.answer(content),
        ranges => {
            let parts: Vec<_> = ranges.iter().map(|range| (range.clone(), &content[range.clone()])).collect();
            Answer::parts(&parts, content.len())
        }
    }
}

fn reading_of_ranges(method: &str, url: &str, settings: &[(&str, u64)], ranges: &[Range<usize>]) -> Reading {
    reading(method, Work::Newlines, url, settings).ranges(Some(places(ranges)))
}

#[test]
fn each_range_of_a_list_is_read_proven_and_timed() {
    let bytes = content(70_000);
    let (newlines, proof) = truth_of_ranges(&bytes, &RANGES);
    let server = Server::start(move |request| answer_ranges(request, &bytes));
    // With gaps up to 10 bytes, the ranges from the third to the fifth are one, with gaps up to 100
    // bytes also the second, which ends 99 bytes before.
    for (method, settings, requests, read_bytes) in [
        ("http-ranges", vec![("kept", 0)], 8, Some(RANGES_BYTES)),
        ("http-ranges", vec![("kept", 1), ("concurrency", 1)], 8, Some(RANGES_BYTES)),
        ("http-ranges", vec![("merge_bytes", 10)], 6, Some(RANGES_BYTES - 50)),
        ("http-ranges", vec![("merge_bytes", 100)], 5, Some(RANGES_BYTES - 50 + 99)),
        ("http-multirange", vec![], 1, None),
        ("http-multirange", vec![("ranges", 3)], 3, None),
        ("http-multirange", vec![("ranges", 7), ("kept", 1), ("concurrency", 1)], 2, None),
        ("http-multirange", vec![("merge_bytes", 100)], 1, None),
    ] {
        let what = format!("{method} {settings:?}");
        let mut reading = reading_of_ranges(method, &server.url, &settings, &RANGES);
        reading.prepare().unwrap();
        for _ in 0..2 {
            assert_eq!(reading.read().unwrap().blocks, Some(proof), "{what}");
            let sample = reading.sample().unwrap();
            assert_eq!((sample.bytes, sample.newlines), (Some(RANGES_BYTES), Some(newlines)), "{what}");
            assert_eq!((sample.requests, sample.first_byte_ns.is_some()), (Some(requests), true), "{what}");
            match read_bytes {
                Some(_) => assert_eq!(sample.read_bytes, read_bytes, "{what}"),
                // The heads of the parts belong to the answer.
                None => assert!(sample.read_bytes > Some(RANGES_BYTES), "{what}: {sample:?}"),
            }
        }
        assert_eq!(reading.take_latencies().unwrap().count(), 4 * RANGES.len() as u64, "{what}");
    }
}

#[test]
fn a_server_may_reorder_and_join_the_parts_of_an_answer() {
    type Ranges = Vec<Range<usize>>;
    let bytes = content(70_000);
    let (newlines, proof) = truth_of_ranges(&bytes, &RANGES);
    let reversed = |ranges: Ranges| -> Ranges { ranges.into_iter().rev().collect() };
    // The ranges up to 301 in one part, and all others as they are.
    let joined = |ranges: Ranges| -> Ranges {
        let apart = ranges.into_iter().filter(|range| range.start >= 1000);
        std::iter::once(0..301).chain(apart).collect()
    };
    let span = |_: Ranges| -> Ranges { std::iter::once(0..70_000).collect() };
    let changes: [fn(Ranges) -> Ranges; 3] = [reversed, joined, span];
    for change in changes {
        let bytes = bytes.clone();
        let server = Server::start(move |request| match &change(request.ranges())[..] {
            [range] => Answer::part(range.clone(), bytes.len(), &bytes[range.clone()]),
            ranges => {
                let parts: Vec<_> =
                    ranges.iter().map(|range| (range.clone(), &bytes[range.clone()])).collect();
                Answer::parts(&parts, bytes.len())
            }
        });
        let answer = reading_of_ranges("http-multirange", &server.url, &[], &RANGES).read().unwrap();
        assert_eq!((answer.newlines, answer.blocks), (Some(newlines), Some(proof)));
    }
}

/// The reason why the method does not read the ranges from this server.
fn ranges_failure(
    method: &str,
    answer: impl Fn(&Request, &[u8]) -> Answer + Send + Sync + 'static,
) -> String {
    let content = content(70_000);
    let server = Server::start(move |request| answer(request, &content));
    let url = format!("{}?signature=secret", server.url);
    let error = reading_of_ranges(method, &url, &[], &RANGES).read().unwrap_err().to_string();
    let cause = error.strip_prefix(&format!("{}: ", server.url));
    cause.unwrap_or_else(|| panic!("{error}")).to_owned()
}

#[test]
fn an_answer_without_the_ranges_is_a_failure_without_the_query() {
    for (method, asked) in [("http-ranges", "a range"), ("http-multirange", "several ranges")] {
        let whole = |_: &Request, content: &[u8]| Answer::new("200 OK", "", content);
        assert_eq!(ranges_failure(method, whole), format!("status 200 OK to {asked}"));
        let beyond = |_: &Request, _: &[u8]| Answer::new("416 Range Not Satisfiable", "", b"");
        assert_eq!(ranges_failure(method, beyond), format!("status 416 Range Not Satisfiable to {asked}"));
        let unsaid = |_: &Request, content: &[u8]| Answer::new("206 Partial Content", "", content);
        assert_eq!(ranges_failure(method, unsaid), "the answer has no Content-Range");
        let moved = |_: &Request, content: &[u8]| Answer::part(20_000..20_010, content.len(), &content[..10]);
        assert_eq!(ranges_failure(method, moved), "the answer is about another range");
    }
    let short = |request: &Request, content: &[u8]| {
        let range = request.range(content).unwrap();
        Answer::part(range.clone(), content.len(), &content[range.start..range.end - 1])
    };
    assert!(ranges_failure("http-ranges", short).contains(" instead of "));
    let cut = |request: &Request, content: &[u8]| answer_ranges(request, content).cut(20);
    assert!(!ranges_failure("http-multirange", cut).is_empty());
}

#[test]
fn an_answer_with_other_parts_than_the_ranges_is_a_failure() {
    type Change = for<'c> fn(Vec<Range<usize>>, &'c [u8]) -> Vec<(Range<usize>, &'c [u8])>;
    fn right(ranges: Vec<Range<usize>>, content: &[u8]) -> Vec<(Range<usize>, &[u8])> {
        ranges.into_iter().map(|range| (range.clone(), &content[range])).collect()
    }
    let missing: Change = |ranges, content| right(ranges[..7].to_vec(), content);
    let foreign: Change = |ranges, content| {
        right(
            ranges.into_iter().map(|range| if range.start == 5000 { 5001..6001 } else { range }).collect(),
            content,
        )
    };
    let repeated: Change = |ranges, content| right([&ranges[..], &ranges[..1]].concat(), content);
    let shorter: Change = |ranges, content| {
        right(ranges, content).into_iter().map(|(range, bytes)| (range, &bytes[..bytes.len() - 1])).collect()
    };
    for (change, why) in [
        (missing, "the answer lacks the range at byte 69990"),
        (foreign, "the answer is about another range"),
        (repeated, "the answer has more parts than ranges"),
        (shorter, "a part has more or fewer bytes than its range"),
    ] {
        let answer = move |request: &Request, content: &[u8]| {
            Answer::parts(&change(request.ranges(), content), content.len())
        };
        assert_eq!(ranges_failure("http-multirange", answer), why);
    }
}

#[test]
fn a_method_of_ranges_reads_nothing_else() {
    for method in RANGES_METHODS {
        let server = Server::start(|request| request.answer(b"x"));
        let error = reading(method, Work::Newlines, &server.url, &[]).read().unwrap_err().to_string();
        assert!(error.ends_with("no list of ranges was given"), "{error}");
    }
}
