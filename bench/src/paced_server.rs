//! A server of this host, of known speed: each connection gets so many bytes a second, and each
//! answer begins after a delay. It knows GET and HEAD of one content, with ranges, over connections
//! that stay open.

use anyhow::Context;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::Arc;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// Bytes that are written at once: a hundredth of a second at the slowest pace that is used.
const PIECE_BYTES: usize = 64 << 10;

/// How fast it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeviceUse {
    /// Bytes a second of each connection; `None` for as fast as it can.
    pub(crate) bytes_per_s: Option<f64>,
    /// Before the first byte of each content.
    pub(crate) delay: Duration,
}

/// Starts one on 127.0.0.1 that runs as long as this program; its URL.
pub(crate) fn start(content: Vec<u8>, pace: DeviceUse) -> anyhow::Result<String> {
    start_at(Ipv4Addr::LOCALHOST, content, pace)
}

/// The same at another address of this host.
pub(crate) fn start_at(at: Ipv4Addr, content: Vec<u8>, pace: DeviceUse) -> anyhow::Result<String> {
    let listener = TcpListener::bind((at, 0)).with_context(|| format!("a port on {at}"))?;
    let address: SocketAddr = listener.local_addr()?;
    let content = Arc::new(content);
    spawn(move || {
        for client in listener.incoming().flatten() {
            let content = Arc::clone(&content);
            // A client may disconnect at any time.
            spawn(move || answer_all(&client, &content, pace));
        }
    });
    Ok(format!("http://{address}/content"))
}

fn answer_all(client: &TcpStream, content: &[u8], pace: DeviceUse) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    let mut lines = BufReader::new(client).lines();
    while let Some(first) = lines.next().transpose()? {
        let mut range = None;
        for line in lines.by_ref() {
            let line = line?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            range = range.or_else(|| requested(&line, content.len()));
        }
        send(client, first.starts_with("GET "), content, range, pace)?;
    }
    Ok(())
}

/// The range in a line of a request's head.
fn requested(line: &str, size: usize) -> Option<Range<usize>> {
    let (first, last) = line.strip_prefix("range: bytes=")?.split_once('-')?;
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    Some(first.min(size)..last.saturating_add(1).min(size))
}

fn send(
    mut client: &TcpStream,
    is_get: bool,
    content: &[u8],
    range: Option<Range<usize>>,
    pace: DeviceUse,
) -> std::io::Result<()> {
    let size = content.len();
    let (status, about) = match &range {
        Some(range) => (
            "206 Partial Content",
            format!("Content-Range: bytes {}-{}/{size}\r\n", range.start, range.end - 1),
        ),
        None => ("200 OK", String::new()),
    };
    let range = range.unwrap_or(0..size);
    let length = range.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{about}Accept-Ranges: bytes\r\nETag: \"paced\"\r\n\r\n"
    );
    sleep(if is_get { pace.delay } else { Duration::ZERO });
    client.write_all(head.as_bytes())?;
    if !is_get {
        return Ok(());
    }
    let (begun, mut sent) = (Instant::now(), 0_u32);
    for piece in content[range].chunks(PIECE_BYTES) {
        client.write_all(piece)?;
        sent = sent.saturating_add(u32::try_from(piece.len()).unwrap_or(u32::MAX));
        if let Some(bytes_per_s) = pace.bytes_per_s {
            let due = Duration::from_secs_f64(f64::from(sent) / bytes_per_s);
            sleep(due.saturating_sub(begun.elapsed()));
        }
    }
    Ok(())
}
