//! Tests sessions of the program with servers that answer correctly, rarely correctly, or with
//! something else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use readlab_protocol::{BlockBytes, BlockProof, Message, Places};
use server::{Answer, Request, Server};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

#[path = "../../rust/tests/server.rs"]
mod server;

const OBJECTS: [&str; 4] = ["get", "stream", "ranged", "coalesced"];
const URLS: [&str; 2] = ["reqwest", "reqwest-ranged"];
const ETAG: &str = "\"right\"";
/// A size of several of the smallest ranges.
const SIZE: usize = 300_001;

/// The offsets and lengths of ranges, of which one comes twice.
const RANGES: [(u64, u64); 4] = [(250_000, 10), (0, 1000), (1500, 500), (0, 1000)];

/// The list of these ranges.
static LIST: LazyLock<PathBuf> = LazyLock::new(|| {
    let (offsets, lengths): (Vec<u64>, Vec<u64>) = RANGES.iter().copied().unzip();
    let places = Places { file: "-".into(), block_bytes: BlockBytes::Each(lengths), offsets };
    let list = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ranges");
    fs::write(&list, places.to_bytes()).unwrap();
    list
});

fn content() -> Vec<u8> {
    (0..SIZE).map(|at| if at % 7 == 3 { b'\n' } else { (at % 251) as u8 }).collect()
}

fn correct_answer(request: &Request) -> Answer {
    match request.is_head() {
        true => Answer::head(SIZE),
        false => request.answer(&content()),
    }
}

/// The sample of one turn, or why it failed.
fn last_message(method: &str, server: &Server) -> String {
    let output = turn(method, server);
    let is_about_reading =
        |line: &&str| !["\"done\"", "\"latencies\""].iter().any(|word| line.contains(word));
    output.lines().rfind(is_about_reading).unwrap().to_owned()
}

