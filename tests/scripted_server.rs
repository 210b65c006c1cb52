//! An HTTP server whose answers are a script, correct or broken.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const TEXT: &str = "one\ntwo\nthree";

/// Longer than any client of a test waits.
const SILENCE_TIME: Duration = Duration::from_secs(120);

/// A request: its verb, its path with its query, its client, and its range.
pub(crate) struct Request {
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) agent: String,
    pub(crate) range: Option<Range<usize>>,
}

impl Request {
    /// Whether the client is the lab and not a contender.
    pub(crate) fn is_of_lab(&self) -> bool {
        self.agent.starts_with("readlab/")
    }

    pub(crate) fn is_get(&self) -> bool {
        self.verb == "GET"
    }
}

/// A server on the loopback interface.
pub(crate) struct Server {
    port: u16,
    log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server whose script returns the bytes that it writes before it closes the
    /// connection. Without bytes it stays silent.
    pub(crate) fn new(script: impl Fn(&Request) -> Option<Vec<u8>> + Send + Sync + 'static) -> Server {
        Server::writing(move |request, client| match script(request) {
            Some(answer) => client.write_all(&answer),
            None => silence(),
        })
    }

    /// Starts a server whose script writes to each client until the client disconnects.
    pub(crate) fn writing(
        script: impl Fn(&Request, &mut TcpStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (port, log) = (listener.local_addr().unwrap().port(), Arc::default());
        let (script, held) = (Arc::new(script), Arc::clone(&log));
        std::thread::spawn(move || {
            for mut client in listener.incoming().flatten() {
                let (script, log) = (Arc::clone(&script), Arc::clone(&held));
                std::thread::spawn(move || {
                    let Some(request) = receive_request(&mut client, &log) else { return };
                    // A client that has read enough disconnects.
                    let _ = script(&request, &mut client);
                });
            }
        });
        Server { port, log }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/f", self.port)
    }

    /// Verb and path of every request so far.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

/// The next request; `None` if the client disconnected.
fn receive_request(client: &mut TcpStream, log: &Mutex<Vec<String>>) -> Option<Request> {
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    while !head.ends_with(b"\r\n\r\n") {
        match client.read(&mut piece) {
            Ok(count @ 1..) => head.extend_from_slice(&piece[..count]),
            _ => return None,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut words = head.split(' ');
    let (verb, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let field =
        |name: &str| head.lines().find_map(|line| line.to_lowercase().strip_prefix(name).map(str::to_owned));
    let agent = field("user-agent: ");
    let range = field("range: bytes=").and_then(|ends| {
        let (first, last) = ends.split_once('-')?;
        Some(first.parse().ok()?..last.parse::<usize>().ok()? + 1)
    });
    log.lock().unwrap().push(format!("{verb} {path}"));
    Some(Request { verb, path, agent: agent.unwrap_or_default(), range })
}

/// Sends nothing until the client has given up.
pub(crate) fn silence() -> io::Result<()> {
    std::thread::sleep(SILENCE_TIME);
    Ok(())
}

/// A correct answer, whose body is only for a GET.
pub(crate) fn good(request: &Request, fields: &str, body: &str) -> Option<Vec<u8>> {
    let body = if request.verb == "HEAD" { "" } else { body };
    raw(&format!("HTTP/1.1 200 OK\r\n{fields}Connection: close\r\n\r\n{body}"))
}

pub(crate) fn sized(request: &Request) -> Option<Vec<u8>> {
    good(request, &format!("Content-Length: {}\r\n", TEXT.len()), TEXT)
}

pub(crate) fn raw(answer: &str) -> Option<Vec<u8>> {
    Some(answer.as_bytes().to_vec())
}
