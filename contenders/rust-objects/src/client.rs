//! The HTTP client of all methods: a `reqwest::Client` that sends only the requests it is given,
//! and the checks that every answer must pass.

use crate::failure;
use http::{HeaderMap, HeaderValue, header};
use readlab_protocol::remote::{self, ETAG_VARIABLE};
use readlab_protocol::serve::Refusal;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder, retry};
use std::fs;
use std::time::Duration;

/// A server that is silent for this long is given up.
const SILENCE_MAX: Duration = Duration::from_secs(30);
const CONNECT_MAX: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Http1,
    Http2,
}

/// Makes a client, and loads the certificates that it trusts, as every program does.
pub(crate) fn make(version: Version) -> Result<Client, Refusal> {
    let builder = Client::builder()
        .user_agent(concat!("readlab/", env!("CARGO_PKG_VERSION")))
        .default_headers(HeaderMap::from_iter([(
            header::ACCEPT_ENCODING,
            HeaderValue::from_static("identity"),
        )]))
        .no_proxy()
        .referer(false)
        .redirect(Policy::none())
        // Only object_store repeats requests, which are counted. Reqwest would repeat them without
        // a report.
        .retry(retry::never())
        .connect_timeout(CONNECT_MAX)
        .read_timeout(SILENCE_MAX);
    let builder = match version {
        Version::Http1 => builder.http1_only(),
        Version::Http2 => builder.http2_prior_knowledge(),
    };
    trust_certificates(builder)?.build().map_err(failure::request_failure)
}

/// Trusts the certificates of the file, or else those of the system.
fn trust_certificates(builder: ClientBuilder) -> Result<ClientBuilder, Refusal> {
    let Some(path) = remote::cacert() else { return Ok(builder) };
    let about = |why: Refusal| why.about(&path.to_string_lossy());
    let bytes = fs::read(&path).map_err(|error| about(error.into()))?;
    let certificates = Certificate::from_pem_bundle(&bytes);
    let certificates = certificates.map_err(|error| about(failure::request_failure(error)))?;
    Ok(builder.tls_certs_only(certificates))
}

/// The version of the content that every request requires.
pub(crate) fn etag() -> Result<Option<HeaderValue>, Refusal> {
    let value = remote::etag()?.map(|value| HeaderValue::from_str(&value)).transpose();
    value.map_err(|_| Refusal::failed(format!("{ETAG_VARIABLE} is no value of a header")))
}

/// Checks that the content is not encoded, and has the required version.
pub(crate) fn check_headers(headers: &HeaderMap, etag: Option<&HeaderValue>) -> Result<(), Refusal> {
    if let Some(encoding) = headers.get(header::CONTENT_ENCODING)
        && encoding != "identity"
    {
        return Err(Refusal::failed(format!("the answer has the content encoding {encoding:?}")));
    }
    match (headers.get(header::ETAG), etag) {
        (Some(found), Some(demanded)) if found != demanded => {
            Err(Refusal::failed("the answer is of another version than the one demanded"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_that_is_encoded_or_of_another_version_is_refused() {
        let headers = |name, value| HeaderMap::from_iter([(name, HeaderValue::from_static(value))]);
        let etag = HeaderValue::from_static("\"a\"");
        let check = |headers: HeaderMap| check_headers(&headers, Some(&etag)).is_ok();
        assert!(check(HeaderMap::new()));
        assert!(check(headers(header::CONTENT_ENCODING, "identity")));
        assert!(!check(headers(header::CONTENT_ENCODING, "gzip")));
        assert!(check(headers(header::ETAG, "\"a\"")));
        assert!(!check(headers(header::ETAG, "\"b\"")));
        assert!(check_headers(&headers(header::ETAG, "\"b\""), None).is_ok());
    }
}
