//! The answers of the loopback server: the file to a GET or HEAD of its one secret path, 404 to
//! everything else.
//!
//! It listens on 127.0.0.1 only, on a port that the system chooses, under a path of 128 random
//! bits, so that no other user of the machine and no page in a browser finds the file.
//! `connections` limits how many clients may connect, and how long a request may take. Each
//! connection has a thread and one request. The bytes pass through one buffer by read(2) and
//! write(2), not by sendfile(2): with sendfile(2) the network may hold pages of the page cache
//! after the last byte has arrived, and a file with held pages cannot be made cold.

use super::connections::{Connection, Connections};
use crate::linux::{descriptor, random};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a client may take for the whole head of its request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a client may take for the next bytes of the file.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How long the server waits for the request of a client that it turns away.
const AWAY_TIMEOUT: Duration = Duration::from_millis(100);

/// Pause after a connection that could not be accepted: a shortage, for example of descriptors,
/// lasts for a while.
const REST: Duration = Duration::from_millis(50);

/// How often the server tries to open the file while descriptors are short.
const OPEN_TRIES: u32 = 20;

/// The longest request.
const REQUEST_BYTES_MAX: usize = 16 << 10;

/// Random bytes in the secret path.
const TOKEN_BYTES: usize = 16;

/// Bytes between the file and the connection: enough that calls cost little, few enough to stay in
/// a processor's cache.
const PIECE_BYTES: usize = 256 << 10;

/// The file and its secret path.
struct Served {
    file: PathBuf,
    path: String,
}

/// Serves the file until standard input ends; prints its URL first.
///
/// # Errors
/// If the file cannot be opened, or there is no port to listen on.
pub fn serve(file: &Path) -> io::Result<()> {
    File::open(file)?;
    let path = format!("/{}", token()?);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut out = io::stdout();
    writeln!(out, "http://{}{path}", listener.local_addr()?)?;
    out.flush()?;
    let served = Arc::new(Served { file: file.to_owned(), path });
    std::thread::spawn(move || take_all(&listener, &served));
    // The process that started the server holds the other end.
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop)
}

/// Accepts connections, with a thread for each.
fn take_all(listener: &TcpListener, served: &Arc<Served>) {
    let connections = Arc::new(Connections::default());
    loop {
        match listener.accept() {
            Ok((client, _)) => match connections.admit(client) {
                Ok(connection) => {
                    let served = Arc::clone(served);
                    // A client may disconnect at any time. A connection without a thread is closed.
                    let _ = std::thread::Builder::new()
                        .spawn(move || answer(&connection, &served.file, &served.path));
                }
                Err(client) => turn_away(&client),
            },
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
            // Without a descriptor the connection stays in the queue, and an immediate retry would
            // fail too.
            Err(_) => {
                connections.make_room();
                std::thread::sleep(REST);
            }
        }
    }
}

/// Answers that there is no room. Other connections wait meanwhile.
fn turn_away(mut client: &TcpStream) {
    const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    // The request is read first; otherwise the connection would be reset before the client has read
    // the answer. Each step may fail.
    let _ = request(client, AWAY_TIMEOUT);
    let _ = client.set_write_timeout(Some(AWAY_TIMEOUT)).and_then(|()| client.write_all(BUSY));
    let _ = client.shutdown(Shutdown::Write);
}

/// A path that cannot be guessed.
fn token() -> io::Result<String> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    random::fill(&mut bytes)?;
    let mut token = String::with_capacity(2 * TOKEN_BYTES);
    for byte in bytes {
        write!(token, "{byte:02x}").expect("a String takes everything");
    }
    Ok(token)
}

