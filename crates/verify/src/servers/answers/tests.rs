//! Tests of the responses: each misbehaviour is wrong only in what its name states.

use super::*;
use readlab_roster::server::request::parse_request;

const CONTENT: &[u8] = b"0123456789";
const ETAG: &str = "\"the-etag-1\"";
const RESOURCE: Resource = Resource { content: CONTENT, etag: ETAG, redirect_path: "/elsewhere" };

fn request_of_text(text: &str) -> Request {
    parse_request(text.as_bytes()).unwrap().unwrap().0
}

fn request(fields: &str) -> Request {
    request_of_text(&format!("GET /page HTTP/1.1\r\nHost: x\r\n{fields}\r\n"))
}

/// The head and the body that a server sends.
fn head_and_body(reply: &Reply) -> (String, Vec<u8>) {
    let at = reply.bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    (String::from_utf8(reply.bytes[..at].to_vec()).unwrap(), reply.bytes[at..].to_vec())
}

fn reply_parts(how: Misbehaviour, fields: &str, earlier: usize) -> (String, Vec<u8>, Reply) {
    let reply = how.reply(&request(fields), RESOURCE, earlier);
    let (head, body) = head_and_body(&reply);
    (head, body, reply)
}

const RANGE: &str = "Range: bytes=2-5\r\n";

#[test]
fn a_correct_response_is_the_requested_range_or_all_of_the_requested_version() {
    let (head, body) = head_and_body(&right_reply(&request(""), RESOURCE));
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("Content-Length: 10\r\n"), "{head}");
    assert_eq!(body, CONTENT);
    let (head, body) = head_and_body(&right_reply(&request(RANGE), RESOURCE));
    assert!(head.starts_with("HTTP/1.1 206") && head.contains("Content-Range: bytes 2-5/10\r\n"), "{head}");
    assert_eq!(body, b"2345");
    let (head, body) = head_and_body(&right_reply(&request("Range: bytes=8-9,2-2\r\n"), RESOURCE));
    assert!(
        head.contains("Content-Type: multipart/byteranges; boundary=THE-BOUNDARY-OF-PARTS\r\n"),
        "{head}"
    );
    let begin = "--THE-BOUNDARY-OF-PARTS\r\nContent-Range: bytes";
    let right =
        format!("{begin} 8-9/10\r\n\r\n89\r\n{begin} 2-2/10\r\n\r\n2\r\n--THE-BOUNDARY-OF-PARTS--\r\n");
    assert_eq!(String::from_utf8(body).unwrap(), right);
    for (fields, status) in [("If-Match: \"another\"\r\n", "412"), ("Range: bytes=10-\r\n", "416")] {
        let (head, _) = head_and_body(&right_reply(&request(fields), RESOURCE));
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{head}");
    }
    let head = request_of_text("HEAD /page HTTP/1.1\r\n\r\n");
    let (head, body) = head_and_body(&right_reply(&head, RESOURCE));
    assert!(head.contains("Content-Length: 10\r\n") && body.is_empty(), "{head}");
}

#[test]
fn error_misbehaviours_have_their_status() {
    for (how, status) in [
        (Misbehaviour::Forbidden, 403),
        (Misbehaviour::NotFound, 404),
        (Misbehaviour::InternalError, 500),
        (Misbehaviour::Busy, 503),
        (Misbehaviour::BusyTwice, 503),
        (Misbehaviour::Redirect, 307),
    ] {
        let (head, _, reply) = reply_parts(how, "", 1);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")) && reply.is_wrong, "{how:?}: {head}");
        assert_eq!(head.contains("Location: /elsewhere\r\n"), how == Misbehaviour::Redirect);
    }
    let (_, body, reply) = reply_parts(Misbehaviour::BusyTwice, "", 2);
    assert!(body == CONTENT && !reply.is_wrong);
}

