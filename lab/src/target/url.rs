//! URLs as targets: `http://host[:port]/path[?query]`, as contenders get them.

use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

/// A URL that is read over HTTP/1.1 without encryption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    text: String,
    authority: String,
    port: u16,
    request: String,
}

/// Why a word is no URL that can be raced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It needs encryption.
    #[error(
        "{0}: https is not read: TLS is not built in, and its cost would be measured with every reading; name an http:// URL"
    )]
    Tls(String),
    /// It has a user, whose password would be in every record.
    #[error("a URL with a user or a password is not read: both would be in the record")]
    User,
    /// It has another form.
    #[error("{0}: not a URL: expected http://host[:port]/path in printable ASCII, without a fragment")]
    Form(String),
}

const SCHEME: &str = "http://";

/// Whether a word on the command line is a URL and no path.
#[must_use]
pub fn is_url(word: &OsStr) -> bool {
    let word = word.as_encoded_bytes();
    word.starts_with(SCHEME.as_bytes()) || word.starts_with(b"https://")
}

impl Url {
    /// The address to connect to, as `host:port`.
    #[must_use]
    pub fn address(&self) -> String {
        let host = self.authority.rsplit_once(':').filter(|(_, port)| is_port(port));
        format!("{}:{}", host.map_or(self.authority.as_str(), |(host, _)| host), self.port)
    }

    /// The value of a request's `Host` field.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Path and query.
    #[must_use]
    pub fn request(&self) -> &str {
        &self.request
    }

    /// The URL as the user wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn is_port(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Url, UrlError> {
        let form = || UrlError::Form(text.to_owned());
        if text.starts_with("https://") {
            return Err(UrlError::Tls(text.to_owned()));
        }
        let rest = text.strip_prefix(SCHEME).ok_or_else(form)?;
        if !rest.bytes().all(|byte| byte.is_ascii_graphic()) || rest.contains('#') {
            return Err(form());
        }
        let cut = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, request) = rest.split_at(cut);
        if authority.contains('@') {
            return Err(UrlError::User);
        }
        // The colons of an IPv6 address in brackets do not separate a port.
        let after_host = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest);
        let port = match after_host.rsplit_once(':') {
            Some((_, port)) if is_port(port) => port.parse().map_err(|_| form())?,
            Some(_) => return Err(form()),
            None => 80,
        };
        let bare = authority.strip_suffix(&format!(":{port}")).unwrap_or(authority);
        if bare.is_empty() {
            return Err(form());
        }
        let request = if request.starts_with('/') { request.to_owned() } else { format!("/{request}") };
        Ok(Url { text: text.to_owned(), authority: authority.to_owned(), port, request })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_split_into_its_parts() {
        for (text, address, authority, request) in [
            ("http://host", "host:80", "host", "/"),
            ("http://host:8080/a/b?c=d", "host:8080", "host:8080", "/a/b?c=d"),
            ("http://host?c", "host:80", "host", "/?c"),
            ("http://[::1]:81/", "[::1]:81", "[::1]:81", "/"),
            ("http://[::1]/x", "[::1]:80", "[::1]", "/x"),
        ] {
            let url: Url = text.parse().unwrap();
            assert_eq!(
                (url.address().as_str(), url.authority(), url.request()),
                (address, authority, request)
            );
            assert_eq!(url.to_string(), text);
        }
    }

    #[test]
    fn a_url_that_cannot_be_raced_has_a_reason() {
        let why = |text: &str| text.parse::<Url>().unwrap_err().to_string();
        assert!(why("https://host/").contains("TLS is not built in"));
        assert!(!why("http://user:secret@host/").contains("secret"));
        for text in [
            "http://",
            "http:///x",
            "http://:80/",
            "http://h:x/",
            "http://h:99999/",
            "http://h/a b",
            "http://h/#a",
            "ftp://h/",
        ] {
            assert!(why(text).contains("not a URL"), "{text}");
        }
    }

    #[test]
    fn only_a_whole_scheme_makes_a_url() {
        assert!(is_url("http://h".as_ref()) && is_url("https://h".as_ref()));
        assert!(!is_url("http:/h".as_ref()) && !is_url("./http://h".as_ref()));
    }
}
