//! The server process: it listens only on 127.0.0.1, on a port that the system chooses, and prints
//! the URL or the store from which the file can be read. Each connection has a thread.
//!
//! This is our own code and not a library's server, because it must keep one property that no
//! library guarantees: the file can be made cold while the server runs. Threads need no async
//! runtime, and the code adds no build time.

use super::connections::Connections;
use super::conversation::{serve_connection, turn_away};
use super::s3::S3Service;
use super::service::{SecretPathService, Service};
use readlab_system::random;
use readlab_targets::target::s3::Credentials;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Pause after a connection could not be accepted. The cause is usually a shortage, for example of
/// descriptors, which lasts for some time.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Number of random bytes in the secret path and in an access key.
const TOKEN_BYTES: usize = 16;

/// Number of random bytes in the secret that signs requests.
const SECRET_BYTES: usize = 32;

/// Serves the file under a secret path until standard input ends; first prints its URL.
pub fn serve(file: &Path) -> io::Result<()> {
    run_server(SecretPathService::new(file, &random_token(TOKEN_BYTES)?))
}

/// Serves the file as the only object of a store until standard input ends; first prints the line
/// that [`super::Server::start_s3`] reads.
pub fn serve_s3(file: &Path) -> io::Result<()> {
    let credentials = Credentials::new(&random_token(TOKEN_BYTES)?, &random_token(SECRET_BYTES)?);
    run_server(S3Service::new(file, credentials))
}

fn run_server(service: impl Service) -> io::Result<()> {
    File::open(service.file())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?.to_string();
    let connections = Arc::new(Connections::for_listener(&listener)?);
    let mut out = io::stdout();
    writeln!(out, "{}", service.printed_line(&address))?;
    out.flush()?;
    let service: Arc<dyn Service> = Arc::new(service);
    std::thread::spawn(move || accept_connections(&listener, &connections, &service));
    // The process that started the server holds the other end of standard input.
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop)
}

fn accept_connections(listener: &TcpListener, connections: &Arc<Connections>, service: &Arc<dyn Service>) {
    loop {
        match listener.accept() {
            Ok((client, _)) => match connections.admit(client) {
                Ok(connection) => {
                    let service = Arc::clone(service);
                    // A client may disconnect at any time. If no thread can be created, the
                    // connection is closed.
                    let _ =
                        std::thread::Builder::new().spawn(move || serve_connection(&connection, &*service));
                }
                Err(client) => turn_away(&client, &**service),
            },
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
            // Without a free descriptor the connection stays in the queue, and an immediate retry
            // would fail too.
            Err(_) => {
                connections.close_stranger();
                std::thread::sleep(RETRY_PAUSE);
            }
        }
    }
}

/// A text that cannot be guessed: this number of random bytes, in hexadecimal.
fn random_token(bytes: usize) -> io::Result<String> {
    let mut random = vec![0; bytes];
    random::fill(&mut random)?;
    Ok(hex::encode(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_random_tokens_differ() {
        let (one, other) = (random_token(TOKEN_BYTES).unwrap(), random_token(TOKEN_BYTES).unwrap());
        assert!(one != other && one.len() == 2 * TOKEN_BYTES);
    }
}
