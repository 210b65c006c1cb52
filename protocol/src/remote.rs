//! The settings with which a contender reads from a server: the names of its environment variables,
//! and the word that replaces a target that must not be on a command line.
//!
//! An object is read with the variables of the AWS tools besides: `AWS_ENDPOINT_URL_S3`,
//! `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.

use std::env::{self, VarError};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Range;

/// The word that replaces a target: the URL is in [`TARGET_VARIABLE`], because its query is a
/// secret.
pub const TARGET_ELSEWHERE: &str = "-";

/// The environment variable with the URL to read, if the target is [`TARGET_ELSEWHERE`].
pub const TARGET_VARIABLE: &str = "READLAB_TARGET";

/// The environment variable with the value of `If-Match` for every request. It is unset if the
/// server sends no strong `ETag`.
pub const ETAG_VARIABLE: &str = "READLAB_ETAG";

/// The environment variable with the path of a file of certificates in PEM. Only these certificates
/// are trusted. If the variable is unset, the certificates of the system are trusted.
pub const CACERT_VARIABLE: &str = "READLAB_CACERT";

/// The environment variable that is `1` if the user allows foreign commands to get the
/// [`SECRET_VARIABLES`], and a URL with a secret query on their command line. The lab sets it for
/// the contender `command` alone.
pub const COMMANDS_GET_CREDENTIALS_VARIABLE: &str = "READLAB_COMMANDS_GET_CREDENTIALS";

/// The variables whose values are secrets, or name the account of a secret. A contender that starts
/// foreign programs removes these variables from the environment of the programs.
pub const SECRET_VARIABLES: [&str; 4] =
    [TARGET_VARIABLE, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/// The environment variable with the style of URLs: `path`, or `virtual` for buckets that are part
/// of the server's name.
pub const STYLE_VARIABLE: &str = "READLAB_S3_STYLE";

/// The store that has the objects, and the signature of requests for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// The URL of the store.
    pub endpoint: String,
    /// The region for signatures.
    pub region: String,
    /// Whether the bucket is part of the server's name, instead of the path.
    pub is_virtual_style: bool,
    /// The credentials; without them requests are not signed.
    pub credentials: Option<Credentials>,
}

/// The credentials that sign requests for objects.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The name of the key.
    pub key_id: String,
    /// The key, which is a secret.
    pub secret: String,
    /// The session token of temporary keys; a secret.
    pub token: Option<String>,
}

/// The reason why the environment lacks a value that a reading needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// A variable is unset or empty.
    #[error("{0} is not set")]
    Unset(&'static str),
    /// The value of a variable is no text.
    #[error("{0} is not UTF-8")]
    NotUtf8(&'static str),
}

/// The value of a variable; `None` if it is unset or empty.
fn variable(name: &'static str) -> Result<Option<String>, VariableError> {
    match env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(VariableError::NotUtf8(name)),
    }
}

/// The version of the content that every request requires, from [`ETAG_VARIABLE`].
///
/// # Errors
/// If the value is not UTF-8.
pub fn etag() -> Result<Option<String>, VariableError> {
    variable(ETAG_VARIABLE)
}

/// The file of certificates that replaces the system's certificates, from [`CACERT_VARIABLE`].
#[must_use]
pub fn cacert() -> Option<OsString> {
    env::var_os(CACERT_VARIABLE).filter(|path| !path.is_empty())
}

impl Store {
    /// The store that the environment variables describe.
    ///
    /// # Errors
    /// If a variable is not UTF-8, or the endpoint or the region is not set.
    pub fn from_environment() -> Result<Store, VariableError> {
        Store::from_variables(variable)
    }

