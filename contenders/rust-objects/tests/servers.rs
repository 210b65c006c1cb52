//! Tests sessions of the program with servers that answer correctly, rarely correctly, or with
//! something else.

use server::{Answer, Request, Server};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

#[path = "../../rust/tests/server.rs"]
mod server;

const OBJECTS: [&str; 4] = ["get", "stream", "ranged", "coalesced"];
const URLS: [&str; 2] = ["reqwest", "reqwest-ranged"];
const ETAG: &str = "\"right\"";
/// A size of several of the smallest ranges.
const SIZE: usize = 300_001;

fn content() -> Vec<u8> {
    (0..SIZE).map(|at| if at % 7 == 3 { b'\n' } else { (at % 251) as u8 }).collect()
}

/// The correct answer.
fn correct_answer(request: &Request) -> Answer {
    match request.is_head() {
        true => Answer::head(SIZE),
        false => request.answer(&content()),
    }
}

/// The last message of one turn, with the target of the method's kind.
fn last_message(method: &str, server: &Server) -> String {
    let (endpoint, url) = (server.url.trim_end_matches("/f"), format!("{}?signature=secret", server.url));
    let target = if URLS.contains(&method) { "-" } else { "s3://bucket/f" };
    let small: &[&str] = match method {
        "ranged" | "reqwest-ranged" => &["part_bytes=65536"],
        "coalesced" => &["part_bytes=65536", "coalesce_bytes=131072"],
        _ => &[],
    };
    let mut program = Command::new(env!("CARGO_BIN_EXE_readlab-rust-objects"))
        .args(["read", method, "-", "sum", target])
        .args(small)
        .envs([("AWS_ENDPOINT_URL_S3", endpoint), ("AWS_REGION", "here"), ("READLAB_ETAG", ETAG)])
        .envs([("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("READLAB_TARGET", &url)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    program.stdin.take().unwrap().write_all(b"go 0 1\n").unwrap();
    let output = String::from_utf8(program.wait_with_output().unwrap().stdout).unwrap();
    assert!(!output.contains("secret"), "{output}");
    output.lines().rfind(|line| !line.contains("\"done\"")).unwrap().to_owned()
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
    assert_failure(&["ranged", "coalesced"], "non-partial", whole);
    assert_failure(&["reqwest-ranged"], "status 200 OK to a range", whole);
    fn moved(request: &Request) -> Answer {
        match request.range(&content()) {
            Some(range) => {
                Answer::part(range.start + 1..range.end, SIZE, &content()[range.start + 1..range.end])
            }
            None => correct_answer(request),
        }
    }
    assert_failure(&["ranged", "coalesced"], "Requested ", moved);
    assert_failure(&["reqwest-ranged"], "another range", moved);
}
