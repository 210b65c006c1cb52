//! AWS Signature Version 4: signing a request to a store.
//!
//! One implementation serves the lab, which signs URLs, and the loopback server, which verifies
//! requests. Existing libraries can only sign, or are complete clients. The cryptography comes from
//! a library.

use super::credentials::Credentials;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, percent_encode};
use ring::{digest, hmac};
use std::fmt::Write as _;
use std::time::Duration;

pub const ALGORITHM: &str = "AWS4-HMAC-SHA256";

pub const UNSIGNED_PAYLOAD: &str = "UNSIGNED-PAYLOAD";

/// Name of the query parameter that contains the signature, and so is not signed.
pub const SIGNATURE_PARAMETER: &str = "X-Amz-Signature";

pub(super) const TERMINATOR: &str = "aws4_request";

pub(super) const SERVICE: &str = "s3";

/// The characters that are percent-encoded in a query: all except letters, digits, `-`, `.`, `_` and
/// `~`.
const ENCODED_IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The characters that are percent-encoded in a path, in which a slash is kept.
const ENCODED_IN_PATH: &AsciiSet = &ENCODED_IN_QUERY.remove(b'/');

/// The time of a signature, `YYYYMMDDTHHMMSSZ`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureTime(String);

#[derive(Debug, Clone)]
pub struct SignedParts<'a> {
    pub verb: &'a str,
    /// The path, percent-encoded.
    pub path: &'a str,
    /// The query, percent-encoded, without the signature.
    pub query: &'a str,
    /// The signed header fields, names in lower case and sorted.
    pub fields: Vec<(&'a str, String)>,
    /// The digest of the body, or [`UNSIGNED_PAYLOAD`].
    pub payload_digest: &'a str,
}

#[derive(Debug)]
pub(super) struct UrlToPresign<'a> {
    pub(super) verb: &'a str,
    pub(super) host: &'a str,
    /// The path without percent-encoding.
    pub(super) path: &'a str,
    pub(super) validity: Duration,
}

/// The path with percent-encoding, as it appears in a request.
pub fn encoded_path(path: &[u8]) -> String {
    percent_encode(path, ENCODED_IN_PATH).to_string()
}

pub fn encoded_in_query(bytes: &[u8]) -> String {
    percent_encode(bytes, ENCODED_IN_QUERY).to_string()
}

/// Removes percent-encoding.
pub fn percent_decoded(text: &str) -> Vec<u8> {
    percent_decode(text.as_bytes()).collect()
}

/// The parameters of a query, still encoded. The crate `form_urlencoded` would decode a plus as a
/// space, which would change the signed query (RFC 3986).
pub fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter(|part| !part.is_empty()).map(|part| part.split_once('=').unwrap_or((part, "")))
}

impl SignatureTime {
    pub fn from_time(time: Timestamp) -> SignatureTime {
        SignatureTime(time.strftime("%Y%m%dT%H%M%SZ").to_string())
    }

    /// Parses the time of a signature in a request; `None` if it is malformed.
    pub fn parse(text: &str) -> Option<(SignatureTime, Timestamp)> {
        let time = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", text).ok()?;
        let time = time.to_zoned(TimeZone::UTC).ok()?.timestamp();
        let moment = SignatureTime::from_time(time);
        (moment.0 == text).then_some((moment, time))
    }