    fn from_variables(
        variable: impl Fn(&'static str) -> Result<Option<String>, VariableError>,
    ) -> Result<Store, VariableError> {
        let required =
            |name: &'static str| variable(name).and_then(|value| value.ok_or(VariableError::Unset(name)));
        let keys = variable("AWS_ACCESS_KEY_ID")?.zip(variable("AWS_SECRET_ACCESS_KEY")?);
        let token = variable("AWS_SESSION_TOKEN")?;
        Ok(Store {
            endpoint: required("AWS_ENDPOINT_URL_S3")?,
            region: required("AWS_REGION")?,
            is_virtual_style: variable(STYLE_VARIABLE)?.as_deref() == Some("virtual"),
            credentials: keys.map(|(key_id, secret)| Credentials { key_id, secret, token }),
        })
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// The range and the whole size, in bytes, in a header `Content-Range`: `bytes 0-99/1234`
/// (RFC 9110, 14.4). `None` for another unit, an unknown range and an unknown size.
#[must_use]
pub fn content_range(value: &str) -> Option<(Range<u64>, u64)> {
    let (range, size) = value.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let end = last.parse::<u64>().ok()?.checked_add(1)?;
    Some((first.parse().ok()?..end, size.parse().ok()?))
}

/// The target that a word of the command line stands for.
#[must_use]
pub fn target(word: &OsStr) -> OsString {
    let elsewhere = (word == TARGET_ELSEWHERE).then(|| env::var_os(TARGET_VARIABLE)).flatten();
    elsewhere.unwrap_or_else(|| word.to_owned())
}

/// A URL for messages, without its query, which may be a secret.
#[must_use]
pub fn url_without_query(url: &str) -> &str {
    url.split_once('?').map_or(url, |(before, _)| before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_in_a_message_has_no_query() {
        assert_eq!(url_without_query("https://h/o?X-Amz-Signature=secret"), "https://h/o");
        assert_eq!(url_without_query("s3://b/k"), "s3://b/k");
    }

    #[test]
    fn every_secret_variable_is_in_the_protocol_page() {
        let page = include_str!("../../PROTOCOL.md");
        for name in SECRET_VARIABLES {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
        let credentials = page.lines().find(|line| line.contains("how requests for objects are signed"));
        for name in credentials.unwrap().split('`').filter(|word| word.starts_with("AWS_")) {
            assert!(SECRET_VARIABLES.contains(&name), "{name} is a credential");
        }
    }

    #[test]
    fn a_store_comes_from_the_variables_and_shows_no_secret() {
        let store = |variables: &[(&str, &str)]| {
            let value =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
            Store::from_variables(|name| Ok(value(name).map(str::to_owned)))
        };
        let [endpoint, region] = [("AWS_ENDPOINT_URL_S3", "http://h"), ("AWS_REGION", "r")];
        assert_eq!(store(&[region]), Err(VariableError::Unset("AWS_ENDPOINT_URL_S3")));
        assert_eq!(store(&[endpoint]), Err(VariableError::Unset("AWS_REGION")));
        let key = ("AWS_ACCESS_KEY_ID", "the-key");
        let unsigned = store(&[endpoint, region, key]).unwrap();
        assert_eq!((unsigned.endpoint.as_str(), unsigned.region.as_str()), ("http://h", "r"));
        assert!(!unsigned.is_virtual_style && unsigned.credentials.is_none());
        let secrets = [("AWS_SECRET_ACCESS_KEY", "the-secret"), ("AWS_SESSION_TOKEN", "the-token")];
        let virtual_style = (STYLE_VARIABLE, "virtual");
        let signed = store(&[endpoint, region, key, secrets[0], secrets[1], virtual_style]).unwrap();
        assert!(signed.is_virtual_style && !format!("{signed:?}").contains("the-"), "{signed:?}");
        let credentials = signed.credentials.unwrap();
        assert_eq!((credentials.key_id.as_str(), credentials.secret.as_str()), ("the-key", "the-secret"));
        assert_eq!(credentials.token.as_deref(), Some("the-token"));
    }

    #[test]
    fn a_content_range_parses_as_servers_write_it() {
        assert_eq!(content_range("bytes 0-0/1"), Some((0..1, 1)));
        assert_eq!(content_range("bytes 5-9/10"), Some((5..10, 10)));
        for bad in ["bytes 0-0/*", "bytes */0", "0-1/2", "bytes 0-18446744073709551615/1", ""] {
            assert_eq!(content_range(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_path_as_target_is_taken_literally() {
        assert_eq!(target(OsStr::new("/f")), OsStr::new("/f"));
    }
}
