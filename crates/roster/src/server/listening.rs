//! The server's side: it listens on 127.0.0.1 only, on a port that the system chooses, and prints
//! how the file is read from there. Each connection has a thread.
//!
//! It is our own code, and no library's server, because it has one file and one property that no
//! library promises: that the file can be made cold while it runs. Its threads need no runtime, and
//! building it costs nothing.

use super::connections::Connections;
use super::conversation::{hold, turn_away};
use super::s3::S3;
use super::service::{SecretPath, Service};
use readlab_system::random;
use readlab_targets::target::s3::Credentials;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Pause after a connection that could not be accepted: a shortage, for example of descriptors,
/// lasts for a while.
const REST: Duration = Duration::from_millis(50);

/// Random bytes in the secret path and in an access key.
const TOKEN_BYTES: usize = 16;

/// Random bytes in the secret that signs.
const SECRET_BYTES: usize = 32;

/// Serves the file under a secret path until standard input ends; prints its URL first.
pub fn serve(file: &Path) -> io::Result<()> {
    run(SecretPath::new(file, &token(TOKEN_BYTES)?))
}

/// Serves the file as the one object of a store until standard input ends; prints first what
/// [`super::Server::start_s3`] reads.
pub fn serve_s3(file: &Path) -> io::Result<()> {
    let credentials = Credentials::new(&token(TOKEN_BYTES)?, &token(SECRET_BYTES)?);
    run(S3::new(file, credentials))
}

fn run(service: impl Service) -> io::Result<()> {
    File::open(service.file())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?.to_string();
    let connections = Arc::new(Connections::of(&listener)?);
    let mut out = io::stdout();
    writeln!(out, "{}", service.line(&address))?;
    out.flush()?;
    let service: Arc<dyn Service> = Arc::new(service);
    std::thread::spawn(move || take_all(&listener, &connections, &service));
    // The process that started the server holds the other end.
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop)
}

/// Accepts connections, with a thread for each.
fn take_all(listener: &TcpListener, connections: &Arc<Connections>, service: &Arc<dyn Service>) {
    loop {
        match listener.accept() {
            Ok((client, _)) => match connections.admit(client) {
                Ok(connection) => {
                    let service = Arc::clone(service);
                    // A client may disconnect at any time. A connection without a thread is closed.
                    let _ = std::thread::Builder::new().spawn(move || hold(&connection, &*service));
                }
                Err(client) => turn_away(&client, &**service),
            },
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
            // Without a descriptor the connection stays in the queue, and an immediate retry would
            // fail too.
            Err(_) => {
                connections.end_stranger();
                std::thread::sleep(REST);
            }
        }
    }
}

/// Random bytes in hexadecimal: nobody can guess them.
fn token(bytes: usize) -> io::Result<String> {
    let mut random = vec![0; bytes];
    random::fill(&mut random)?;
    Ok(hex::encode(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ() {
        let (one, other) = (token(TOKEN_BYTES).unwrap(), token(TOKEN_BYTES).unwrap());
        assert!(one != other && one.len() == 2 * TOKEN_BYTES);
    }
}
