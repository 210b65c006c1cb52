//! The address of a store: `http[s]://host[:port][/path]`.

use super::object::ObjectName;
use crate::target::secret::redact_url;
use readlab_model::target::BucketStyle;
use readlab_system::terminal::printable::printable;
use std::fmt;
use std::str::FromStr;

/// The address of a store in normalised form, without the default port of its scheme and without a
/// final slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    scheme: &'static str,
    authority: String,
    path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    #[error("an endpoint with a user or a password is not read: both would be in the record")]
    User,
    /// The text is shown without secrets.
    #[error("{}: not an endpoint: expected http[s]://host[:port][/path]", printable(.0))]
    Form(String),
}

/// The schemes and their default ports.
const SCHEMES: [(&str, u16); 2] = [("http", 80), ("https", 443)];

impl Endpoint {
    pub fn for_region(region: &str) -> Endpoint {
        let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
        Endpoint { scheme: "https", authority: format!("s3.{region}.{domain}"), path: String::new() }
    }

    /// The value of the header field `Host` in a request for an object.
    pub fn host(&self, object: &ObjectName, style: BucketStyle) -> String {
        match style {
            BucketStyle::Path => self.authority.clone(),
            BucketStyle::Virtual => format!("{}.{}", object.bucket(), self.authority),
        }
    }

    /// The path of an object, without percent-encoding.
    pub fn path(&self, object: &ObjectName, style: BucketStyle) -> String {
        match style {
            BucketStyle::Path => format!("{}/{}/{}", self.path, object.bucket(), object.key()),
            BucketStyle::Virtual => format!("{}/{}", self.path, object.key()),
        }
    }

    pub fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// The host, followed by its port if it is not the default port of the scheme.
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Endpoint, EndpointError> {
        let form = || EndpointError::Form(redact_url(text));
        if text.contains('@') {
            return Err(EndpointError::User);
        }
        let (word, rest) = text.split_once("://").ok_or_else(form)?;
        let known = SCHEMES.into_iter().find(|(scheme, _)| word.eq_ignore_ascii_case(scheme));
        let (scheme, port) = known.ok_or_else(form)?;
        if !rest.bytes().all(|byte| byte.is_ascii_graphic()) || rest.contains(['?', '#']) {
            return Err(form());
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let authority = authority.strip_suffix(&format!(":{port}")).unwrap_or(authority);
        if !is_authority(authority) {
            return Err(form());
        }
        let path = path.trim_end_matches('/').to_owned();
        Ok(Endpoint { scheme, authority: authority.to_owned(), path })
    }
}

/// True if the text is `host[:port]`; an IPv6 address must be in brackets.
fn is_authority(text: &str) -> bool {
    let host = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            if port.parse::<u16>().is_err() {
                return false;
            }
            host
        }
        _ => text,
    };
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_name =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    !host.is_empty()
        && inner.map_or_else(|| is_name(host), |inner| inner.parse::<std::net::Ipv6Addr>().is_ok())
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}://{}{}", self.scheme, self.authority, self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_endpoints_are_normalised_to_one_form() {
        for (text, shown) in [
            ("http://127.0.0.1:9000", "http://127.0.0.1:9000"),
            ("HTTPS://host:443/", "https://host"),
            ("http://host:80", "http://host"),
            ("http://host:443", "http://host:443"),
            ("https://[::1]:9000/a/b/", "https://[::1]:9000/a/b"),
            ("https://[::1]", "https://[::1]"),
        ] {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), shown);
        }
        for text in
            ["host:9000", "ftp://host", "http://", "http://h:x", "http://h/?a", "http://h h", "http://[x]"]
        {
            assert!(text.parse::<Endpoint>().unwrap_err().to_string().contains("not an endpoint"), "{text}");
        }
        let error = "http://user:hunter2@host".parse::<Endpoint>().unwrap_err();
        assert!(!error.to_string().contains("hunter2"));
        let error = "https://host/?sig=hunter2".parse::<Endpoint>().unwrap_err();
        assert!(error.to_string().starts_with("https://host/?…: not an endpoint"), "{error}");
    }

    #[test]
    fn the_addressing_style_puts_the_bucket_into_the_path_or_the_host() {
        let object = ObjectName::new("bucket", "a/b").unwrap();
        let endpoint: Endpoint = "https://host:9/base/".parse().unwrap();
        assert_eq!(endpoint.host(&object, BucketStyle::Path), "host:9");
        assert_eq!(endpoint.path(&object, BucketStyle::Path), "/base/bucket/a/b");
        assert_eq!(endpoint.host(&object, BucketStyle::Virtual), "bucket.host:9");
        assert_eq!(endpoint.path(&object, BucketStyle::Virtual), "/base/a/b");
    }

    #[test]
    fn every_region_has_its_endpoint() {
        assert_eq!(Endpoint::for_region("eu-north-1").to_string(), "https://s3.eu-north-1.amazonaws.com");
        assert_eq!(Endpoint::for_region("cn-north-1").to_string(), "https://s3.cn-north-1.amazonaws.com.cn");
    }
}
