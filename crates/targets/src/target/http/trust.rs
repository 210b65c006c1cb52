//! Which servers are trusted, and the TLS configuration that trusts only these. Certificates are
//! always verified.

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};
use rustls::{ClientConfig, RootCertStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ALPN: &[u8] = b"http/1.1";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Trust {
    /// The system's authorities, which `SSL_CERT_FILE` and `SSL_CERT_DIR` can replace.
    #[default]
    System,
    /// Only the authorities in a PEM file.
    File(PathBuf),
}

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("this system has no certificates to trust{}; --cacert FILE names some", .cause.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default())]
    System { cause: Option<String> },
    #[error("{}: no file of certificates to trust: {cause}", readlab_system::terminal::printable::display_path(.path))]
    File { path: PathBuf, cause: String },
    #[error("TLS cannot be set up: {0}")]
    Setup(rustls::Error),
}

impl From<Option<PathBuf>> for Trust {
    fn from(cacert: Option<PathBuf>) -> Trust {
        cacert.map_or(Trust::System, Trust::File)
    }
}

impl Trust {
    /// The PEM file of trusted authorities; `None` if the system's authorities are trusted.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Trust::System => None,
            Trust::File(path) => Some(path),
        }
    }

    /// The TLS configuration for all connections. This reads the certificates.
    pub(super) fn tls_config(&self) -> Result<Arc<ClientConfig>, TrustError> {
        let roots = match self {
            Trust::System => system_roots()?,
            Trust::File(path) => {
                roots_in_file(path).map_err(|cause| TrustError::File { path: path.clone(), cause })?
            }
        };
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(TrustError::Setup)?;
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(Arc::new(config))
    }
}

/// The system's certificates. Unusable certificates are left out, because every system has some.
fn system_roots() -> Result<RootCertStore, TrustError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    let cause = found.errors.first().map(ToString::to_string);
    if roots.is_empty() { Err(TrustError::System { cause }) } else { Ok(roots) }
}

/// The certificates of a file. All of them must be usable, because the user chose them.
fn roots_in_file(path: &Path) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(pem_error_text)? {
        roots.add(certificate.map_err(pem_error_text)?).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() { Err("it has no certificate in PEM".to_owned()) } else { Ok(roots) }
}

/// The text of an error in a file of certificates; for an I/O error it is the system's text.
fn pem_error_text(error: pem::Error) -> String {
    match error {
        pem::Error::Io(error) => error.to_string(),
        error => format!("it is not in PEM: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn refusal(content: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        fs::write(&path, content).unwrap();
        let error = Trust::File(path).tls_config().unwrap_err().to_string();
        assert!(error.contains("ca.pem: no file of certificates to trust: "), "{error}");
        error
    }

    #[test]
    fn a_file_without_usable_certificates_is_refused_with_a_reason() {
        assert!(refusal(b"").ends_with("it has no certificate in PEM"));
        assert!(refusal(b"\xff\0garbage").ends_with("it has no certificate in PEM"));
        let broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(!refusal(broken).contains("no certificate in PEM"), "{}", refusal(broken));
        let cut = b"-----BEGIN CERTIFICATE-----\nAAAA\n";
        assert!(refusal(cut).contains("it is not in PEM"), "{}", refusal(cut));
        let missing = Trust::File("/no/such/ca.pem".into()).tls_config().unwrap_err().to_string();
        assert!(missing.starts_with("/no/such/ca.pem: ") && missing.contains("No such file"), "{missing}");
    }
}
