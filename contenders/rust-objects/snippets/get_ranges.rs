// needs: the crates object_store and tokio
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt, Result, coalesce_ranges};
use std::ops::Range;

const MERGE_BYTES: u64 = 1048576; // = merge_bytes

/// Adds up `count` over these ranges of `s3://bucket/key`. As in `get_ranges` of the store, ranges that
/// are near each other become one request, and several are requested at once.
pub async fn total(uri: &str, ranges: &[Range<u64>], count: impl Fn(&[u8]) -> u64) -> Result<u64> {
    let store = AmazonS3Builder::from_env().with_url(uri).build()?;
    let key = Path::parse(uri.splitn(4, '/').nth(3).unwrap_or_default())?;
    let object = store.head(&key).await?;
    let fetch = |range: Range<u64>| {
        // All ranges must be of the same version.
        let options = GetOptions::new().with_range(Some(range)).with_if_match(object.e_tag.clone());
        let (store, key) = (&store, &key);
        async move { store.get_opts(key, options).await?.bytes().await }
    };
    let parts = coalesce_ranges(ranges, fetch, MERGE_BYTES).await?;
    Ok(parts.iter().map(|bytes| count(bytes)).sum())
}
