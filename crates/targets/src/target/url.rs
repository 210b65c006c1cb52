//! URLs as targets: `http[s]://host[:port]/path[?query]`, as contenders get them.

use super::secret::{self, REDACTED};
use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

/// A URL that is read over HTTP/1.1, with or without encryption.
///
/// The query is not shown if it is a secret, not even by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    scheme: Scheme,
    /// The URL as the user wrote it.
    exact_text: String,
    /// The URL for all output and for records.
    shown_text: String,
    authority: String,
    port: u16,
    path_and_query: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Http,
    /// Encrypted HTTP.
    Https,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("a URL with a user or a password is not read: both would be in the record")]
    User,
    /// The URL was copied from output in which its query is hidden.
    #[error("{0}: the query of this URL is a secret, which no record keeps: name the URL again, in full")]
    Hidden(String),
    #[error("{0}: not a URL: expected http[s]://host[:port]/path in printable ASCII, without a fragment")]
    Form(String),
}

/// True if a word of the command line is a URL and not a path.
pub fn is_url(word: &OsStr) -> bool {
    let word = word.as_encoded_bytes();
    Scheme::ALL.iter().any(|scheme| word.starts_with(scheme.prefix().as_bytes()))
}

impl Scheme {
    const ALL: [Scheme; 2] = [Scheme::Http, Scheme::Https];

    fn prefix(self) -> &'static str {
        match self {
            Scheme::Http => "http://",
            Scheme::Https => "https://",
        }
    }

    fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }

    fn split(text: &str) -> Option<(Scheme, &str)> {
        Scheme::ALL.into_iter().find_map(|scheme| Some((scheme, text.strip_prefix(scheme.prefix())?)))
    }
}

impl Url {
    pub fn is_encrypted(&self) -> bool {
        self.scheme == Scheme::Https
    }

    /// The address to connect to, as `host:port`.
    pub fn address(&self) -> String {
        format!("{}:{}", self.bracketed_host(), self.port)
    }

    /// The host as certificates name it: an IPv6 address without brackets.
    pub fn host(&self) -> &str {
        self.bracketed_host().trim_start_matches('[').trim_end_matches(']')
    }

    /// The host, an IPv6 address in brackets.
    fn bracketed_host(&self) -> &str {
        let host = self.authority.rsplit_once(':').filter(|(_, port)| is_port(port));
        host.map_or(self.authority.as_str(), |(host, _)| host)
    }

    /// The value of the header field `Host`.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    pub fn is_secret(&self) -> bool {
        self.shown_text != self.exact_text
    }

    /// The path with the query, which may be a secret; only for requests.
    pub fn exact_path_and_query(&self) -> &str {
        &self.path_and_query
    }

    /// The URL as the user wrote it, which may be a secret. Contenders get it, but not on their
    /// command line.
    pub fn exact_text(&self) -> &str {
        &self.exact_text
    }

    /// The URL to which a redirect with this `Location` leads (RFC 3986, 5.2); `None` if it is not
    /// a URL.
    pub fn resolve(&self, location: &str) -> Option<Url> {
        let location = location.split('#').next().unwrap_or_default();
        let scheme = self.scheme.prefix();
        let root = format!("{scheme}{}", self.authority);
        let path = self.path_and_query.split('?').next().unwrap_or("/");
        let absolute = match location {
            "" => return None,
            _ if is_url(location.as_ref()) => location.to_owned(),
            _ if location.starts_with("//") => format!("{}{location}", scheme.trim_end_matches('/')),
            _ if location.starts_with('/') => format!("{root}{}", without_dots(location)),
            _ if location.starts_with('?') => format!("{root}{path}{location}"),
            _ => {
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                format!("{root}{}", without_dots(&format!("{folder}/{location}")))
            }
        };
        absolute.parse().ok()
    }

    /// True if another URL has the same host and port, or is the encrypted form of this URL.
    pub fn shares_server(&self, other: &Url) -> bool {
        let is_same = (self.scheme, self.port) == (other.scheme, other.port);
        let usual = |url: &Url, scheme: Scheme| url.scheme == scheme && url.port == scheme.default_port();
        let is_upgrade = usual(self, Scheme::Http) && usual(other, Scheme::Https);
        self.host().eq_ignore_ascii_case(other.host()) && (is_same || is_upgrade)
    }
}

