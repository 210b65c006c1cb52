//! The servers of a verification: they listen on 127.0.0.1, on ports that the system chooses, until
//! they are dropped. Each connection has a thread. Nothing is timed, so that they are part of this
//! process. Their certificates are made anew each time: a key that comes with readlab would be known
//! to everybody.

use super::answers::{End, Reply};
use super::pages::Pages;
use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use readlab_roster::server::request::{Request, parsed, read_more};
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

/// The host in URLs with encryption: more clients take a name in a certificate than an address.
const HOST: &str = "localhost";

/// The host of a certificate that is another one's.
const OTHER_HOST: &str = "other-host.example";

/// How long a client may take to end its side of a connection that a server ends.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(100);

/// Pause before a reset: what was sent before has arrived.
const ARRIVES: Duration = Duration::from_millis(50);

/// Bytes of a head that no client reaches.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// Years in which a certificate is valid that is to be trusted.
const NOW: RangeInclusive<i32> = 2020..=2120;

/// Years that are over.
const PAST: RangeInclusive<i32> = 2020..=2021;

/// Where a page is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Plain,
    /// By a certificate of the authority.
    Encrypted,
    /// By a certificate that has expired.
    Expired,
    /// By the certificate of another host.
    OtherHost,
    /// Where nobody listens.
    Nowhere,
}

/// All servers. They have the same pages.
pub(crate) struct Servers {
    pub(super) pages: Arc<Pages>,
    plain: Listening,
    encrypted: Listening,
    expired: Listening,
    other_host: Listening,
    nowhere: RefusingPort,
    /// The certificate of the authority.
    pub(super) authority: PathBuf,
}

/// A port at which connections are accepted.
struct Listening {
    port: u16,
    is_over: Arc<AtomicBool>,
}

/// A connection, encrypted or not.
trait Stream: Read + Write {
    /// Says that nothing more is sent.
    fn announce_end(&mut self) {}
}

impl Stream for &TcpStream {}

impl Stream for StreamOwned<ServerConnection, &TcpStream> {
    fn announce_end(&mut self) {
        self.conn.send_close_notify();
        // A client that has gone needs no notice.
        let _ = self.flush();
    }
}

impl Servers {
    /// Starts all; the authority's certificate is written into the folder.
    pub(crate) fn start(folder: &Path) -> io::Result<Servers> {
        let pages = Arc::new(Pages::default());
        let authority = Authority::new()?;
        let pem = folder.join("authority.pem");
        fs::write(&pem, &authority.pem)?;
        let listen = |config| Listening::start(&pages, config);
        Ok(Servers {
            plain: listen(None)?,
            encrypted: listen(Some(authority.identity(&[HOST, "127.0.0.1"], NOW)?))?,
            expired: listen(Some(authority.identity(&[HOST, "127.0.0.1"], PAST)?))?,
            other_host: listen(Some(authority.identity(&[OTHER_HOST], NOW)?))?,
            nowhere: RefusingPort::take()?,
            authority: pem,
            pages,
        })
    }

    /// Scheme and authority of URLs.
    pub(super) fn origin(&self, place: Place) -> String {
        let encrypted = |listening: &Listening| format!("https://{HOST}:{}", listening.port);
        match place {
            Place::Plain => format!("http://127.0.0.1:{}", self.plain.port),
            Place::Encrypted => encrypted(&self.encrypted),
            Place::Expired => encrypted(&self.expired),
            Place::OtherHost => encrypted(&self.other_host),
            Place::Nowhere => format!("http://127.0.0.1:{}", self.nowhere.port),
        }
    }
}

impl Listening {
    fn start(pages: &Arc<Pages>, config: Option<Arc<ServerConfig>>) -> io::Result<Listening> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let is_over = Arc::new(AtomicBool::new(false));
        let (pages, over) = (Arc::clone(pages), Arc::clone(&is_over));
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                // A shortage of descriptors lasts for a while.
                let Ok((client, _)) = listener.accept() else {
                    std::thread::sleep(ARRIVES);
                    continue;
                };
                let (pages, config) = (Arc::clone(&pages), config.clone());
                // A client may disconnect at any time.
                std::thread::spawn(move || drop(connected(&pages, &client, config)));
            }
        });
        Ok(Listening { port, is_over })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // So that it is accepted, and seen that all is over.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
    }
}

fn connected(pages: &Pages, client: &TcpStream, config: Option<Arc<ServerConfig>>) -> io::Result<()> {
    client.set_nodelay(true)?;
    let connection = pages.opened();
    let end = match config {
        None => converse(pages, connection, client),
        Some(config) => {
            let tls = ServerConnection::new(config).map_err(io::Error::other)?;
            converse(pages, connection, StreamOwned::new(tls, client))
        }
    };
    pages.closed(connection);
    match end? {
        End::Resets => {
            std::thread::sleep(ARRIVES);
            reset_at_end(client)?;
        }
        // Unread bytes would reset the connection before the client has the answer.
        _ => {
            client.shutdown(Shutdown::Write)?;
            client.set_read_timeout(Some(LEAVE_TIMEOUT))?;
            io::copy(&mut Read::take(client, HEAD_BYTES_MAX as u64), &mut io::sink())?;
        }
    }
    Ok(())
}

/// Answers requests, until one side ends the connection: how it ends.
fn converse(pages: &Pages, connection: u64, mut stream: impl Stream) -> io::Result<End> {
    let mut unread = Vec::new();
    while let Some(request) = next_request(&mut stream, &mut unread)? {
        let Reply { bytes, end, .. } = pages.reply(connection, &request);
        stream.write_all(&bytes)?;
        stream.flush()?;
        if let End::ClosesAfter(silence) = end {
            std::thread::sleep(silence);
        }
        if end != End::Stays || request.is_last() {
            stream.announce_end();
            return Ok(end);
        }
    }
    Ok(End::Closes)
}

/// The next request; `None` at the end of the connection. A body is none that a reader sends.
fn next_request(stream: &mut impl Read, unread: &mut Vec<u8>) -> io::Result<Option<Request>> {
    loop {
        if let Some((request, length)) = parsed(unread)? {
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
    /// What a client needs to trust it.
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> io::Result<Authority> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let mut params = params(&[], "readlab test authority", NOW)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign, rcgen::KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        Ok(Authority { pem: certificate.pem(), issuer: Issuer::new(params, key) })
    }

    /// What a server needs to be these hosts.
    fn identity(&self, hosts: &[&str], years: RangeInclusive<i32>) -> io::Result<Arc<ServerConfig>> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let mut params = params(hosts, "readlab test server", years)?;
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

fn params(hosts: &[&str], name: &str, years: RangeInclusive<i32>) -> io::Result<CertificateParams> {
    let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
    let mut params = CertificateParams::new(hosts).map_err(io::Error::other)?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = rcgen::date_time_ymd(*years.start(), 1, 1);
    params.not_after = rcgen::date_time_ymd(*years.end(), 1, 1);
    Ok(params)
}