    /// The date, `YYYYMMDD`.
    pub fn date(&self) -> &str {
        &self.0[..8]
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The scope of a signature: a day, a region, and this service.
pub fn scope(moment: &SignatureTime, region: &str) -> String {
    format!("{}/{region}/{SERVICE}/{TERMINATOR}", moment.date())
}

impl SignedParts<'_> {
    pub fn signature(&self, secret: &str, region: &str, moment: &SignatureTime) -> String {
        hex::encode(
            hmac_of(&signing_key(secret, region, moment), &self.string_to_sign(region, moment)).as_ref(),
        )
    }

    /// True if `signature` is correct. The comparison takes constant time.
    pub fn has_signature(&self, signature: &str, secret: &str, region: &str, moment: &SignatureTime) -> bool {
        let key = hmac::Key::new(hmac::HMAC_SHA256, signing_key(secret, region, moment).as_ref());
        let text = self.string_to_sign(region, moment);
        hex::decode(signature).is_ok_and(|tag| hmac::verify(&key, text.as_bytes(), &tag).is_ok())
    }

    /// The text that is signed, which the protocol calls "string to sign".
    fn string_to_sign(&self, region: &str, moment: &SignatureTime) -> String {
        let request = digest::digest(&digest::SHA256, self.canonical_request().as_bytes());
        format!("{ALGORITHM}\n{}\n{}\n{}", moment.0, scope(moment, region), hex::encode(request.as_ref()))
    }

    /// The names of the signed header fields, separated by semicolons.
    pub fn field_names(&self) -> String {
        self.fields.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";")
    }

    /// The canonical form of the request, which both sides compute.
    fn canonical_request(&self) -> String {
        let path = encoded_path(&percent_decoded(self.path));
        let mut text = format!("{}\n{path}\n{}\n", self.verb, canonical_query(self.query));
        for (name, value) in &self.fields {
            let value = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            writeln!(text, "{name}:{value}").expect("a String takes everything");
        }
        text + "\n" + &self.field_names() + "\n" + self.payload_digest
    }
}

/// The canonical query: parameters encoded uniformly and sorted, without the signature.
fn canonical_query(query: &str) -> String {
    let encoded = |text: &str| encoded_in_query(&percent_decoded(text));
    let mut parts: Vec<_> = parameters(query).map(|(name, value)| [encoded(name), encoded(value)]).collect();
    parts.retain(|[name, _]| name != SIGNATURE_PARAMETER);
    parts.sort();
    parts.iter().map(|part| part.join("=")).collect::<Vec<_>>().join("&")
}

fn signing_key(secret: &str, region: &str, moment: &SignatureTime) -> hmac::Tag {
    let day = hmac_of_bytes(format!("AWS4{secret}").as_bytes(), moment.date());
    [region, SERVICE, TERMINATOR].iter().fold(day, |key, word| hmac_of(&key, word))
}

fn hmac_of(key: &hmac::Tag, text: &str) -> hmac::Tag {
    hmac_of_bytes(key.as_ref(), text)
}

fn hmac_of_bytes(key: &[u8], text: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes())
}

impl UrlToPresign<'_> {
    /// The query with the signature.
    pub(super) fn signed_query(
        &self,
        credentials: &Credentials,
        region: &str,
        moment: SignatureTime,
    ) -> String {
        let credential = format!("{}/{}", credentials.access_key, scope(&moment, region));
        let mut parts = vec![
            ("X-Amz-Algorithm", ALGORITHM.to_owned()),
            ("X-Amz-Credential", credential),
            ("X-Amz-Date", moment.0.clone()),
            ("X-Amz-Expires", self.validity.as_secs().to_string()),
        ];
        if let Some(token) = &credentials.session_token {
            parts.push(("X-Amz-Security-Token", token.reveal().to_owned()));
        }
        parts.push(("X-Amz-SignedHeaders", "host".to_owned()));
        let parts: Vec<_> = parts
            .iter()
            .map(|(name, value)| format!("{name}={}", encoded_in_query(value.as_bytes())))
            .collect();
        let query = parts.join("&");
        let path = encoded_path(self.path.as_bytes());
        let signed = SignedParts {
            verb: self.verb,
            path: &path,
            query: &query,
            fields: vec![("host", self.host.to_owned())],
            payload_digest: UNSIGNED_PAYLOAD,
        };
        let signature = signed.signature(credentials.secret.reveal(), region, &moment);
        format!("{query}&{SIGNATURE_PARAMETER}={signature}")
    }
}