#[test]
fn a_truncated_or_extended_body_has_an_unchanged_head() {
    for (how, expected, end) in [
        (Misbehaviour::CutShort, &b"01234"[..], ConnectionFate::Closes),
        (Misbehaviour::Reset, b"01234", ConnectionFate::Resets),
        (Misbehaviour::SilentAfterHead, b"", ConnectionFate::ClosesAfter(SILENCE_TIME)),
    ] {
        let (head, body, reply) = reply_parts(how, "", 0);
        assert!(head.contains("Content-Length: 10\r\n") && reply.is_wrong, "{how:?}: {head}");
        assert_eq!((body.as_slice(), reply.end), (expected, end), "{how:?}");
    }
    let (head, body, reply) = reply_parts(Misbehaviour::BytesAfterEnd, "", 0);
    assert!(head.contains("Content-Length: 10\r\n") && body.starts_with(CONTENT) && reply.is_wrong);
    assert_eq!(body.len(), CONTENT.len() + EXTRA_BYTES);
    let (head, body, _) = reply_parts(Misbehaviour::ChunksWithoutEnd, "", 0);
    assert!(head.contains("Transfer-Encoding: chunked\r\n") && !head.contains("Content-Length"), "{head}");
    assert_eq!(body, b"a\r\n0123456789\r\n");
    let silent = Misbehaviour::SilentBeforeHead.reply(&request(""), RESOURCE, 0);
    assert!(silent.bytes.is_empty() && silent.is_wrong);
}

#[test]
fn each_range_misbehaviour_is_wrong_in_one_respect() {
    for (how, status, content_range, expected) in [
        (Misbehaviour::Whole, 200, None, &b"0123456789"[..]),
        (Misbehaviour::OtherRange, 206, Some("3-6/10"), b"3456"),
        (Misbehaviour::ShorterRange, 206, Some("2-4/10"), b"234"),
        (Misbehaviour::WrongContentRange, 206, Some("3-6/10"), b"2345"),
        (Misbehaviour::ShorterPart, 206, Some("2-5/10"), b"234"),
        (Misbehaviour::LongerPart, 206, Some("2-5/10"), b"2345\n"),
    ] {
        let (head, body, reply) = reply_parts(how, RANGE, 0);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")) && reply.is_wrong, "{how:?}: {head}");
        let field = content_range.map(|range| format!("Content-Range: bytes {range}\r\n"));
        assert!(field.is_none_or(|field| head.contains(&field)), "{how:?}: {head}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", expected.len())), "{how:?}: {head}");
        assert_eq!(body, expected, "{how:?}");
    }
    // The last range has no successor, so the range before it is sent, with the same total size.
    let (head, body, _) = reply_parts(Misbehaviour::OtherRange, "Range: bytes=8-\r\n", 0);
    assert!(head.contains("Content-Range: bytes 7-8/10\r\n") && body == b"78", "{head}");
    // A request for the whole content gets no wrong range, only a wrong status.
    for how in [Misbehaviour::Whole, Misbehaviour::WrongContentRange, Misbehaviour::ShorterPart] {
        assert!(!reply_parts(how, "", 0).2.is_wrong, "{how:?}");
    }
    assert!(reply_parts(Misbehaviour::OtherRange, "", 0).0.starts_with("HTTP/1.1 206"));
}

#[test]
fn another_version_or_encoding_is_sent_for_any_request() {
    let asked = format!("If-Match: {ETAG}\r\n");
    let (head, _, reply) = reply_parts(Misbehaviour::OtherVersion, &asked, 0);
    assert!(head.starts_with("HTTP/1.1 200") && head.contains(OTHER_ETAG) && reply.is_wrong, "{head}");
    let (head, _, reply) = reply_parts(Misbehaviour::ChangedVersion, &asked, 0);
    assert!(head.contains(ETAG) && !reply.is_wrong, "{head}");
    assert!(reply_parts(Misbehaviour::ChangedVersion, &asked, 1).0.contains(OTHER_ETAG));
    let (head, body, reply) = reply_parts(Misbehaviour::Encoded, "", 0);
    assert!(head.contains("Content-Encoding: gzip\r\n") && body.starts_with(&[0x1f, 0x8b]) && reply.is_wrong);
}

#[test]
fn a_head_response_is_correct_if_only_the_body_misbehaves() {
    let request = request_of_text("HEAD /page HTTP/1.1\r\n\r\n");
    for how in [
        Misbehaviour::CutShort,
        Misbehaviour::Encoded,
        Misbehaviour::OtherVersion,
        Misbehaviour::BytesAfterEnd,
    ] {
        assert_eq!(how.reply(&request, RESOURCE, 0), right_reply(&request, RESOURCE), "{how:?}");
    }
}