/// The messages of one turn, with the target of the method's kind.
fn turn(method: &str, server: &Server) -> String {
    let (endpoint, url) = (server.url.trim_end_matches("/f"), format!("{}?signature=secret", server.url));
    let target = if URLS.contains(&method) { "-" } else { "s3://bucket/f" };
    let small: &[&str] = match method {
        "ranged" | "reqwest-ranged" => &["part_bytes=65536"],
        "coalesced" => &["part_bytes=65536", "coalesce_bytes=131072"],
        "get_ranges" => &["merge_bytes=500"],
        _ => &[],
    };
    let mut program = Command::new(env!("CARGO_BIN_EXE_readlab-rust-objects"))
        .args(["read", method, "-", "sum", target])
        .args(small)
        .envs([("AWS_ENDPOINT_URL_S3", endpoint), ("AWS_REGION", "here"), ("READLAB_ETAG", ETAG)])
        .env("READLAB_RANGES", &*LIST)
        .envs([("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("READLAB_TARGET", &url)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    program.stdin.take().unwrap().write_all(b"go 0 1\n").unwrap();
    let output = String::from_utf8(program.wait_with_output().unwrap().stdout).unwrap();
    assert!(!output.contains("secret"), "{output}");
    output
}

fn assert_right(method: &str, message: &str) {
    let sum = content().into_iter().fold(0, u8::wrapping_add);
    let proof = format!("\"bytes\":{SIZE},\"sum\":{sum}}}");
    assert!(message.ends_with(&proof), "{method}: {message} has not {proof}");
}

/// Checks that each method fails with this server, with this part in the message.
fn assert_failure(methods: &[&str], part: &str, answer: fn(&Request) -> Answer) {
    let server = Server::start(answer);
    for method in methods {
        let message = last_message(method, &server);
        assert!(message.contains("\"failed\"") && message.contains(part), "{method}: {message}");
    }
}

#[test]
fn a_correct_server_gives_correct_answers() {
    let server = Server::start(|request| {
        assert_eq!(request.header("accept-encoding"), Some("identity"));
        assert_eq!(request.header("if-match"), Some(ETAG));
        correct_answer(request)
    });
    for (method, requests) in OBJECTS.into_iter().chain(URLS).zip([1, 1, 5, 4, 1, 5]) {
        let message = last_message(method, &server);
        assert_right(method, &message);
        assert!(message.contains(&format!("\"requests\":{requests},")), "{method}: {message}");
        assert!(message.contains("\"first_byte_ns\":"), "{method}: {message}");
    }
}

#[test]
fn the_ranges_of_a_list_are_joined_across_small_gaps_and_each_is_proven() {
    let server = Server::start(correct_answer);
    let output = turn("get_ranges", &server);
    let messages: Vec<Message> = output.lines().map(|line| Message::parse(line).unwrap()).collect();
    let [_, _, Message::Sample(sample), Message::Latencies(latencies), Message::Done { .. }] = &messages[..]
    else {
        panic!("{output}")
    };
    let histogram = STANDARD.decode(&latencies.histogram).unwrap();
    let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &histogram[..]).unwrap();
    assert_eq!(histogram.len(), RANGES.len() as u64, "each range counts");
    assert!(histogram.min() > 0, "{output}");
    let sum = |(start, length): (u64, u64)| {
        content()[start as usize..(start + length) as usize].iter().copied().fold(0, u8::wrapping_add)
    };
    let sums = RANGES.map(sum);
    let proofs = (0..).zip(sums).map(|(number, sum)| BlockProof::from_block(number, sum.into()));
    let BlockProof { blocks, products } = proofs.fold(BlockProof::default(), BlockProof::merge);
    assert_eq!((sample.blocks, sample.products), (Some(blocks), Some(products)), "{output}");
    let sum_of_all = sums.into_iter().fold(0, u8::wrapping_add);
    assert_eq!((sample.bytes, sample.sum), (Some(2510), Some(sum_of_all.into())), "{output}");
    // The first two thousand bytes, of which 500 are between ranges, and the ten far from them.
    assert_eq!((sample.requests, sample.read_bytes), (Some(2), Some(2010)), "{output}");
}

#[test]
fn a_repeated_request_is_counted() {
    for method in OBJECTS {
        let count = AtomicUsize::new(0);
        let server = Server::start(move |request| match count.fetch_add(1, Ordering::Relaxed) {
            0 => Answer::new("503 Slow Down", "", b"<Code>SlowDown</Code>"),
            _ => correct_answer(request),
        });
        let message = last_message(method, &server);
        assert_right(method, &message);
        assert!(message.contains("\"retries\":1,"), "{method}: {message}");
    }
}

#[test]
fn a_server_that_is_always_busy_is_given_up() {
    assert_failure(&OBJECTS[..3], "503 Service Unavailable: SlowDown", |_| {
        Answer::new("503 Slow Down", "", b"<Code>SlowDown</Code><AWSAccessKeyId>secret</AWSAccessKeyId>")
    });
    assert_failure(&URLS, "status 503", |_| Answer::new("503 Slow Down", "", b""));
}

#[test]
fn an_answer_that_is_not_the_content_is_a_failure() {
    let all: Vec<&str> = OBJECTS.into_iter().chain(URLS).collect();
    assert_failure(&all, "412 Precondition Failed", |_| Answer::new("412 Precondition Failed", "", b""));
    assert_failure(&all, "302 Found", |_| Answer::new("302 Found", "Location: /other\r\n", b""));
    assert_failure(&all, "content encoding", |_| Answer::new("200 OK", "Content-Encoding: gzip\r\n", b"x"));
    assert_failure(&all, "another version", |_| Answer::new("200 OK", "ETag: \"wrong\"\r\n", b"x"));
    assert_failure(&["get", "stream", "reqwest"], "before message length", |request| {
        correct_answer(request).cut(10)
    });
}

#[test]
fn an_answer_that_is_not_the_range_is_a_failure() {
    fn whole(request: &Request) -> Answer {
        if request.is_head() { correct_answer(request) } else { Answer::new("200 OK", "", &content()) }
    }
    assert_failure(&["ranged", "coalesced", "get_ranges"], "non-partial", whole);
    assert_failure(&["reqwest-ranged"], "status 200 OK to a range", whole);
    fn moved(request: &Request) -> Answer {
        match request.range(&content()) {
            Some(range) => {
                Answer::part(range.start + 1..range.end, SIZE, &content()[range.start + 1..range.end])
            }
            None => correct_answer(request),
        }
    }
    assert_failure(&["ranged", "coalesced", "get_ranges"], "Requested ", moved);
    assert_failure(&["reqwest-ranged"], "another range", moved);
}
