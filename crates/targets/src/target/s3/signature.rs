//! AWS Signature Version 4: how a request is signed for a store.
//!
//! One implementation serves the lab that signs URLs and the loopback server that verifies
//! requests: libraries either sign or are a whole client. The cryptography is a library's.

use super::credentials::Credentials;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, percent_encode};
use ring::{digest, hmac};
use std::fmt::Write as _;
use std::time::Duration;

pub const ALGORITHM: &str = "AWS4-HMAC-SHA256";

pub const UNSIGNED_PAYLOAD: &str = "UNSIGNED-PAYLOAD";

/// The parameter of a query that is not signed itself.
pub const SIGNATURE_PARAMETER: &str = "X-Amz-Signature";

pub(super) const TERMINATOR: &str = "aws4_request";

pub(super) const SERVICE: &str = "s3";

/// What is encoded in a query: everything but letters, digits and these.
const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What is encoded in a path, where a slash stays.
const IN_PATH: &AsciiSet = &IN_QUERY.remove(b'/');

/// A time of signing, `YYYYMMDDTHHMMSSZ`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment(String);

/// A request as it is signed.
#[derive(Debug, Clone)]
pub struct SignedParts<'a> {
    pub verb: &'a str,
    /// The path, percent-encoded.
    pub path: &'a str,
    /// The query, percent-encoded, without the signature.
    pub query: &'a str,
    /// The signed fields by their names in small letters, in the order of these.
    pub fields: Vec<(&'a str, String)>,
    /// The digest of the body, or the word in its place.
    pub payload: &'a str,
}

/// A request that a URL allows.
#[derive(Debug)]
pub(super) struct Presigned<'a> {
    pub(super) verb: &'a str,
    pub(super) host: &'a str,
    /// Without percent-encoding.
    pub(super) path: &'a str,
    pub(super) valid: Duration,
}

/// The path as it is in a request.
pub fn encoded_path(path: &[u8]) -> String {
    percent_encode(path, IN_PATH).to_string()
}

pub fn encoded_in_query(bytes: &[u8]) -> String {
    percent_encode(bytes, IN_QUERY).to_string()
}

/// Bytes without percent-encoding.
pub fn decoded(text: &str) -> Vec<u8> {
    percent_decode(text.as_bytes()).collect()
}

/// The parts of a query, still encoded. In the crate `form_urlencoded` a plus is a space: what is
/// signed would be another query (RFC 3986).
pub fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter(|part| !part.is_empty()).map(|part| part.split_once('=').unwrap_or((part, "")))
}

impl Moment {
    pub fn from_time(time: Timestamp) -> Moment {
        Moment(time.strftime("%Y%m%dT%H%M%SZ").to_string())
    }

    /// A moment as a request has it; `None` if it is none.
    pub fn read(text: &str) -> Option<(Moment, Timestamp)> {
        let time = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", text).ok()?;
        let time = time.to_zoned(TimeZone::UTC).ok()?.timestamp();
        let moment = Moment::from_time(time);
        (moment.0 == text).then_some((moment, time))
    }

    /// Its date, `YYYYMMDD`.
    pub fn date(&self) -> &str {
        &self.0[..8]
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a signature is valid for: a day, a region, and this service.
pub fn scope(moment: &Moment, region: &str) -> String {
    format!("{}/{region}/{SERVICE}/{TERMINATOR}", moment.date())
}

impl SignedParts<'_> {
    /// The signature, in hexadecimal.
    pub fn signature(&self, secret: &str, region: &str, moment: &Moment) -> String {
        hex::encode(signed(&key(secret, region, moment), &self.text(region, moment)).as_ref())
    }

    /// Whether this is its signature; how long that takes does not depend on what is wrong.
    pub fn is_signed_by(&self, signature: &str, secret: &str, region: &str, moment: &Moment) -> bool {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key(secret, region, moment).as_ref());
        let text = self.text(region, moment);
        hex::decode(signature).is_ok_and(|tag| hmac::verify(&key, text.as_bytes(), &tag).is_ok())
    }

    fn text(&self, region: &str, moment: &Moment) -> String {
        let request = digest::digest(&digest::SHA256, self.canonical().as_bytes());
        format!("{ALGORITHM}\n{}\n{}\n{}", moment.0, scope(moment, region), hex::encode(request.as_ref()))
    }

    pub fn names(&self) -> String {
        self.fields.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";")
    }

    /// The one form in which both sides see the request.
    fn canonical(&self) -> String {
        let path = encoded_path(&decoded(self.path));
        let mut text = format!("{}\n{path}\n{}\n", self.verb, canonical_query(self.query));
        for (name, value) in &self.fields {
            let value = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            writeln!(text, "{name}:{value}").expect("a String takes everything");
        }
        text + "\n" + &self.names() + "\n" + self.payload
    }
}

/// The query with every part encoded alike, in the order of the parts, without the signature.
fn canonical_query(query: &str) -> String {
    let encoded = |text: &str| encoded_in_query(&decoded(text));
    let mut parts: Vec<_> = parameters(query).map(|(name, value)| [encoded(name), encoded(value)]).collect();
    parts.retain(|[name, _]| name != SIGNATURE_PARAMETER);
    parts.sort();
    parts.iter().map(|part| part.join("=")).collect::<Vec<_>>().join("&")
}

fn key(secret: &str, region: &str, moment: &Moment) -> hmac::Tag {
    let day = signed_by(format!("AWS4{secret}").as_bytes(), moment.date());
    [region, SERVICE, TERMINATOR].iter().fold(day, |key, word| signed(&key, word))
}

fn signed(key: &hmac::Tag, text: &str) -> hmac::Tag {
    signed_by(key.as_ref(), text)
}

fn signed_by(key: &[u8], text: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes())
}

impl Presigned<'_> {
    pub(super) fn query(&self, credentials: &Credentials, region: &str, moment: Moment) -> String {
        let credential = format!("{}/{}", credentials.access_key, scope(&moment, region));
        let mut parts = vec![
            ("X-Amz-Algorithm", ALGORITHM.to_owned()),
            ("X-Amz-Credential", credential),
            ("X-Amz-Date", moment.0.clone()),
            ("X-Amz-Expires", self.valid.as_secs().to_string()),
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
            payload: UNSIGNED_PAYLOAD,
        };
        let signature = signed.signature(credentials.secret.reveal(), region, &moment);
        format!("{query}&{SIGNATURE_PARAMETER}={signature}")
    }
}
