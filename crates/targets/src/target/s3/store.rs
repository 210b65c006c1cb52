//! A store of objects: its address, and the credentials that sign requests to it.

use super::credentials::Credentials;
use super::endpoint::Endpoint;
use super::object::ObjectName;
use super::signature::{self, SignatureTime, UrlToPresign};
use crate::target::http::RequestVerb;
use crate::target::url::{Url, UrlError};
use jiff::Timestamp;
use readlab_model::target::{BucketStyle, StoreFacts};
use std::ffi::OsString;
use std::time::Duration;

/// Longest validity of a presigned URL: seven days, by the protocol.
pub const VALIDITY_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Environment variables that would change what a contender's library reads. They are removed from
/// a contender's environment before [`Store::environment`] is added.
#[rustfmt::skip]
pub const VARIABLES_REMOVED: [&str; 22] = [
    "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "AWS_NO_SIGN_REQUEST", "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN", "AWS_CREDENTIAL_EXPIRATION",
    "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME", "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_USE_FIPS_ENDPOINT",
    "AWS_USE_DUALSTACK_ENDPOINT", "AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    pub endpoint: Endpoint,
    pub region: String,
    /// How requests name the bucket, unless the bucket's name requires path style.
    pub style: BucketStyle,
    /// The credentials that sign requests; `None` for public objects.
    pub credentials: Option<Credentials>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PresignError {
    #[error("a signed URL is valid for one second to seven days, not for {0:?}")]
    Lifetime(Duration),
    #[error(transparent)]
    Url(#[from] UrlError),
}

impl Store {
    /// How requests name the bucket of an object: in the path if the name cannot be part of a host
    /// name.
    pub fn style_of(&self, object: &ObjectName) -> BucketStyle {
        if object.has_virtual_host() { self.style } else { BucketStyle::Path }
    }

    /// A URL with which everyone can send this request for the object while the signature is valid.
    /// Its query is therefore a secret. Without credentials the URL is not signed.
    pub fn presigned_url(
        &self,
        verb: RequestVerb,
        object: &ObjectName,
        valid: Duration,
        now: Timestamp,
    ) -> Result<Url, PresignError> {
        let style = self.style_of(object);
        let host = self.endpoint.host(object, style);
        let path = self.endpoint.path(object, style);
        let plain =
            format!("{}://{host}{}", self.endpoint.scheme(), signature::encoded_path(path.as_bytes()));
        let Some(credentials) = &self.credentials else { return Ok(plain.parse()?) };
        if valid.as_secs() == 0 || valid > VALIDITY_MAX {
            return Err(PresignError::Lifetime(valid));
        }
        let verb = if verb == RequestVerb::Get { "GET" } else { "HEAD" };
        let wanted = UrlToPresign { verb, host: &host, path: &path, validity: valid };
        let query = wanted.signed_query(credentials, &self.region, SignatureTime::from_time(now));
        Ok(format!("{plain}?{query}").parse()?)
    }

    /// The environment variables that a contender needs to read the object (PROTOCOL.md). They are
    /// secret.
    pub fn environment(&self, object: &ObjectName) -> Vec<(OsString, OsString)> {
        let endpoint = self.endpoint.to_string();
        let mut variables = vec![
            ("READLAB_S3_STYLE", self.style_of(object).word()),
            ("AWS_ENDPOINT_URL_S3", endpoint.as_str()),
            ("AWS_REGION", self.region.as_str()),
            // Prevents libraries without credentials from searching the network for some.
            ("AWS_EC2_METADATA_DISABLED", "true"),
            // Prevents libraries from reading the user's files, which readlab has already
            // evaluated.
            ("AWS_CONFIG_FILE", "/dev/null"),
            ("AWS_SHARED_CREDENTIALS_FILE", "/dev/null"),
        ];
        if let Some(Credentials { access_key, secret, session_token, .. }) = &self.credentials {
            variables.push(("AWS_ACCESS_KEY_ID", access_key));
            variables.push(("AWS_SECRET_ACCESS_KEY", secret.reveal()));
            variables.extend(session_token.iter().map(|token| ("AWS_SESSION_TOKEN", token.reveal())));
        }
        variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    pub fn facts(&self, object: &ObjectName) -> StoreFacts {
        let (endpoint, region) = (self.endpoint.to_string(), self.region.clone());
        StoreFacts { endpoint, region, style: self.style_of(object), is_signed: self.credentials.is_some() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::credentials::Secret;
    use super::*;

    const HOUR: Duration = Duration::from_secs(60 * 60);

    /// The store in the examples of Amazon's documentation.
    fn documented_store() -> Store {
        Store {
            endpoint: "https://s3.amazonaws.com".parse().unwrap(),
            region: "us-east-1".to_owned(),
            style: BucketStyle::Virtual,
            credentials: Some(Credentials::new(
                "AKIAIOSFODNN7EXAMPLE",
                "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            )),
        }
    }

    fn time_of_aws_example() -> Timestamp {
        "2013-05-24T00:00:00Z".parse().unwrap()
    }

    #[test]
    fn signing_reproduces_the_documented_example_url() {
        let object = "s3://examplebucket/test.txt".parse().unwrap();
        let url = documented_store()
            .presigned_url(RequestVerb::Get, &object, 24 * HOUR, time_of_aws_example())
            .unwrap();
        assert_eq!(
            url.exact_text(),
            "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256\
             &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
             &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
             &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        );
    }

    #[test]
    fn a_url_is_encoded_once_and_has_its_own_signature_for_each_verb() {
        let store = Store {
            style: BucketStyle::Path,
            endpoint: "http://h:9000".parse().unwrap(),
            ..documented_store()
        };
        let object = "s3://bucket/a b/ü%+?#~-_.txt".parse().unwrap();
        let url = |verb| store.presigned_url(verb, &object, HOUR, time_of_aws_example()).unwrap();
        let get = url(RequestVerb::Get);
        assert!(
            get.exact_path_and_query().starts_with("/bucket/a%20b/%C3%BC%25%2B%3F%23~-_.txt?X-Amz-"),
            "{get}"
        );
        assert_eq!(get.authority(), "h:9000");
        assert_ne!(get, url(RequestVerb::Head));
    }

    #[test]
    fn the_session_token_is_part_of_the_signed_query() {
        let mut store = documented_store();
        let object = "s3://examplebucket/test.txt".parse().unwrap();
        let url = |store: &Store| {
            store
                .presigned_url(RequestVerb::Get, &object, HOUR, time_of_aws_example())
                .unwrap()
                .exact_text()
                .to_owned()
        };
        let without = url(&store);
        store.credentials.as_mut().unwrap().session_token = Some(Secret::new("a/token=="));
        let with = url(&store);
        assert!(with.contains("&X-Amz-Security-Token=a%2Ftoken%3D%3D&"));
        let signature = |url: &str| url.rsplit_once("X-Amz-Signature=").unwrap().1.to_owned();
        assert_ne!(signature(&with), signature(&without));
    }

    #[test]
    fn a_public_object_has_a_plain_url_and_no_lifetime() {
        let store = Store { credentials: None, ..documented_store() };
        let object = "s3://examplebucket/a b".parse().unwrap();
        let url =
            store.presigned_url(RequestVerb::Get, &object, Duration::ZERO, time_of_aws_example()).unwrap();
        assert_eq!(url.exact_text(), "https://examplebucket.s3.amazonaws.com/a%20b");
        assert!(!store.facts(&object).is_signed);
    }

    #[test]
    fn no_url_is_valid_longer_than_the_protocol_allows() {
        let object = "s3://examplebucket/k".parse().unwrap();
        let url =
            |valid| documented_store().presigned_url(RequestVerb::Get, &object, valid, time_of_aws_example());
        assert!(url(VALIDITY_MAX).is_ok());
        for wrong in [Duration::ZERO, Duration::from_millis(900), VALIDITY_MAX + Duration::from_secs(1)] {
            assert_eq!(url(wrong), Err(PresignError::Lifetime(wrong)));
        }
    }

    #[test]
    fn a_bucket_name_that_is_invalid_in_a_host_is_put_into_the_path() {
        let object: ObjectName = "s3://my.bucket/k".parse().unwrap();
        let store = documented_store();
        assert_eq!(store.facts(&object).style, BucketStyle::Path);
        let url = store.presigned_url(RequestVerb::Get, &object, HOUR, time_of_aws_example()).unwrap();
        assert!(url.exact_text().starts_with("https://s3.amazonaws.com/my.bucket/k?"));
        assert!(store.environment(&object).contains(&("READLAB_S3_STYLE".into(), "path".into())));
    }

    #[test]
    fn only_contenders_get_the_secrets_of_a_store() {
        let mut store = documented_store();
        store.credentials.as_mut().unwrap().session_token = Some(Secret::new("the-token"));
        let object = "s3://examplebucket/k".parse().unwrap();
        let environment = store.environment(&object);
        let value = |name: &str| {
            let found = environment.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.to_str().unwrap())
        };
        assert_eq!(value("AWS_ENDPOINT_URL_S3"), Some("https://s3.amazonaws.com"));
        assert_eq!(value("AWS_SESSION_TOKEN"), Some("the-token"));
        let secret = value("AWS_SECRET_ACCESS_KEY").unwrap();
        let shown = format!("{store:?} {}", serde_json::to_string(&store.facts(&object)).unwrap());
        assert!(!shown.contains(secret) && !shown.contains("the-token"), "{shown}");
        store.credentials = None;
        assert!(store.environment(&object).iter().all(|(name, _)| name != "AWS_ACCESS_KEY_ID"));
    }
}
