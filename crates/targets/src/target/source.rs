//! The source of a target on a server, which is a URL or an object, and what a program needs to
//! request it.
//!
//! Contenders get secrets in their environment, never on a command line. Other programs, which the
//! contender `command` starts, get secrets only if the user permits it.

use super::http::RequestVerb;
use super::s3::store::VARIABLES_REMOVED;
use super::s3::{ConfigError, ObjectName, PresignError, ProcessSurroundings, Store};
use super::url::{Url, UrlError};
use jiff::Timestamp;
use readlab_model::target::{ServerOptions, StoreFacts};
use readlab_protocol::Reads;
use readlab_protocol::remote::{COMMANDS_GET_CREDENTIALS_VARIABLE, TARGET_ELSEWHERE, TARGET_VARIABLE};
use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// Validity of the signed URL that a contender gets. It must outlast the contender's session.
const URL_VALIDITY: Duration = Duration::from_secs(12 * 60 * 60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Url(Url),
    Object(Box<StoredObject>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredObject {
    pub store: Store,
    pub name: ObjectName,
}

#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error(transparent)]
    Url(#[from] UrlError),
    #[error(transparent)]
    Object(#[from] super::s3::ObjectNameError),
    #[error(transparent)]
    Config(#[from] ConfigError),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadRequest {
    /// The word on the program's command line that names the target.
    pub word: OsString,
    /// Variables that are removed from the program's environment.
    pub env_removed: Vec<OsString>,
    /// Variables that are added to the program's environment; some may be secrets.
    pub env: Vec<(OsString, OsString)>,
}

/// True if a word of the command line names a URL or an object and not a file.
pub fn is_remote(word: &Path) -> bool {
    super::url::is_url(word.as_os_str()) || super::s3::is_object_name(word.as_os_str())
}

impl Source {
    /// Parses a word of the command line: `s3://bucket/key`, or a URL.
    pub fn parse(word: &str, options: &ServerOptions) -> Result<Source, SourceError> {
        if !super::s3::is_object_name(word.as_ref()) {
            return Ok(Source::Url(word.parse()?));
        }
        let name = word.parse()?;
        let store = Store::from_configuration(options, &ProcessSurroundings)?;
        Ok(Source::Object(Box::new(StoredObject { store, name })))
    }

    /// The URL for a request of the lab itself; it may be a secret.
    pub fn url(&self, verb: RequestVerb) -> Result<Url, PresignError> {
        match self {
            Source::Url(url) => Ok(url.clone()),
            Source::Object(object) => {
                object.store.presigned_url(verb, &object.name, URL_VALIDITY, Timestamp::now())
            }
        }
    }

    pub fn is_encrypted(&self) -> bool {
        match self {
            Source::Url(url) => url.is_encrypted(),
            Source::Object(object) => object.store.endpoint.scheme() == "https",
        }
    }

    pub fn store_facts(&self) -> Option<StoreFacts> {
        match self {
            Source::Url(_) => None,
            Source::Object(object) => Some(object.store.facts(&object.name)),
        }
    }

    /// The request that a contender gets for a method that accepts this kind of target. Only the
    /// contender `command` has [`Reads::Both`].
    pub fn request(&self, reads: Reads, commands_get_credentials: bool) -> Result<ReadRequest, PresignError> {
        let is_command = reads == Reads::Both;
        let mut request = match (self, reads) {
            (Source::Object(object), Reads::Object) => object.request(),
            (Source::Object(object), Reads::Both) => object.request_for_command(commands_get_credentials)?,
            (Source::Object(_), _) => url_request(&self.url(RequestVerb::Get)?),
            (Source::Url(url), _) => url_request(url),
        };
        if is_command && commands_get_credentials {
            request.env.push((COMMANDS_GET_CREDENTIALS_VARIABLE.into(), "1".into()));
        }
        Ok(request)
    }
}

/// Passes a URL on the command line, or in the environment if it is a secret.
fn url_request(url: &Url) -> ReadRequest {
    if url.is_secret() {
        return secret_url_request(url);
    }
    ReadRequest { word: url.exact_text().into(), ..ReadRequest::default() }
}

/// Passes a URL in the environment, which only the user can read.
pub(super) fn secret_url_request(url: &Url) -> ReadRequest {
    let env = vec![(TARGET_VARIABLE.into(), url.exact_text().into())];
    ReadRequest { word: TARGET_ELSEWHERE.into(), env, ..ReadRequest::default() }
}

impl StoredObject {
    /// Passes the object's name, and all variables that a program needs to sign requests.
    fn request(&self) -> ReadRequest {
        ReadRequest {
            word: self.name.to_string().into(),
            env_removed: VARIABLES_REMOVED.map(OsString::from).into(),
            env: self.store.environment(&self.name),
        }
    }

    /// Passes the object's name. Without the user's consent nothing secret is added, and the user's
    /// own configuration is not changed.
    fn request_for_command(&self, gets_credentials: bool) -> Result<ReadRequest, PresignError> {
        if gets_credentials {
            let mut request = self.request();
            let url =
                self.store.presigned_url(RequestVerb::Get, &self.name, URL_VALIDITY, Timestamp::now())?;
            request.env.push((TARGET_VARIABLE.into(), url.exact_text().into()));
            return Ok(request);
        }
        let facts = self.store.facts(&self.name);
        let env = [("AWS_ENDPOINT_URL_S3", facts.endpoint), ("AWS_REGION", facts.region)];
        let env = env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Ok(ReadRequest { word: self.name.to_string().into(), env, ..ReadRequest::default() })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Url(url) => url.fmt(f),
            Source::Object(object) => object.name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::s3::Credentials;
    use super::*;
    use readlab_model::target::BucketStyle;

    const SECRET: &str = "wJalrXUtnFEMI";

    fn object_source() -> Source {
        let store = Store {
            endpoint: "http://127.0.0.1:9000".parse().unwrap(),
            region: "us-east-1".to_owned(),
            style: BucketStyle::Path,
            credentials: Some(Credentials::new("AKIDEXAMPLE", SECRET)),
        };
        Source::Object(Box::new(StoredObject { store, name: "s3://bucket/a b".parse().unwrap() }))
    }

    fn request(source: &Source, reads: Reads, commands_get_credentials: bool) -> ReadRequest {
        source.request(reads, commands_get_credentials).unwrap()
    }

    fn value<'r>(request: &'r ReadRequest, name: &str) -> Option<&'r str> {
        let found = request.env.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str())
    }

    #[test]
    fn no_secret_is_on_a_command_line() {
        let url = Source::Url("https://h/o?X-Amz-Signature=abc".parse().unwrap());
        let object = object_source();
        for (source, reads) in [
            (&url, Reads::Url),
            (&url, Reads::Both),
            (&object, Reads::Url),
            (&object, Reads::Object),
            (&object, Reads::Both),
        ] {
            for granted in [false, true] {
                let word = request(source, reads, granted).word.into_string().unwrap();
                assert!(["-", "s3://bucket/a b"].contains(&word.as_str()), "{word}");
            }
        }
    }

    #[test]
    fn a_url_without_secrets_is_passed_on_the_command_line() {
        let url = Source::Url("https://h/o?page=1".parse().unwrap());
        assert_eq!(request(&url, Reads::Url, false).word, "https://h/o?page=1");
        assert!(request(&url, Reads::Both, false).env.is_empty());
    }

    #[test]
    fn a_method_of_objects_gets_credentials_and_one_of_urls_a_signed_url() {
        let of_objects = request(&object_source(), Reads::Object, false);
        assert_eq!(value(&of_objects, "AWS_SECRET_ACCESS_KEY"), Some(SECRET));
        assert!(of_objects.env_removed.contains(&"AWS_PROFILE".into()));
        let of_urls = request(&object_source(), Reads::Url, false);
        let url = value(&of_urls, "READLAB_TARGET").unwrap();
        assert!(url.starts_with("http://127.0.0.1:9000/bucket/a%20b?X-Amz-") && !url.contains(SECRET));
        assert_eq!(value(&of_urls, "AWS_SECRET_ACCESS_KEY"), None);
    }

    #[test]
    fn a_command_gets_secrets_only_with_consent() {
        let without = request(&object_source(), Reads::Both, false);
        let names: Vec<_> = without.env.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names, ["AWS_ENDPOINT_URL_S3", "AWS_REGION"]);
        assert!(without.env_removed.is_empty());
        let with = request(&object_source(), Reads::Both, true);
        assert_eq!(value(&with, "AWS_SECRET_ACCESS_KEY"), Some(SECRET));
        assert_eq!(value(&with, COMMANDS_GET_CREDENTIALS_VARIABLE), Some("1"));
        assert!(value(&with, "READLAB_TARGET").is_some());
    }
}
