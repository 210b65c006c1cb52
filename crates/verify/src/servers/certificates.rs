//! Certificates of the servers of a verification, made anew each time: a key that comes with
//! readlab would be known to everybody.

use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Years in which a certificate is valid that is to be trusted.
const NOW: RangeInclusive<i32> = 2020..=2120;

/// Years that are over.
const PAST: RangeInclusive<i32> = 2020..=2021;

/// An authority that issues certificates.
pub(super) struct Authority {
    /// What a client needs to trust it.
    pub pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(super) fn new() -> io::Result<Authority> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let mut params = params(&[], "readlab test authority", NOW)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign, rcgen::KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        Ok(Authority { pem: certificate.pem(), issuer: Issuer::new(params, key) })
    }

    /// What a server needs to be these hosts.
    pub(super) fn identity(&self, hosts: &[&str]) -> io::Result<Arc<ServerConfig>> {
        self.identity_in(hosts, NOW)
    }

    /// The same with a certificate that has expired.
    pub(super) fn expired_identity(&self, hosts: &[&str]) -> io::Result<Arc<ServerConfig>> {
        self.identity_in(hosts, PAST)
    }

    fn identity_in(&self, hosts: &[&str], years: RangeInclusive<i32>) -> io::Result<Arc<ServerConfig>> {
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