fn answer(connection: &Connection, file: &Path, path: &str) -> io::Result<()> {
    let mut client: &TcpStream = &connection.stream;
    client.set_write_timeout(Some(HEAD_TIMEOUT))?;
    client.set_nodelay(true)?;
    let request = request(client, HEAD_TIMEOUT)?;
    let mut words = request.split(' ');
    let (verb, requested) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let is_right = requested == path && ["GET", "HEAD"].contains(&verb) && connection.keep();
    let Some(file) = is_right.then(|| open(connection, file).ok()).flatten() else {
        client.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
        return client.shutdown(Shutdown::Write);
    };
    client.set_write_timeout(Some(TIMEOUT))?;
    let size_bytes = file.metadata()?.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {size_bytes}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    );
    client.write_all(head.as_bytes())?;
    if verb == "GET" {
        send(client, &mut file.take(size_bytes))?;
    }
    client.shutdown(Shutdown::Write)
}

/// The open file; if descriptors are short, connections that have not requested it are closed.
fn open(connection: &Connection, file: &Path) -> io::Result<File> {
    for _ in 1..OPEN_TRIES {
        match File::open(file) {
            Err(error) if descriptor::is_exhaustion(&error) => {
                if !connection.make_room() {
                    std::thread::sleep(REST);
                }
            }
            opened => return opened,
        }
    }
    File::open(file)
}

/// The head of a request, which must arrive in this time; only its first line is used.
fn request(mut client: &TcpStream, timeout: Duration) -> io::Result<String> {
    let deadline = Instant::now() + timeout;
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        client.set_read_timeout(Some(left))?;
        let count = match client.read(&mut piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        if count == 0 || head.len() >= REQUEST_BYTES_MAX {
            return Err(ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(&piece[..count]);
    }
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or(&[]);
    Ok(String::from_utf8_lossy(line).into_owned())
}

/// Sends the whole file; if the file became shorter, the connection ends early, and the client sees
/// that.
fn send(mut client: &TcpStream, file: &mut impl Read) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => client.write_all(&piece[..count])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that a client gets for this file, and whether the answer said that they are all.
    fn said(ask: &[u8], file: &Path, path: &str) -> Vec<u8> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(ask).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let (server, _) = listener.accept().unwrap();
        let connection = Arc::new(Connections::default()).admit(server).unwrap();
        let _ = answer(&connection, file, path);
        drop(connection);
        let mut got = Vec::new();
        client.read_to_end(&mut got).unwrap();
        got
    }

    #[test]
    fn only_the_secret_path_gives_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "content").unwrap();
        let ask = |request: &str| {
            let text = said(format!("{request} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes(), &file, "/secret");
            String::from_utf8(text).unwrap()
        };
        let whole = ask("GET /secret");
        assert!(
            whole.starts_with("HTTP/1.1 200 ")
                && whole.ends_with(
                    "Content-Length: 7\r\nCache-Control: no-store\r\nConnection: close\r\n\r\ncontent"
                ),
            "{whole}"
        );
        assert!(ask("HEAD /secret").ends_with("\r\n\r\n"));
        for other in [
            "GET /",
            "GET /secret/",
            "GET /secret2",
            "GET /../secret",
            "GET secret",
            "POST /secret",
            "get /secret",
        ] {
            assert!(ask(other).starts_with("HTTP/1.1 404 "), "{other}");
        }
    }

    #[test]
    fn what_is_no_request_gets_no_answer() {
        let file = Path::new("/dev/null");
        assert!(said(b"GET /secret HTTP/1.1\r\n", file, "/secret").is_empty(), "no end of the head");
        let long = [b'x'; 2 * REQUEST_BYTES_MAX];
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(&long).unwrap();
        assert!(request(&listener.accept().unwrap().0, HEAD_TIMEOUT).is_err());
    }

    #[test]
    fn a_head_that_comes_byte_by_byte_has_no_more_time_than_one_that_never_comes() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let server = listener.accept().unwrap().0;
        std::thread::spawn(move || {
            // Ends when the other end is closed, which is when the request was given up.
            while client.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        assert!(request(&server, Duration::from_millis(100)).is_err());
    }

    #[test]
    fn tokens_differ() {
        let (one, other) = (token().unwrap(), token().unwrap());
        assert!(one != other && one.len() == 2 * TOKEN_BYTES);
    }
}
