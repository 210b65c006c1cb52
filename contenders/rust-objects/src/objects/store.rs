//! A store of object_store with one object, made from the environment.

use super::traffic::{CountingTransport, Traffic};
use crate::client::{self, Version};
use crate::failure;
use bytes::Bytes;
use http::HeaderValue;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{HttpClient, HttpConnector};
use object_store::path::Path;
use object_store::{ClientOptions, GetOptions, GetRange, GetResult, ObjectStore, RetryConfig};
use readlab_protocol::remote;
use readlab_protocol::serve::Refusal;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// After this time a request is not repeated. The last pause before it may take as long again. The
/// library's own three minutes are longer than a reading may take.
const RETRY_MAX: Duration = Duration::from_secs(15);

pub(super) struct Location {
    store: remote::Store,
    bucket: String,
    key: Path,
    etag: Option<HeaderValue>,
}

/// A store that is ready to be asked for the object.
pub(crate) struct Store {
    s3: AmazonS3,
    key: Path,
    etag: Option<String>,
    pub(super) traffic: Arc<Traffic>,
}

impl Location {
    pub(super) fn from_environment(target: &str) -> Result<Location, Refusal> {
        let named = target.strip_prefix("s3://").and_then(|name| name.split_once('/'));
        let named = named.filter(|(bucket, key)| !bucket.is_empty() && !key.is_empty());
        let (bucket, key) = named.ok_or_else(|| Refusal::failed("expected s3://BUCKET/KEY"))?;
        // The library would change other keys into the name of another object.
        let path = Path::parse(key).ok().filter(|path| path.as_ref() == key);
        let key = path.ok_or_else(|| Refusal::failed("object_store has no name for this key"))?;
        let (store, etag) = (remote::Store::from_environment()?, client::etag()?);
        Ok(Location { store, bucket: bucket.to_owned(), key, etag })
    }

    /// The endpoint. For the virtual style the library requires the bucket in it.
    fn endpoint(&self) -> Result<String, Refusal> {
        let endpoint = self.store.endpoint.trim_end_matches('/');
        if !self.store.is_virtual_style {
            return Ok(endpoint.to_owned());
        }
        let (scheme, host) =
            endpoint.split_once("://").ok_or_else(|| Refusal::failed("AWS_ENDPOINT_URL_S3 has no scheme"))?;
        Ok(format!("{scheme}://{}.{host}", self.bucket))
    }
}

impl Store {
    pub(super) fn make(location: &Location) -> Result<Store, Refusal> {
        let traffic = Arc::new(Traffic::default());
        let client = client::make(Version::Http1)?;
        let client = HttpClient::new(CountingTransport::new(client, traffic.clone(), location.etag.clone()));
        let mut builder = AmazonS3Builder::new()
            .with_endpoint(location.endpoint()?)
            .with_region(&location.store.region)
            .with_bucket_name(&location.bucket)
            .with_virtual_hosted_style_request(location.store.is_virtual_style)
            .with_skip_signature(location.store.credentials.is_none())
            .with_retry(RetryConfig { retry_timeout: RETRY_MAX, ..RetryConfig::default() })
            .with_http_connector(SharedClient(client));
        if let Some(credentials) = &location.store.credentials {
            builder =
                builder.with_access_key_id(&credentials.key_id).with_secret_access_key(&credentials.secret);
            if let Some(token) = &credentials.token {
                builder = builder.with_token(token);
            }
        }
        let s3 = builder.build().map_err(|error| failure::innermost(&error))?;
        let etag = location.etag.as_ref().and_then(|etag| etag.to_str().ok()).map(str::to_owned);
        Ok(Store { s3, key: location.key.clone(), etag, traffic })
    }

    /// The answer to a request for the object or a range. The library checks that the answer has
    /// this range.
    pub(super) async fn get(&self, range: Option<Range<u64>>) -> Result<GetResult, Refusal> {
        let range = range.map(GetRange::Bounded);
        let options = GetOptions { range, if_match: self.etag.clone(), ..GetOptions::default() };
        self.s3.get_opts(&self.key, options).await.map_err(|error| failure::innermost(&error))
    }

    /// The size of the object, by a request for the size alone.
    pub(super) async fn size(&self) -> Result<u64, Refusal> {
        let options = GetOptions { head: true, if_match: self.etag.clone(), ..GetOptions::default() };
        let found = self.s3.get_opts(&self.key, options).await.map_err(|error| failure::innermost(&error))?;
        Ok(found.meta.size)
    }

    /// The bytes of a range. The library cuts it at the end of an object that became shorter, which is
    /// a failure here.
    pub(super) async fn part(&self, range: Range<u64>) -> Result<Bytes, Refusal> {
        let answer = self.get(Some(range.clone())).await?;
        if answer.range != range {
            let (got, wanted) = (answer.range.end - answer.range.start, range.end - range.start);
            return Err(Refusal::failed(format!("{got} bytes instead of {wanted} in a range")));
        }
        all_bytes(answer).await
    }
}

/// All bytes of an answer, whose number must be the promised one.
pub(super) async fn all_bytes(result: GetResult) -> Result<Bytes, Refusal> {
    let promised = result.range.end - result.range.start;
    let bytes = result.bytes().await.map_err(|error| failure::innermost(&error))?;
    if bytes.len() as u64 != promised {
        return Err(Refusal::failed(format!("{} bytes instead of {promised} in a range", bytes.len())));
    }
    Ok(bytes)
}

/// A connector that returns the client made before, so that one client is used for everything.
#[derive(Debug)]
struct SharedClient(HttpClient);

impl HttpConnector for SharedClient {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(self.0.clone())
    }
}
