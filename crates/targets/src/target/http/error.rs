//! Why a request failed, in words for the user. No message has a secret query of a URL.

use super::connection::PART_TIME_MAX;
use super::trust::TrustError;
use crate::target::secret;
use std::fmt;
use std::io;
use std::time::Duration;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Nothing accepts connections at this address.
    #[error("cannot connect: {0}")]
    NotConnected(io::Error),
    /// The connection is open, and no bytes arrive.
    #[error("no answer within {0:?}")]
    Silent(Duration),
    /// Bytes arrive too slowly.
    #[error("{0} took longer than {PART_TIME_MAX:?}")]
    Slow(&'static str),
    /// It is not known whom to trust.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// An object has no signed URL.
    #[error(transparent)]
    Presign(crate::target::s3::PresignError),
    /// The server's certificate is refused.
    #[error("its certificate {fault}")]
    Certificate {
        /// What is wrong with it.
        fault: CertificateFault,
    },
    /// Client and server found no encryption.
    #[error("no encrypted connection: {0}")]
    Handshake(String),
    /// The server answers without encryption.
    #[error("the server does not speak TLS on this port")]
    NotEncrypted,
    /// A field of the request has characters that would end it.
    #[error("the field {0} of the request has a control character")]
    Field(String),
    /// The server answered with another status than 200.
    #[error("the server answers {code}{}", .reason.is_empty().then(String::new).unwrap_or_else(|| format!(" {}", .reason)))]
    Status {
        /// The status.
        code: u16,
        /// The server's reason.
        reason: String,
    },
    /// The server redirects to another URL.
    #[error("the server answers {code} with a redirect, which is not followed: name {to} instead")]
    Redirect {
        /// The status.
        code: u16,
        /// The other URL.
        to: Location,
    },
    /// The bytes of the body are not those of the content.
    #[error("the server sends the content encoding {0}, although none was accepted")]
    Encoded(String),
    /// The answer is no HTTP/1.
    #[error("not an answer in HTTP/1: {0}")]
    Garbled(&'static str),
    /// The connection ended before the end of the body.
    #[error("the connection ended after {got} of {promised} bytes")]
    Cut {
        /// Bytes that arrived.
        got: u64,
        /// The length by the head.
        promised: u64,
    },
    /// The connection ended in the middle of a chunked body.
    #[error("the connection ended after {got} bytes, before the end of the chunked body")]
    CutChunks {
        /// Bytes that arrived.
        got: u64,
    },
    /// The end of the connection is that of the body, and TLS did not announce it.
    #[error("the encrypted connection ended after {got} bytes without notice: perhaps before the end")]
    CutEncrypted {
        /// Bytes that arrived.
        got: u64,
    },
    /// More bytes arrived than the head says.
    #[error("the server sends more than the {promised} bytes that it promises")]
    TooMany {
        /// The length by the head.
        promised: u64,
    },
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
    /// The connection failed.
    #[error("{0}")]
    Io(io::Error),
}

/// Where a redirect leads. It is shown without a query that is a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Location {
    pub(super) exact: String,
}

impl Location {
    /// As the server says it, which may be a secret: for the next request, and for the user alone.
    pub fn exact(&self) -> &str {
        &self.exact
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&secret::redact_url(&self.exact))
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Location").field(&secret::redact_url(&self.exact)).finish()
    }
}

/// What is wrong with a server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CertificateFault {
    /// No trusted authority issued it, though one may have the issuer's name.
    NotTrusted,
    /// It is an authority's own, and no server's.
    OfAuthority,
    /// Its time is over.
    Expired,
    /// Its time has not begun, or the clock of this machine is wrong.
    NotYetValid,
    OtherHost,
    /// It was withdrawn.
    Revoked,
    /// Something else.
    Other(String),
}

impl fmt::Display for CertificateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CertificateFault::NotTrusted => "is not trusted: no trusted authority issued it",
            CertificateFault::OfAuthority => {
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
            Error::Other(other) if other.to_string() == "CaUsedAsEndEntity" => CertificateFault::OfAuthority,
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
    /// The error of a failed read or write: the one that this client or TLS put into it, or the
    /// system's.
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
