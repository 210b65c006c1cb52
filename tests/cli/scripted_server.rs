//! A server over HTTP whose answers are a script, good or broken.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(super) const TEXT: &str = "one\ntwo\nthree";

/// A request: its verb, its path with its query, its client, and the number of GETs before it.
pub(super) struct Request {
    pub(super) verb: String,
    pub(super) path: String,
    pub(super) agent: String,
    pub(super) gets_before: usize,
}

impl Request {
    /// Whether the client is the lab and not a contender.
    pub(super) fn is_of_lab(&self) -> bool {
        self.agent.starts_with("readlab/")
    }
}

/// A server on the loopback interface whose answers are a script: the bytes it writes before it
/// closes; none is silence.
pub(super) struct Server {
    port: u16,
    log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(super) fn new(script: impl Fn(&Request) -> Option<Vec<u8>> + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (port, log) = (listener.local_addr().unwrap().port(), Arc::default());
        let (script, gets, held) = (Arc::new(script), Arc::new(AtomicUsize::new(0)), Arc::clone(&log));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (script, gets, log) = (Arc::clone(&script), Arc::clone(&gets), Arc::clone(&held));
                std::thread::spawn(move || converse(client, &*script, &gets, &log));
            }
        });
        Server { port, log }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/f", self.port)
    }

    /// Verb and path of every request so far.
    pub(super) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

fn converse(
    mut client: TcpStream,
    script: &(dyn Fn(&Request) -> Option<Vec<u8>> + Send + Sync),
    gets: &AtomicUsize,
    log: &Mutex<Vec<String>>,
) {
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    while !head.ends_with(b"\r\n\r\n") {
        match client.read(&mut piece) {
            Ok(count @ 1..) => head.extend_from_slice(&piece[..count]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut words = head.split(' ');
    let (verb, path) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
    let agent =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("user-agent: ").map(str::to_owned));
    log.lock().unwrap().push(format!("{verb} {path}"));
    let gets_before = if verb == "GET" { gets.fetch_add(1, Ordering::SeqCst) } else { 0 };
    match script(&Request { verb, path, agent: agent.unwrap_or_default(), gets_before }) {
        Some(answer) => {
            // A client that has seen enough goes away.
            let _ = client.write_all(&answer);
        }
        None => std::thread::sleep(Duration::from_secs(120)),
    }
}

/// A proper answer, its body only to a GET.
pub(super) fn good(request: &Request, fields: &str, body: &str) -> Option<Vec<u8>> {
    let body = if request.verb == "HEAD" { "" } else { body };
    Some(format!("HTTP/1.1 200 OK\r\n{fields}Connection: close\r\n\r\n{body}").into_bytes())
}

pub(super) fn sized(request: &Request) -> Option<Vec<u8>> {
    good(request, &format!("Content-Length: {}\r\n", TEXT.len()), TEXT)
}

pub(super) fn raw(answer: &str) -> Option<Vec<u8>> {
    Some(answer.as_bytes().to_vec())
}
