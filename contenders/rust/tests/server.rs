//! A server for tests, which answers each request with a given function, over plain connections
//! that stay open.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::ops::Range;
use std::sync::Arc;
use std::thread;

/// A server that runs until the test program ends.
pub(crate) struct Server {
    pub(crate) url: String,
}

/// A request: its lines, without the last, empty one.
pub(crate) struct Request(Vec<String>);

/// The bytes of an answer, and whether the connection is closed after it.
pub(crate) struct Answer {
    pub(crate) bytes: Vec<u8>,
    pub(crate) close: bool,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/f", listener.local_addr().unwrap());
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, answer) = (stream.unwrap(), answer.clone());
                thread::spawn(move || converse(stream.try_clone().unwrap(), stream, &*answer));
            }
        });
        Server { url }
    }
}

/// Answers requests until the client disconnects, which may happen at any time.
pub(crate) fn converse(input: impl Read, mut output: impl Write, answer: &dyn Fn(&Request) -> Answer) {
    let mut lines = BufReader::new(input).lines();
    loop {
        let request: Vec<String> =
            lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        if request.is_empty() {
            return;
        }
        let request = Request(request);
        let answer = answer(&request);
        let sent = output.write_all(&answer.bytes).and_then(|()| output.flush());
        if sent.is_err() || answer.close || request.header("connection") == Some("close") {
            return;
        }
    }
}

impl Request {
    /// The value of a header, by its name in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let headers = self.0.iter().skip(1).filter_map(|line| line.split_once(": "));
        headers.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Whether only the headers are requested.
    #[allow(dead_code, reason = "the tests of rust-objects use it")]
    pub(crate) fn is_head(&self) -> bool {
        self.0[0].starts_with("HEAD ")
    }

    /// The requested range, as far as the content goes.
    pub(crate) fn range(&self, content: &[u8]) -> Option<Range<usize>> {
        let (first, last) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        let last: usize = last.parse().unwrap();
        Some(first.parse().unwrap()..content.len().min(last + 1))
    }

    /// The requested ranges, which are within the content.
    #[allow(dead_code, reason = "the tests of rust use it")]
    pub(crate) fn ranges(&self) -> Vec<Range<usize>> {
        let ranges = self.header("range").and_then(|ranges| ranges.strip_prefix("bytes="));
        let range = |text: &str| {
            let (first, last) = text.split_once('-').unwrap();
            first.parse().unwrap()..last.parse::<usize>().unwrap() + 1
        };
        ranges.unwrap_or_default().split(',').filter(|text| !text.is_empty()).map(range).collect()
    }

    /// The correct answer for this content.
    pub(crate) fn answer(&self, content: &[u8]) -> Answer {
        match self.range(content) {
            None => Answer::new("200 OK", "", content),
            Some(range) if range.start >= content.len() => {
                let all = format!("Content-Range: bytes */{}\r\n", content.len());
                Answer::new("416 Range Not Satisfiable", &all, b"")
            }
            Some(range) => Answer::part(range.clone(), content.len(), &content[range]),
        }
    }
}

impl Answer {
    /// An answer with further headers, each with its line end.
    pub(crate) fn new(status: &str, headers: &str, body: &[u8]) -> Answer {
        let length = body.len();
        let mut bytes =
            format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n").into_bytes();
        bytes.extend(body);
        Answer { bytes, close: false }
    }

    /// The headers of an answer with this number of bytes.
    #[allow(dead_code, reason = "the tests of rust-objects use it")]
    pub(crate) fn head(length: usize) -> Answer {
        let bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").into_bytes();
        Answer { bytes, close: false }
    }

    /// An answer that claims to be this range of a content of this size, and has this body.
    pub(crate) fn part(range: Range<usize>, size: usize, body: &[u8]) -> Answer {
        let range = format!("Content-Range: bytes {}-{}/{size}\r\n", range.start, range.end - 1);
        Answer::new("206 Partial Content", &range, body)
    }

    /// An answer that claims to be these ranges of a content of this size, and has these bodies.
    #[allow(dead_code, reason = "the tests of rust use it")]
    pub(crate) fn parts(parts: &[(Range<usize>, &[u8])], size: usize) -> Answer {
        let mut body = Vec::new();
        for (range, bytes) in parts {
            let (first, last) = (range.start, range.end - 1);
            body.extend(format!("\r\n--x-y\r\nContent-Range: bytes {first}-{last}/{size}\r\n\r\n").bytes());
            body.extend(*bytes);
        }
        body.extend(b"\r\n--x-y--\r\n");
        let kind = "Content-Type: multipart/byteranges; boundary=x-y\r\n";
        Answer::new("206 Partial Content", kind, &body)
    }

    /// The answer without its last bytes.
    pub(crate) fn cut(mut self, bytes: usize) -> Answer {
        self.bytes.truncate(self.bytes.len() - bytes);
        Answer { close: true, ..self }
    }
}
