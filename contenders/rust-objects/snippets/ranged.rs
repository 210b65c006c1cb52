// needs: the crates object_store, futures-util, memchr and tokio
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt, Result};

const PART_BYTES: u64 = 8388608; // = part_bytes
const CONCURRENCY: usize = 8; // = concurrency

/// Counts the newlines of `s3://bucket/key` in ranges, several of them at once.
pub async fn newlines(uri: &str) -> Result<u64> {
    let store = AmazonS3Builder::from_env().with_url(uri).build()?;
    let key = Path::parse(uri.splitn(4, '/').nth(3).unwrap_or_default())?;
    let object = store.head(&key).await?;
    let count = |start: u64| {
        let range = start..object.size.min(start + PART_BYTES);
        // All ranges must be of the same version.
        let options = GetOptions::new().with_range(Some(range)).with_if_match(object.e_tag.clone());
        let (store, key) = (&store, &key);
        async move {
            let bytes = store.get_opts(key, options).await?.bytes().await?;
            Ok(memchr::memchr_iter(b'\n', &bytes).count() as u64)
        }
    };
    let starts = (0..object.size).step_by(PART_BYTES as usize);
    let counts = stream::iter(starts.map(count)).buffer_unordered(CONCURRENCY);
    counts.try_fold(0, |sum, count| async move { Ok(sum + count) }).await
}

#[tokio::main]
async fn main() -> Result<()> {
    let uri = std::env::args().nth(1).expect("usage: program s3://bucket/key");
    println!("{}", newlines(&uri).await?);
    Ok(())
}
