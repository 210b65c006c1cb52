//! Makes servers on this host, of known or unlimited speed, and a link of known rate to them.

use super::{Cleanup, command};
use crate::programs::output;
use anyhow::{Context, bail};
use readlab_analysis::stats::count_as_float;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// Bytes of one write: a hundredth of a second at the slowest pace in use.
const PIECE_BYTES: usize = 64 << 10;
const SERVER_SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/servers");
/// The addresses of this end of a limited link and of its other end, in the range for network
/// measurements (RFC 2544), and the name of the interface at this end.
pub(crate) const SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 77, 1);
const CLIENT: Ipv4Addr = Ipv4Addr::new(198, 18, 77, 2);
const INTERFACE: &str = "readlab-bench";

#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Rate of each connection; `None` for no limit.
    pub(crate) bytes_per_s: Option<f64>,
    /// Delay before the first byte of each content.
    pub(crate) delay: Duration,
}

/// Makes a network namespace with one link to this host, which carries this rate from this host, in
/// the notation of `tbf`. The interface in the namespace does not know the rate, because the limit
/// is at the other end, as in a real network. Returns the name of the namespace.
pub(crate) fn limited_link(cleanup: &mut Cleanup, rate: &str) -> anyhow::Result<String> {
    let namespace = format!("readlab-bench-{}", std::process::id());
    output(&mut command("ip", &format!("netns add {namespace}")))?;
    // The link is deleted with the namespace.
    cleanup.command(command("ip", &format!("netns delete {namespace}")));
    for words in [
        format!("link add {INTERFACE} type veth peer name eth0 netns {namespace}"),
        format!("address add {SERVER}/30 dev {INTERFACE}"),
        format!("link set {INTERFACE} up"),
        format!("-n {namespace} address add {CLIENT}/30 dev eth0"),
        format!("-n {namespace} link set eth0 up"),
        format!("-n {namespace} link set lo up"),
    ] {
        output(&mut command("ip", &words))?;
    }
    let limit = format!("qdisc add dev {INTERFACE} root tbf rate {rate} burst 256k latency 50ms");
    output(&mut command("tc", &limit))?;
    Ok(namespace)
}

pub(crate) fn in_namespace(namespace: &str, inner: &Command) -> Command {
    let mut command = command("ip", &format!("netns exec {namespace}"));
    command.arg(inner.get_program()).args(inner.get_args()).stdin(Stdio::null());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// Starts a server by a script of the tests, which serves a folder. Returns the addresses that the
/// script prints, by their names.
pub(crate) fn scripted_server(
    cleanup: &mut Cleanup,
    script: &str,
    folder: &Path,
) -> anyhow::Result<BTreeMap<String, String>> {
    let mut command = Command::new(Path::new(SERVER_SCRIPTS).join(script));
    command.arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().with_context(|| script.to_owned())?;
    let said = BufReader::new(process.stdout.take().context("its output")?);
    // The server ends with its standard input. Its exit status does not matter here.
    cleanup.push(script, move || {
        drop(process.stdin.take());
        Ok(process.wait().map(drop)?)
    });
    let mut places = BTreeMap::new();
    for line in said.lines() {
        let line = line?;
        match line.split_once('=') {
            Some((name, value)) => drop(places.insert(name.to_owned(), value.to_owned())),
            None if line == "ready" => return Ok(places),
            None => bail!("{script} says {line}"),
        }
    }
    bail!("{script} ended; it has said why")
}

/// Starts a server at an address of this host, which runs as long as this program. Returns its URL.
/// The server answers GET and HEAD for one content, with ranges, over connections that stay open.
pub(crate) fn paced_server(at: Ipv4Addr, content: Vec<u8>, pace: Pace) -> anyhow::Result<String> {
    let listener = TcpListener::bind((at, 0)).with_context(|| format!("a port on {at}"))?;
    let address = listener.local_addr()?;
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

fn answer_all(client: &TcpStream, content: &[u8], pace: Pace) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    let mut lines = BufReader::new(client).lines();
    while let Some(first) = lines.next().transpose()? {
        let mut range = None;
        for line in lines.by_ref() {
            let line = line?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            range = range.or_else(|| requested_range(&line, content.len()));
        }
        send(client, first.starts_with("GET "), content, range, pace)?;
    }
    Ok(())
}

fn requested_range(line: &str, size: usize) -> Option<Range<usize>> {
    let (first, last) = line.strip_prefix("range: bytes=")?.split_once('-')?;
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    Some(first.min(size)..last.saturating_add(1).min(size))
}

fn send(
    mut client: &TcpStream,
    is_get: bool,
    content: &[u8],
    range: Option<Range<usize>>,
    pace: Pace,
) -> std::io::Result<()> {
    let (size, all) = (content.len(), 0..content.len());
    let (status, part) = match &range {
        Some(it) => {
            ("206 Partial Content", format!("Content-Range: bytes {}-{}/{size}\r\n", it.start, it.end - 1))
        }
        None => ("200 OK", String::new()),
    };
    let range = range.unwrap_or(all);
    let length = range.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{part}Accept-Ranges: bytes\r\nETag: \"paced\"\r\n\r\n"
    );
    sleep(if is_get { pace.delay } else { Duration::ZERO });
    client.write_all(head.as_bytes())?;
    if !is_get {
        return Ok(());
    }
    let (begun, mut sent) = (Instant::now(), 0);
    for piece in content[range].chunks(PIECE_BYTES) {
        client.write_all(piece)?;
        sent += piece.len();
        let due = pace.bytes_per_s.map_or(0.0, |bytes_per_s| count_as_float(sent) / bytes_per_s);
        sleep(Duration::from_secs_f64(due).saturating_sub(begun.elapsed()));
    }
    Ok(())
}
