//! What the loopback server answers: the file to a GET or HEAD of its one secret path, 404 to everything else.
//!
//! It listens on 127.0.0.1 alone, on a port that the system chooses, under a path of 128 random bits, so that no other
//! user of the machine and no page in a browser finds the file. A thread for each connection, one request each, the bytes by
//! read(2) and write(2) through one buffer. Not by sendfile(2): the network would go on holding pages of the page cache after the last
//! byte has arrived, for as long as it likes, and a file with such pages cannot be made cold.

use rustix::rand::{GetRandomFlags, getrandom};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a client may take to ask, or to take the next bytes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The longest request.
const REQUEST_BYTES_MAX: usize = 16 << 10;

/// Random bytes in the secret path.
const TOKEN_BYTES: usize = 16;

/// Bytes between the file and the connection: enough that calls cost little, few enough to stay in a processor's cache.
const PIECE_BYTES: usize = 256 << 10;

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
    let served: Arc<(Box<Path>, String)> = Arc::new((file.into(), path));
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let served = Arc::clone(&served);
            // A client that goes away in the middle is its own affair.
            std::thread::spawn(move || answer(&client, &served.0, &served.1));
        }
    });
    // Whoever started the server holds the other end.
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop)
}

/// A path that cannot be guessed.
fn token() -> io::Result<String> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    let filled = getrandom(&mut bytes, GetRandomFlags::empty())?;
    if filled < TOKEN_BYTES {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let mut token = String::with_capacity(2 * TOKEN_BYTES);
    for byte in bytes {
        write!(token, "{byte:02x}").expect("a String takes everything");
    }
    Ok(token)
}

fn answer(mut client: &TcpStream, file: &Path, path: &str) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    client.set_nodelay(true)?;
    let request = request(client)?;
    let mut words = request.split(' ');
    let (verb, asked) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let opened = if asked == path && ["GET", "HEAD"].contains(&verb) { File::open(file).ok() } else { None };
    let Some(file) = opened else {
        client.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
        return client.shutdown(Shutdown::Write);
    };
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

/// The head of a request; only its first line is looked at.
fn request(mut client: &TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = client.read(&mut piece)?;
        if count == 0 || head.len() >= REQUEST_BYTES_MAX {
            return Err(ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(&piece[..count]);
    }
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or(&[]);
    Ok(String::from_utf8_lossy(line).into_owned())
}

/// Everything; a file that became shorter ends the connection early, which the client sees.
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

    /// What a client gets for these bytes, and whether it was told that it is all.
    fn said(ask: &[u8], file: &Path, path: &str) -> Vec<u8> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(ask).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let (server, _) = listener.accept().unwrap();
        let _ = answer(&server, file, path);
        drop(server);
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
        assert!(request(&listener.accept().unwrap().0).is_err());
    }

    #[test]
    fn tokens_differ() {
        let (one, other) = (token().unwrap(), token().unwrap());
        assert!(one != other && one.len() == 2 * TOKEN_BYTES);
    }
}
