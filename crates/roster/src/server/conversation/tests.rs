//! Tests of whole connections with the server, for both services.

use super::super::connected_streams;
use super::super::connections::Connections;
use super::super::s3::S3Service;
use super::super::service::SecretPathService;
use super::*;
use readlab_model::target::BucketStyle;
use readlab_targets::target::http::RequestVerb;
use readlab_targets::target::s3::signature::{SignatureTime, SignedParts, scope};
use readlab_targets::target::s3::{Credentials, ObjectName, Store};
use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;

#[derive(Debug)]
struct ReceivedAnswer {
    head: String,
    body: String,
}

/// A client of a server with a single connection.
struct Client {
    stream: BufReader<TcpStream>,
    server: std::thread::JoinHandle<io::Result<()>>,
}

impl Client {
    fn connect(service: impl Service) -> Client {
        Client::connect_after(service, |_| {})
    }

    fn connect_after(service: impl Service, before: impl FnOnce(&Connection)) -> Client {
        let (stream, accepted) = connected_streams();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let connection = Arc::new(Connections::default()).admit(accepted).unwrap();
        before(&connection);
        let server = std::thread::spawn(move || serve_connection(&connection, &service));
        Client { stream: BufReader::new(stream), server }
    }

    fn send(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
    }

    /// Reads the next response. Its body has the length in the head, except for a response to
    /// `HEAD`.
    fn read_answer(&mut self, is_head: bool) -> ReceivedAnswer {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.stream.read_line(&mut head).unwrap() > 0, "the connection ended in: {head}");
        }
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let length = if is_head { 0 } else { length.map_or(0, |length| length.parse().unwrap()) };
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        ReceivedAnswer { head, body: String::from_utf8(body).unwrap() }
    }

    fn ask(&mut self, line: &str, fields: &str) -> ReceivedAnswer {
        self.send(&format!("{line} HTTP/1.1\r\nHost: x\r\n{fields}\r\n"));
        self.read_answer(line.starts_with("HEAD"))
    }

    /// Reads everything until the server closes the connection.
    fn read_to_close(mut self) -> String {
        let mut rest = String::new();
        self.stream.read_to_string(&mut rest).unwrap();
        rest
    }
}

fn digits_file() -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"0123456789").unwrap();
    file
}

#[test]
fn one_connection_serves_many_requests_including_head() {
    let file = digits_file();
    let mut client = Client::connect(SecretPathService::new(file.path(), "secret"));
    let whole = client.ask("GET /secret", "");
    assert!(whole.head.starts_with("HTTP/1.1 200 OK\r\n") && whole.body == "0123456789", "{whole:?}");
    assert!(!whole.head.contains("Connection"), "{whole:?}");
    let head = client.ask("HEAD /secret", "");
    assert!(head.head.contains("Content-Length: 10\r\n"), "{head:?}");
    let part = client.ask("GET /secret", "Range: bytes=2-4\r\n");
    assert!(part.head.starts_with("HTTP/1.1 206 ") && part.body == "234", "{part:?}");
    assert!(part.head.contains("Content-Range: bytes 2-4/10\r\n"), "{part:?}");
    let parts = client.ask("GET /secret", "Range: bytes=8-9,2-2\r\n");
    assert!(parts.head.contains("Content-Type: multipart/byteranges; boundary="), "{parts:?}");
    assert!(parts.body.contains("bytes 8-9/10\r\n\r\n89\r\n--"), "{parts:?}");
    assert!(parts.body.contains("bytes 2-2/10\r\n\r\n2\r\n--"), "{parts:?}");
    let beyond = client.ask("GET /secret", "Range: bytes=10-\r\n");
    assert!(beyond.head.starts_with("HTTP/1.1 416 ") && beyond.head.contains("bytes */10"), "{beyond:?}");
    let last = client.ask("GET /secret", "Connection: close\r\n");
    assert!(last.head.contains("Connection: close\r\n") && last.body == "0123456789");
    assert_eq!(client.read_to_close(), "");
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let file = digits_file();
    let mut client = Client::connect(SecretPathService::new(file.path(), "secret"));
    let ask = |range: &str| format!("GET /secret HTTP/1.1\r\nRange: bytes={range}\r\n\r\n");
    client.send(&(ask("0-0") + &ask("5-6") + "HEAD /secret HTTP/1.1\r\n\r\n" + &ask("-1")));
    assert_eq!(client.read_answer(false).body, "0");
    assert_eq!(client.read_answer(false).body, "56");
    assert_eq!(client.read_answer(true).body, "");
    assert_eq!(client.read_answer(false).body, "9");
}