/// A path with its query, without the segments `.` and `..`.
fn without_dots(request: &str) -> String {
    let (path, query) = request.split_at(request.find('?').unwrap_or(request.len()));
    let mut parts = Vec::new();
    let mut is_folder = false;
    for part in path.split('/').skip(1) {
        is_folder = matches!(part, "." | "..");
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let end = if is_folder && !parts.is_empty() { "/" } else { "" };
    format!("/{}{end}{query}", parts.join("/"))
}

fn is_port(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The port in an authority, or the default port of the scheme; `None` if the port is malformed.
fn parse_port(authority: &str, scheme: Scheme) -> Option<u16> {
    // The colons in an IPv6 address in brackets do not separate a port.
    let after_host = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest);
    match after_host.rsplit_once(':') {
        Some((_, port)) if is_port(port) => port.parse().ok(),
        Some(_) => None,
        None => Some(scheme.default_port()),
    }
}

impl FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Url, UrlError> {
        let shown = secret::redact_url(text);
        let form = || UrlError::Form(shown.clone());
        let (scheme, rest) = Scheme::split(text).ok_or_else(form)?;
        let (authority, request) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(UrlError::User);
        }
        if request.ends_with(&format!("?{REDACTED}")) {
            return Err(UrlError::Hidden(shown));
        }
        if !rest.bytes().all(|byte| byte.is_ascii_graphic()) || rest.contains('#') {
            return Err(form());
        }
        let port = parse_port(authority, scheme).ok_or_else(form)?;
        let bare = authority.strip_suffix(&format!(":{port}")).unwrap_or(authority);
        if bare.is_empty() {
            return Err(form());
        }
        let request = if request.starts_with('/') { request.to_owned() } else { format!("/{request}") };
        let (exact_text, authority) = (text.to_owned(), authority.to_owned());
        Ok(Url { scheme, exact_text, shown_text: shown, authority, port, path_and_query: request })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.shown_text)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Url").field(&self.shown_text).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::source::Source;
    use crate::target::web::RemoteTarget;
    use crate::target::{Place, Target};
    use proptest::prelude::*;
    use readlab_model::target::{ServerOptions, TargetFacts};
    use readlab_protocol::Reads;

    #[test]
    fn a_relative_redirect_is_resolved_against_the_url() {
        let base: Url = "http://h:81/a/b?c=d".parse().unwrap();
        for (location, expected) in [
            ("/f?sig=abc", "http://h:81/f?sig=abc"),
            ("f", "http://h:81/a/f"),
            ("../f", "http://h:81/f"),
            ("./", "http://h:81/a/"),
            ("?x", "http://h:81/a/b?x"),
            ("//other/f#part", "http://other/f"),
            ("https://h/f", "https://h/f"),
        ] {
            assert_eq!(base.resolve(location).unwrap().exact_text(), expected, "{location}");
        }
        for location in ["", "#part", "https://user@h/f", "ftp://h/f\u{7}"] {
            assert_eq!(base.resolve(location), None, "{location}");
        }
    }

    #[test]
    fn urls_share_a_server_by_host_and_port_or_as_an_upgrade_to_https() {
        let shares =
            |one: &str, other: &str| one.parse::<Url>().unwrap().shares_server(&other.parse().unwrap());
        assert!(shares("http://h:81/a", "http://H:81/b") && shares("http://h/a", "https://h/a"));
        assert!(!shares("https://h/a", "http://h/a") && !shares("http://h/a", "http://i/a"));
        assert!(!shares("http://h:81/a", "http://h/a") && !shares("http://h:81/a", "https://h/a"));
    }

    #[test]
    fn a_url_is_split_into_its_parts() {
        for (text, address, host, authority, request) in [
            ("http://host", "host:80", "host", "host", "/"),
            ("http://host:8080/a/b?page=d", "host:8080", "host", "host:8080", "/a/b?page=d"),
            ("http://host?page", "host:80", "host", "host", "/?page"),
            ("http://[::1]:81/", "[::1]:81", "::1", "[::1]:81", "/"),
            ("http://[::1]/x", "[::1]:80", "::1", "[::1]", "/x"),
            ("https://host/x", "host:443", "host", "host", "/x"),
            ("https://host:80/x", "host:80", "host", "host:80", "/x"),
            ("https://[::1]/x", "[::1]:443", "::1", "[::1]", "/x"),
        ] {
            let url: Url = text.parse().unwrap();
            assert_eq!((url.address(), url.host()), (address.to_owned(), host));
            assert_eq!((url.authority(), url.exact_path_and_query()), (authority, request));
            assert_eq!([url.to_string().as_str(), url.exact_text()], [text; 2]);
            assert_eq!((url.is_encrypted(), url.is_secret()), (text.starts_with("https"), false));
        }
    }

    #[test]
    fn a_url_that_cannot_be_raced_has_a_reason() {
        let why = |text: &str| text.parse::<Url>().unwrap_err().to_string();
        for text in ["http://user:hush@host/", "https://user:hush@host/a b", "ftp://user:hush@host/"] {
            assert!(!why(text).contains("hush"), "{}", why(text));
        }
        assert_eq!("https://u@h/".parse::<Url>(), Err(UrlError::User));
        for text in [
            "http://",
            "https://",
            "http:///x",
            "http://:80/",
            "http://h:x/",
            "https://h:99999/",
            "http://h/a b",
            "http://h/#a",
            "ftp://h/",
        ] {
            assert!(why(text).contains("not a URL"), "{text}");
        }
        assert_eq!(
            why("https://h/o?sig=hush#a"),
            "https://h/o?…: not a URL: expected http[s]://host[:port]/path in printable ASCII, without a fragment"
        );
    }

    #[test]
    fn a_hidden_query_must_be_named_again() {
        let url: Url = "https://h/o?X-Amz-Signature=hush".parse().unwrap();
        assert_eq!((url.to_string().as_str(), url.is_secret()), ("https://h/o?…", true));
        assert_eq!(
            url.to_string().parse::<Url>().unwrap_err().to_string(),
            "https://h/o?…: the query of this URL is a secret, which no record keeps: name the URL again, in full"
        );
    }

    #[test]
    fn only_a_whole_scheme_makes_a_url() {
        assert!(is_url("http://h".as_ref()) && is_url("https://h".as_ref()));
        assert!(!is_url("http:/h".as_ref()) && !is_url("./http://h".as_ref()));
    }

    /// All representations of a target that users or records can see.
    fn shown_texts(url: &Url, target: &Target) -> String {
        let facts = serde_json::to_string(&target.facts).unwrap();
        let word = target.request(Reads::Url).unwrap().word;
        format!("{url} {url:?} {target:?} {facts} {} {}", target.name().display(), word.display())
    }

    /// Names that servers use for keys, and any name that is not known to be harmless.
    fn secret_name() -> impl Strategy<Value = String> {
        let known = prop::sample::select(vec![
            "X-Amz-Signature",
            "X-Amz-Credential",
            "x-amz-security-token",
            "X-Goog-Signature",
            "Signature",
            "SIG",
            "token",
            "access_token",
            "Policy",
            "Key-Pair-Id",
            "se",
            "sp",
            "sv",
            "subscription-key",
            "api-key",
            "access-key",
            "private_key",
            "pass",
        ]);
        // No harmless name ends with `_x`.
        let unknown = "[a-zA-Z][a-zA-Z_.-]{0,12}_x";
        prop_oneof![known.prop_map(str::to_owned), unknown]
    }

    proptest! {
        #[test]
        fn no_part_of_a_secret_query_is_shown_or_recorded(
            before in proptest::collection::vec("[a-z]{1,5}=[0-9]{4,9}", 0..3),
            name in secret_name(),
            value in "[0-9]{4}[0-9%/+.~_-]{0,40}[0-9]{4}",
            after in proptest::collection::vec("[a-z]{1,5}=[0-9]{4,9}", 0..3),
        ) {
            let pair = format!("{name}={value}");
            let query = [before, vec![pair], after].concat();
            let text = format!("https://host/object?{}", query.join("&"));
            let url: Url = text.parse().unwrap();
            let facts = TargetFacts { path: url.to_string(), ..TargetFacts::default() };
            let remote = RemoteTarget::new(Source::Url(url.clone()), &ServerOptions::default());
            let place = Place::Web(Box::new(remote));
            let target = Target { place, part: None, copies: None, facts, evictable: Vec::new() };
            let seen = shown_texts(&url, &target);
            for pair in &query {
                let value = pair.split_once('=').unwrap().1;
                for part in value.as_bytes().windows(4) {
                    let part = std::str::from_utf8(part).unwrap();
                    prop_assert!(!seen.contains(part), "{part} of {value} is in {seen}");
                }
            }
            prop_assert_eq!(url.exact_text(), &text);
        }
    }
}
