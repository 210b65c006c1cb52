//! A URL of somebody else's server as a target: what it says of itself, and whether it still says so.

use super::http::{self, Check, HttpError, Response, Verb};
use super::url::Url;
use super::{Http, Place, Target, TargetError, TargetFacts};

/// What a foreign server's cache is said to be, wherever a state is told.
pub const CACHE_UNKNOWN: &str = "state of the server's cache: unknown";

/// What tells one state of a URL from another, as far as its server gives it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Version {
    /// The server's name for this content.
    pub etag: Option<String>,
    /// When the server says it was changed.
    pub last_modified: Option<String>,
    /// The size that the server promises.
    pub content_length: Option<String>,
}

impl Version {
    /// Of what the URL gives now, by a HEAD.
    ///
    /// # Errors
    /// If the server cannot be asked, or does not answer with 200.
    pub fn of(url: &Url) -> Result<Version, HttpError> {
        http::ask(Verb::Head, url, &|| Ok(())).map(|response| Version::in_head(&response))
    }

    fn in_head(response: &Response<'_>) -> Version {
        let field = |name| response.field(name).map(str::to_owned);
        Version {
            etag: field("etag"),
            last_modified: field("last-modified"),
            content_length: field("content-length"),
        }
    }

    /// How what the URL gives `now` differs from this.
    #[must_use]
    pub fn change(&self, now: &Version) -> Option<String> {
        let fields = [
            ("ETag", &self.etag, &now.etag),
            ("Last-Modified", &self.last_modified, &now.last_modified),
            ("Content-Length", &self.content_length, &now.content_length),
        ];
        let (name, from, to) = fields.into_iter().find(|(_, from, to)| from != to)?;
        let told = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
        Some(format!("changed its {name} from {} to {}", told(from), told(to)))
    }

    fn says_nothing(&self) -> bool {
        *self == Version::default()
    }
}

impl Target {
    /// Asks a URL what it says of itself; its size and answer take a whole reading ([`crate::corpus`]).
    ///
    /// # Errors
    /// If the server cannot be asked, or does not give the URL's bytes; or the error of `check`.
    pub fn ask(url: Url, check: Check) -> Result<Target, TargetError> {
        let failed = |cause| TargetError::Web { url: url.clone(), cause };
        // A server may refuse HEAD and yet give the bytes: then a GET, which is let go after its head, decides.
        let (version, response) = match http::ask(Verb::Head, &url, check) {
            Ok(response) => (Some(Version::in_head(&response)), response),
            Err(HttpError::Status { .. } | HttpError::Redirect { .. }) => {
                (None, http::ask(Verb::Get, &url, check).map_err(failed)?)
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
        Ok(Target { place: Place::Web { url, version }, facts, evictable: Vec::new() })
    }
}

fn cautions(version: Option<&Version>) -> Vec<String> {
    let mut cautions = vec![format!(
        "The server is not readlab's: {CACHE_UNKNOWN}. What it and the network do is in every reading."
    )];
    if version.is_none_or(Version::says_nothing) {
        let text = "The server names neither ETag, Last-Modified nor Content-Length to a HEAD: a change of the bytes is \
                    seen by the answers alone.";
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
    fn a_foreign_server_is_never_told_without_its_caution() {
        assert!(
            cautions(Some(&Version { etag: Some("a".into()), ..Version::default() }))[0]
                .contains(CACHE_UNKNOWN)
        );
        assert_eq!(cautions(None).len(), 2);
    }
}