#[test]
fn a_changed_file_has_another_version() {
    let mut file = digits_file();
    let mut client = Client::connect(SecretPathService::new(file.path(), "secret"));
    let first = client.ask("HEAD /secret", "");
    let tag = first.head.lines().find_map(|line| line.strip_prefix("ETag: ")).unwrap().to_owned();
    let fields = format!("If-Match: {tag}\r\nRange: bytes=0-1\r\n");
    assert_eq!(client.ask("GET /secret", &fields).body, "01");
    assert!(
        client.ask("GET /secret", &format!("If-None-Match: {tag}\r\n")).head.starts_with("HTTP/1.1 304 ")
    );
    file.write_all(b"x").unwrap();
    let changed = client.ask("GET /secret", &fields);
    assert!(changed.head.starts_with("HTTP/1.1 412 ") && changed.body.is_empty(), "{changed:?}");
    assert_eq!(client.ask("GET /secret", "").body, "0123456789x");
    file.close().unwrap();
    assert!(client.ask("GET /secret", "").head.starts_with("HTTP/1.1 404 "));
}

#[test]
fn a_rejected_client_gets_one_answer_without_a_reset() {
    let file = digits_file();
    let body = "x".repeat(40 << 10);
    let long = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    for (head, status) in [
        ("GET / HTTP/1.1\r\n", 404),
        ("POST /secret HTTP/1.1\r\n", 404),
        ("HEAD /secret2 HTTP/1.1\r\n", 404),
        (long.as_str(), 404),
        ("GET /secret HTTP/1.1\r\nContent-Length: 30\r\n", 400),
    ] {
        let mut client = Client::connect(SecretPathService::new(file.path(), "secret"));
        client.send(&format!("{head}\r\nGET /secret HTTP/1.1\r\n\r\n"));
        let rest = client.read_to_close();
        assert!(rest.starts_with(&format!("HTTP/1.1 {status} ")), "{rest}");
        assert!(rest.ends_with("Connection: close\r\n\r\n") && !rest.contains("200 OK"), "{rest}");
    }
}

#[test]
fn bytes_that_are_not_a_request_get_no_answer() {
    let file = digits_file();
    let client = |text: &str| {
        let mut client = Client::connect(SecretPathService::new(file.path(), "secret"));
        client.send(text);
        // The server may have ended the connection by now.
        let _ = client.stream.get_ref().shutdown(Shutdown::Write);
        assert!(client.server.join().unwrap().is_err(), "{text}");
    };
    client("GET /secret HTTP/1.1\r\n");
    client(&format!("GET /secret HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(20 << 10)));
}

#[test]
fn a_client_that_reads_slowly_gets_everything() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let content: String = (0..1 << 20).map(|at| char::from(b'a' + (at % 25) as u8)).collect();
    file.write_all(content.as_bytes()).unwrap();
    let mut client = Client::connect(SecretPathService::new(file.path(), "secret"));
    client.send("GET /secret HTTP/1.1\r\nConnection: close\r\n\r\n");
    let mut got = Vec::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        std::thread::sleep(Duration::from_millis(2));
        match client.stream.get_mut().read(&mut piece).unwrap() {
            0 => break,
            count => got.extend_from_slice(&piece[..count]),
        }
    }
    assert!(got.ends_with(content.as_bytes()));
}

/// A store with the endpoint that the client uses in its requests.
fn store(credentials: Credentials) -> Store {
    Store {
        endpoint: "http://x".parse().unwrap(),
        region: "us-east-1".to_owned(),
        style: BucketStyle::Path,
        credentials: Some(credentials),
    }
}

/// The path and query of a URL that is signed now.
fn signed_path(store: &Store, verb: RequestVerb, object: &ObjectName) -> String {
    let url = store.presigned_url(verb, object, Duration::from_secs(60), Timestamp::now()).unwrap();
    url.exact_path_and_query().to_owned()
}

