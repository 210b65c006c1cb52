//! Servers for tests, each with one thread that serves one connection, and the authorities that issue
//! their certificates.

use super::super::{Client, Trust};
use crate::target::url::Url;
use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

pub(super) const HOST: &str = "127.0.0.1";

/// Years in which a certificate is valid now.
pub(super) const CURRENT_YEARS: RangeInclusive<i32> = 2000..=4000;

pub(super) struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// The identity of a server, and the TLS versions that it supports.
#[derive(Clone)]
pub(super) struct ServerIdentity(Arc<ServerConfig>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionEnd {
    /// The end is announced by a TLS notice.
    Announced,
    /// The connection ends without a TLS notice, as if an attacker had cut it.
    Abrupt,
}

pub(super) struct Server {
    pub(super) url: Url,
    /// Receives the head of the request that the server got; closed if it got none.
    pub(super) request_heads: Receiver<String>,
}

impl Authority {
    pub(super) fn new(name: &str) -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![HOST.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        Authority { certificate, issuer: Issuer::new(params, key) }
    }

    /// A client that trusts only this authority. The certificate file is read before this returns.
    pub(super) fn client(&self) -> Client {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), self.certificate.pem()).unwrap();
        let client = Client::new(Trust::File(file.path().to_owned()));
        client.tls_config().unwrap();
        client
    }

    /// The identity of a server whose certificate is the authority's own.
    pub(super) fn own_identity(&self) -> ServerIdentity {
        ServerIdentity::new(&self.certificate, self.issuer.key(), rustls::ALL_VERSIONS)
    }

    pub(super) fn identity(&self, host: &str, years: RangeInclusive<i32>) -> ServerIdentity {
        self.identity_of_versions(host, years, rustls::ALL_VERSIONS)
    }

    pub(super) fn identity_of_versions(
        &self,
        host: &str,
        years: RangeInclusive<i32>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> ServerIdentity {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(*years.start(), 1, 1);
        params.not_after = rcgen::date_time_ymd(*years.end(), 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        ServerIdentity::new(&certificate, &key, versions)
    }
}

impl ServerIdentity {
    fn new(
        certificate: &Certificate,
        key: &KeyPair,
        versions: &[&'static SupportedProtocolVersion],
    ) -> ServerIdentity {
        let chain: Vec<CertificateDer> = vec![certificate.der().clone()];
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_protocol_versions(versions).unwrap().with_no_client_auth();
        ServerIdentity(Arc::new(builder.with_single_cert(chain, key).unwrap()))
    }
}

/// A URL with this scheme and host at a new port. A thread handles the next connection to it.
pub(super) fn start_listener(
    scheme: &str,
    host: &str,
    conduct: impl FnOnce(TcpStream) + Send + 'static,
) -> Url {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || conduct(listener.accept().unwrap().0));
    format!("{scheme}://{host}:{port}/f?a=b").parse().unwrap()
}

impl Server {
    pub(super) fn encrypted(identity: &ServerIdentity, answer: &str, end: ConnectionEnd) -> Server {
        Server::encrypted_at(HOST, identity, answer, end)
    }

    pub(super) fn encrypted_at(
        host: &str,
        identity: &ServerIdentity,
        answer: &str,
        end: ConnectionEnd,
    ) -> Server {
        let (sender, request) = channel();
        let (config, answer) = (Arc::clone(&identity.0), answer.to_owned());
        let url = start_listener("https", host, move |client| {
            let tls = ServerConnection::new(config).unwrap();
            let mut stream = StreamOwned::new(tls, client);
            // A client that rejects the certificate sends no request.
            let Some(head) = request_head(&mut stream) else { return };
            let _ = sender.send(head);
            let _ = stream.write_all(answer.as_bytes());
            if end == ConnectionEnd::Announced {
                stream.conn.send_close_notify();
            }
            let _ = stream.flush();
        });
        Server { url, request_heads: request }
    }

    pub(super) fn plain(scheme: &str, answer: &str) -> Server {
        let (sender, request) = channel();
        let answer = answer.to_owned();
        let url = start_listener(scheme, HOST, move |mut client| {
            // The first bytes of a handshake are not an HTTP head, but are answered too.
            let mut first = [0; 4096];
            let count = client.read(&mut first).unwrap();
            let _ = sender.send(String::from_utf8_lossy(&first[..count]).into_owned());
            let _ = client.write_all(answer.as_bytes());
        });
        Server { url, request_heads: request }
    }
}

/// Reads the head of a request; `None` if the client disconnected.
fn request_head(stream: &mut impl Read) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    String::from_utf8(head).ok()
}
