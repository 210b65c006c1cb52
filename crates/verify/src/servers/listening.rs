//! The servers of a verification. They listen on 127.0.0.1, on ports that the system chooses, until
//! they are dropped. Each connection has a thread. Nothing is timed, so the servers can be part of
//! this process. Their certificates are generated each time, because a private key that comes with
//! readlab would be public.

use super::answers::{ConnectionFate, Reply};
use super::pages::Pages;
use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use readlab_roster::server::request::{Request, parse_request, read_more};
use readlab_system::tcp::{RefusingPort, reset_at_end};
use rustls::crypto::ring;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The host in encrypted URLs; more clients accept a name in a certificate than an address.
const HOST: &str = "localhost";

/// The host in the certificate that belongs to another host.
const OTHER_HOST: &str = "other-host.example";

/// How long a client may take to close its side of a connection that a server closes.
const CLIENT_CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

/// Pause before a reset, so that data that was sent before has arrived.
const ARRIVAL_PAUSE: Duration = Duration::from_millis(50);

/// Largest size of a request's head; no client sends a head of this size.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// Years of validity of a valid certificate.
const VALID_YEARS: RangeInclusive<i32> = 2020..=2120;

/// Years of validity of an expired certificate.
const EXPIRED_YEARS: RangeInclusive<i32> = 2020..=2021;

/// The server on which a page is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerKind {
    Plain,
    /// Encrypted, with a certificate from the authority.
    Encrypted,
    /// Encrypted, with an expired certificate.
    Expired,
    /// Encrypted, with the certificate of another host.
    OtherHost,
    /// A port without a server.
    Nowhere,
}

/// All servers; they have the same pages.
pub(crate) struct Servers {
    pub(super) pages: Arc<Pages>,
    plain: ListeningPort,
    encrypted: ListeningPort,
    expired: ListeningPort,
    other_host: ListeningPort,
    nowhere: RefusingPort,
    pub(super) ca_certificate: PathBuf,
}

/// A port that accepts connections.
struct ListeningPort {
    port: u16,
    must_end: Arc<AtomicBool>,
}

/// A connection, encrypted or not.
trait Stream: Read + Write {
    /// Announces that nothing more is sent.
    fn announce_end(&mut self) {}
}

impl Stream for &TcpStream {}

impl Stream for StreamOwned<ServerConnection, &TcpStream> {
    fn announce_end(&mut self) {
        self.conn.send_close_notify();
        // A client that has disconnected needs no notice.
        let _ = self.flush();
    }
}

impl Servers {
    /// Starts all servers; the certificate of the authority is written into the folder.
    pub(crate) fn start(folder: &Path) -> io::Result<Servers> {
        let pages = Arc::new(Pages::default());
        let authority = Authority::new()?;
        let pem = folder.join("authority.pem");
        fs::write(&pem, &authority.pem)?;
        let listen = |config| ListeningPort::start(&pages, config);
        Ok(Servers {
            plain: listen(None)?,
            encrypted: listen(Some(authority.server_config(&[HOST, "127.0.0.1"], VALID_YEARS)?))?,
            expired: listen(Some(authority.server_config(&[HOST, "127.0.0.1"], EXPIRED_YEARS)?))?,
            other_host: listen(Some(authority.server_config(&[OTHER_HOST], VALID_YEARS)?))?,
            nowhere: RefusingPort::take()?,
            ca_certificate: pem,
            pages,
        })
    }

    /// The scheme and authority of URLs on this server.
    pub(super) fn origin(&self, place: ServerKind) -> String {
        let encrypted = |listening: &ListeningPort| format!("https://{HOST}:{}", listening.port);
        match place {
            ServerKind::Plain => format!("http://127.0.0.1:{}", self.plain.port),
            ServerKind::Encrypted => encrypted(&self.encrypted),
            ServerKind::Expired => encrypted(&self.expired),
            ServerKind::OtherHost => encrypted(&self.other_host),
            ServerKind::Nowhere => format!("http://127.0.0.1:{}", self.nowhere.port),
        }
    }
}

