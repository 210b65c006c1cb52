//! Why a request failed, in words for the user. No message contains a secret query of a URL.

use super::connection::PART_TIME_MAX;
use super::trust::TrustError;
use crate::target::secret;
use std::fmt;
use std::io;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("cannot connect: {0}")]
    NotConnected(io::Error),
    #[error("no answer within {0:?}")]
    Silent(Duration),
    #[error("{0} took longer than {PART_TIME_MAX:?}")]
    Slow(&'static str),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error(transparent)]
    Presign(crate::target::s3::PresignError),
    #[error("its certificate {fault}")]
    Certificate { fault: CertificateFault },
    #[error("no encrypted connection: {0}")]
    Handshake(String),
    #[error("the server does not speak TLS on this port")]
    NotEncrypted,
    #[error("the field {0} of the request has a control character")]
    Field(String),
    #[error("the server answers {code}{}", .reason.is_empty().then(String::new).unwrap_or_else(|| format!(" {}", .reason)))]
    Status {
        code: u16,
        reason: String,
        /// The region that a store of objects names.
        bucket_region: Option<String>,
    },
    #[error("the server answers {code} with a redirect, which is not followed: name {to} instead")]
    Redirect { code: u16, to: RedirectUrl, bucket_region: Option<String> },
    #[error("the server sends the content encoding {0}, although none was accepted")]
    Encoded(String),
    #[error("not an answer in HTTP/1: {0}")]
    Garbled(&'static str),
    #[error("the connection ended after {got} of {promised} bytes")]
    Cut { got: u64, promised: u64 },
    #[error("the connection ended after {got} bytes, before the end of the chunked body")]
    CutChunks { got: u64 },
    #[error("the encrypted connection ended after {got} bytes without notice: perhaps before the end")]
    CutEncrypted { got: u64 },
    #[error("the server sends more than the {promised} bytes that it promises")]
    TooMany { promised: u64 },
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Io(io::Error),
}

/// The URL to which a redirect leads. It is shown without its query if that is a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct RedirectUrl {
    pub(super) exact_url: String,
}

impl RedirectUrl {
    /// The URL as the server sent it, which may be a secret: only for the next request, and for the
    /// user.
    pub fn exact_url(&self) -> &str {
        &self.exact_url
    }
}

impl fmt::Display for RedirectUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&secret::redact_url(&self.exact_url))
    }
}

impl fmt::Debug for RedirectUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Location").field(&secret::redact_url(&self.exact_url)).finish()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CertificateFault {
    /// No trusted authority issued the certificate, even if an authority has the issuer's name.
    NotTrusted,
    /// The certificate belongs to an authority, not to a server.
    IsAuthority,
    Expired,
    NotYetValid,
    OtherHost,
    Revoked,
    Other(String),
}

impl fmt::Display for CertificateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CertificateFault::NotTrusted => "is not trusted: no trusted authority issued it",
            CertificateFault::IsAuthority => {
                "is that of an authority (CA:TRUE): a server needs its own, even if it signed it itself"
            }
            CertificateFault::Expired => "has expired",
            CertificateFault::NotYetValid => "is not valid yet by the clock of this machine",
            CertificateFault::OtherHost => "is for another host",
            CertificateFault::Revoked => "was revoked",
            CertificateFault::Other(reason) => return write!(f, "is refused: {reason}"),
        })
    }
}

impl From<rustls::CertificateError> for CertificateFault {
    fn from(error: rustls::CertificateError) -> CertificateFault {
        use rustls::CertificateError as Error;
        match error {
            Error::UnknownIssuer | Error::BadSignature => CertificateFault::NotTrusted,
            Error::Other(other) if other.to_string() == "CaUsedAsEndEntity" => CertificateFault::IsAuthority,
            Error::Expired | Error::ExpiredContext { .. } => CertificateFault::Expired,
            Error::NotValidYet | Error::NotValidYetContext { .. } => CertificateFault::NotYetValid,
            Error::NotValidForName | Error::NotValidForNameContext { .. } => CertificateFault::OtherHost,
            Error::Revoked => CertificateFault::Revoked,
            other => CertificateFault::Other(other.to_string()),
        }
    }
}

impl From<rustls::Error> for HttpError {
    fn from(error: rustls::Error) -> HttpError {
        use rustls::{Error, InvalidMessage};
        match error {
            Error::InvalidCertificate(error) => HttpError::Certificate { fault: error.into() },
            Error::InvalidMessage(
                InvalidMessage::InvalidContentType
                | InvalidMessage::UnknownProtocolVersion
                | InvalidMessage::MessageTooLarge,
            ) => HttpError::NotEncrypted,
            Error::AlertReceived(alert) => {
                HttpError::Handshake(format!("the server refuses it with the alert {alert:?}"))
            }
            other => HttpError::Handshake(other.to_string()),
        }
    }
}

impl HttpError {
    /// The region of the bucket, if a store of objects names it instead of sending an object.
    pub fn bucket_region(&self) -> Option<&str> {
        match self {
            HttpError::Status { bucket_region, .. } | HttpError::Redirect { bucket_region, .. } => {
                bucket_region.as_deref()
            }
            _ => None,
        }
    }

    /// Extracts the error of this client or of TLS from an I/O error, or else keeps the system's
    /// error.
    pub(super) fn from_io(error: io::Error) -> HttpError {
        let error = match error.downcast::<HttpError>() {
            Ok(error) => return error,
            Err(error) => error,
        };
        match error.downcast::<rustls::Error>() {
            Ok(error) => error.into(),
            Err(error) => HttpError::Io(error),
        }
    }
}
