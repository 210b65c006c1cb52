//! A URL at another server as a target: its facts, and whether its content has changed.

use super::http::{Client, HttpError, RequestVerb, Response, Trust, WaitCheck};
use super::url::Url;
use super::{Http, Place, Target, TargetError, TargetFacts};
use std::path::PathBuf;
use std::sync::Arc;

/// The words for the cache of another server, wherever a state is shown.
pub const CACHE_UNKNOWN: &str = "state of the server's cache: unknown";

/// The fields that distinguish one state of a URL's content from another, as far as its server
/// sends them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Version {
    /// The field `ETag`.
    pub etag: Option<String>,
    /// The field `Last-Modified`.
    pub last_modified: Option<String>,
    /// The field `Content-Length`.
    pub content_length: Option<String>,
}

impl Version {
    /// Of the content now, by a HEAD.
    ///
    /// # Errors
    /// If the server cannot be reached, or does not answer with 200.
    pub fn of(url: &Url, client: &Client) -> Result<Version, HttpError> {
        client.ask(RequestVerb::Head, url, &[], &|| Ok(())).map(|response| Version::in_head(&response))
    }

    /// The `ETag` if it is strong: two contents of which it is the same have the same bytes, so
    /// that a request can be made for it alone, with `If-Match`.
    #[must_use]
    pub fn strong_etag(&self) -> Option<&str> {
        let etag = self.etag.as_deref()?;
        let inner = etag.strip_prefix('"')?.strip_suffix('"')?;
        let is_tag = |c: char| !(c == '"' || c.is_whitespace() || c.is_control());
        inner.chars().all(is_tag).then_some(etag)
    }

    fn in_head(response: &Response<'_>) -> Version {
        let field = |name| response.field(name).map(str::to_owned);
        Version {
            etag: field("etag"),
            last_modified: field("last-modified"),
            content_length: field("content-length"),
        }
    }

    /// How the content as it is `now` differs from this.
    #[must_use]
    pub fn change(&self, now: &Version) -> Option<String> {
        let fields = [
            ("ETag", &self.etag, &now.etag),
            ("Last-Modified", &self.last_modified, &now.last_modified),
            ("Content-Length", &self.content_length, &now.content_length),
        ];
        let (name, from, to) = fields.into_iter().find(|(_, from, to)| from != to)?;
        let (from, to) = (from.as_deref().unwrap_or("none"), to.as_deref().unwrap_or("none"));
        Some(format!("changed its {name} from {from} to {to}"))
    }

    fn is_unknown(&self) -> bool {
        *self == Version::default()
    }
}

impl Target {
    /// Collects the facts about a URL except its size and answer, which take a whole read
    /// ([`crate::corpus`]). Servers are trusted by the certificates of a file, `cacert`, instead of
    /// those of the system.
    ///
    /// # Errors
    /// If the server cannot be reached, is not trusted, or does not send the URL's bytes; or the
    /// error of `check`.
    pub fn ask(url: Url, cacert: Option<PathBuf>, check: WaitCheck) -> Result<Target, TargetError> {
        let client = Arc::new(Client::new(Trust::from(cacert)));
        let failed = |cause| TargetError::Web { url: url.clone(), cause };
        // A server may refuse HEAD and still send the bytes: then a GET decides, which ends after
        // its head.
        let (version, response) = match client.ask(RequestVerb::Head, &url, &[], check) {
            Ok(response) => (Some(Version::in_head(&response)), response),
            Err(HttpError::Status { .. } | HttpError::Redirect { .. }) => {
                (None, client.ask(RequestVerb::Get, &url, &[], check).map_err(failed)?)
            }
            Err(cause) => return Err(failed(cause)),
        };
        let software = response.field("server").map(str::to_owned);
        let known = version.clone().unwrap_or_default();
        let facts = TargetFacts {
            path: url.to_string(),
            size_bytes: response.field("content-length").and_then(|it| it.parse().ok()).unwrap_or(0),
            cautions: cautions(version.as_ref()),
            http: Some(Http::Foreign { software, etag: known.etag, last_modified: known.last_modified }),
            ..TargetFacts::default()
        };
        Ok(Target { place: Place::Web { url, version, client }, part: None, facts, evictable: Vec::new() })
    }
}

fn cautions(version: Option<&Version>) -> Vec<String> {
    let mut cautions = vec![format!(
        "The server is not readlab's: {CACHE_UNKNOWN}. Every reading includes the server and the network."
    )];
    if version.is_none_or(Version::is_unknown) {
        let text = "The server sends neither ETag, Last-Modified nor Content-Length to a HEAD: only the answers show a \
                    change of the bytes.";
        cautions.push(text.to_owned());
    }
    cautions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_names_the_field_that_changed() {
        let before = Version { etag: Some("a".into()), ..Version::default() };
        assert_eq!(before.change(&before.clone()), None);
        let now = Version { etag: Some("b".into()), content_length: Some("1".into()), ..before.clone() };
        assert_eq!(before.change(&now).unwrap(), "changed its ETag from a to b");
        assert_eq!(before.change(&Version::default()).unwrap(), "changed its ETag from a to none");
    }

    #[test]
    fn only_a_strong_etag_is_for_conditions() {
        let strong = |etag: &str| {
            let version = Version { etag: Some(etag.to_owned()), ..Version::default() };
            version.strong_etag().map(str::to_owned)
        };
        for etag in ["\"a\"", "\"\"", "\"d41d8cd9-2\"", "\"W/\""] {
            assert_eq!(strong(etag).as_deref(), Some(etag));
        }
        for etag in ["W/\"a\"", "w/\"a\"", "a", "\"", "\"a", "\"a\"b\"", "\"a\", \"b\"", "\"a\rb\"", ""] {
            assert_eq!(strong(etag), None, "{etag}");
        }
        assert_eq!(Version::default().strong_etag(), None);
    }

    #[test]
    fn another_server_always_has_its_caution() {
        assert!(
            cautions(Some(&Version { etag: Some("a".into()), ..Version::default() }))[0]
                .contains(CACHE_UNKNOWN)
        );
        assert_eq!(cautions(None).len(), 2);
    }
}