impl ListeningPort {
    fn start(pages: &Arc<Pages>, config: Option<Arc<ServerConfig>>) -> io::Result<ListeningPort> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let must_end = Arc::new(AtomicBool::new(false));
        let (pages, over) = (Arc::clone(pages), Arc::clone(&must_end));
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                // A shortage of descriptors lasts for some time.
                let Ok((client, _)) = listener.accept() else {
                    std::thread::sleep(ARRIVAL_PAUSE);
                    continue;
                };
                let (pages, config) = (Arc::clone(&pages), config.clone());
                // A client may disconnect at any time.
                std::thread::spawn(move || drop(serve_connection(&pages, &client, config)));
            }
        });
        Ok(ListeningPort { port, must_end })
    }
}

impl Drop for ListeningPort {
    fn drop(&mut self) {
        self.must_end.store(true, Ordering::Relaxed);
        // This connection wakes the thread, which then sees that it must end.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
    }
}

fn serve_connection(pages: &Pages, client: &TcpStream, config: Option<Arc<ServerConfig>>) -> io::Result<()> {
    client.set_nodelay(true)?;
    let connection = pages.open_connection();
    let end = match config {
        None => answer_requests(pages, connection, client),
        Some(config) => {
            let tls = ServerConnection::new(config).map_err(io::Error::other)?;
            answer_requests(pages, connection, StreamOwned::new(tls, client))
        }
    };
    pages.close_connection(connection);
    match end? {
        ConnectionFate::Resets => {
            std::thread::sleep(ARRIVAL_PAUSE);
            reset_at_end(client)?;
        }
        // Unread bytes would reset the connection before the client has received the response.
        _ => {
            client.shutdown(Shutdown::Write)?;
            client.set_read_timeout(Some(CLIENT_CLOSE_TIMEOUT))?;
            io::copy(&mut Read::take(client, HEAD_BYTES_MAX as u64), &mut io::sink())?;
        }
    }
    Ok(())
}

/// Answers requests until one side closes the connection; returns how it ends.
fn answer_requests(pages: &Pages, connection: u64, mut stream: impl Stream) -> io::Result<ConnectionFate> {
    let mut unread = Vec::new();
    while let Some(request) = next_request(&mut stream, &mut unread)? {
        let Reply { bytes, end, .. } = pages.reply(connection, &request);
        stream.write_all(&bytes)?;
        stream.flush()?;
        if let ConnectionFate::ClosesAfter(silence) = end {
            std::thread::sleep(silence);
        }
        if end != ConnectionFate::Stays || request.ends_connection() {
            stream.announce_end();
            return Ok(end);
        }
    }
    Ok(ConnectionFate::Closes)
}

/// Reads the next request; `None` at the end of the connection. Readers send no bodies.
fn next_request(stream: &mut impl Read, unread: &mut Vec<u8>) -> io::Result<Option<Request>> {
    loop {
        if let Some((request, length)) = parse_request(unread)? {
            unread.drain(..length);
            return Ok(Some(request));
        }
        if unread.len() > HEAD_BYTES_MAX {
            return Err(ErrorKind::InvalidData.into());
        }
        if !read_more(stream, unread)? {
            return Ok(None);
        }
    }
}

/// An authority that issues certificates.
struct Authority {
    /// The certificate that clients need to trust the authority.
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> io::Result<Authority> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let mut params = certificate_params(&[], "readlab test authority", VALID_YEARS)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign, rcgen::KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        Ok(Authority { pem: certificate.pem(), issuer: Issuer::new(params, key) })
    }

    /// The TLS configuration of a server with these host names.
    fn server_config(&self, hosts: &[&str], years: RangeInclusive<i32>) -> io::Result<Arc<ServerConfig>> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let mut params = certificate_params(hosts, "readlab test server", years)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&key, &self.issuer).map_err(io::Error::other)?;
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
        let builder = builder.with_no_client_auth();
        let config = builder.with_single_cert(vec![certificate.der().clone()], key);
        config.map(Arc::new).map_err(io::Error::other)
    }
}

fn certificate_params(
    hosts: &[&str],
    name: &str,
    years: RangeInclusive<i32>,
) -> io::Result<CertificateParams> {
    let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
    let mut params = CertificateParams::new(hosts).map_err(io::Error::other)?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = rcgen::date_time_ymd(*years.start(), 1, 1);
    params.not_after = rcgen::date_time_ymd(*years.end(), 1, 1);
    Ok(params)
}