#[test]
fn a_signed_url_can_be_used_for_several_reads() {
    let file = digits_file();
    let credentials = Credentials::new("key", "secret");
    let service = S3Service::new(file.path(), credentials.clone());
    let key = service.printed_line("").split(' ').nth(3).unwrap().to_owned();
    let object = ObjectName::new("readlab", &key).unwrap();
    let store = store(credentials);
    let mut client = Client::connect(service);
    let path = signed_path(&store, RequestVerb::Get, &object);
    for range in ["0-3", "4-9", "0-3"] {
        let got = client.ask(&format!("GET {path}"), &format!("Range: bytes={range}\r\n"));
        assert!(got.head.starts_with("HTTP/1.1 206 ") && got.head.contains("x-amz-request-id: "), "{got:?}");
    }
    let head = client.ask(&format!("HEAD {}", signed_path(&store, RequestVerb::Head, &object)), "");
    assert!(head.head.starts_with("HTTP/1.1 200 ") && head.head.contains("Content-Length: 10\r\n"));
    let beyond = client.ask(&format!("GET {path}"), "Range: bytes=10-\r\n");
    assert!(beyond.body.contains("<Code>InvalidRange</Code>"), "{beyond:?}");
    let other = client.ask(&format!("GET {path}"), "If-Match: \"other\"\r\n");
    assert!(
        other.head.starts_with("HTTP/1.1 412 ") && other.body.contains("<Code>PreconditionFailed</Code>")
    );
    let missing = signed_path(&store, RequestVerb::Get, &ObjectName::new("readlab", "other").unwrap());
    assert!(client.ask(&format!("GET {missing}"), "").body.contains("<Code>NoSuchKey</Code>"));
    assert_eq!(client.ask(&format!("GET {path}"), "").body, "0123456789", "the connection still goes on");
    let put = client.ask(&format!("PUT {path}"), "");
    assert!(put.body.contains("<Code>SignatureDoesNotMatch</Code>"), "the verb is signed");
}

#[test]
fn a_write_is_rejected_as_a_write_and_its_body_ends_the_connection() {
    let file = digits_file();
    let credentials = Credentials::new("key", "secret");
    let mut client = Client::connect(S3Service::new(file.path(), credentials.clone()));
    let time = Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let (moment, _) = SignatureTime::parse(&time).unwrap();
    let parts = SignedParts {
        verb: "PUT",
        path: "/readlab/file",
        query: "",
        fields: vec![
            ("host", "x".to_owned()),
            ("x-amz-content-sha256", "digest".to_owned()),
            ("x-amz-date", time.clone()),
        ],
        payload_digest: "digest",
    };
    let signature = parts.signature(credentials.secret.reveal(), "us-east-1", &moment);
    client.send(&format!(
        "PUT /readlab/file HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nx-amz-date: {time}\r\n\
         x-amz-content-sha256: digest\r\nAuthorization: AWS4-HMAC-SHA256 Credential=key/{}, \
         SignedHeaders={}, Signature={signature}\r\n\r\nbody",
        scope(&moment, "us-east-1"),
        parts.field_names(),
    ));
    let rest = client.read_to_close();
    assert!(rest.starts_with("HTTP/1.1 405 ") && rest.contains("<Code>MethodNotAllowed</Code>"), "{rest}");
    assert!(rest.contains("Connection: close\r\n"), "{rest}");
}

#[test]
fn an_unsigned_request_gets_only_an_error() {
    let file = digits_file();
    let credentials = Credentials::new("key", "secret");
    let object = ObjectName::new("readlab", "file").unwrap();
    let other = store(Credentials::new("key", "guess"));
    for (line, code) in [
        ("GET /readlab/file".to_owned(), "AccessDenied"),
        ("GET /".to_owned(), "AccessDenied"),
        (format!("GET {}", signed_path(&other, RequestVerb::Get, &object)), "SignatureDoesNotMatch"),
    ] {
        let mut client = Client::connect(S3Service::new(file.path(), credentials.clone()));
        client.send(&format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n{line} HTTP/1.1\r\nHost: x\r\n\r\n"));
        let rest = client.read_to_close();
        assert!(
            rest.starts_with("HTTP/1.1 403 ") && rest.contains(&format!("<Code>{code}</Code>")),
            "{rest}"
        );
        assert_eq!(rest.matches("HTTP/1.1").count(), 1, "{rest}");
    }
}

#[test]
fn a_connection_closed_for_another_gets_no_answer() {
    let file = digits_file();
    let mut client = Client::connect_after(SecretPathService::new(file.path(), "secret"), |connection| {
        // This is the only connection and stays open, so its own thread must not wait for its end.
        std::thread::scope(|scope| {
            scope.spawn(|| connection.make_room());
        });
    });
    let _ = client.stream.get_mut().write_all(b"GET /secret HTTP/1.1\r\n\r\n");
    let mut rest = String::new();
    let _ = client.stream.read_to_string(&mut rest);
    assert!(rest.is_empty(), "{rest}");
}
