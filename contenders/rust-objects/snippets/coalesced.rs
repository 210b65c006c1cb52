// needs: the crates object_store, futures-util, memchr and tokio
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, Result};

const PART_BYTES: u64 = 1048576; // = part_bytes
const COALESCE_BYTES: u64 = 8388608; // = coalesce_bytes
const CONCURRENCY: usize = 8; // = concurrency

/// Counts the newlines of `s3://bucket/key` in small ranges, which the library joins into larger
/// requests, several of them at once.
pub async fn newlines(uri: &str) -> Result<u64> {
    let store = AmazonS3Builder::from_env().with_url(uri).build()?;
    let key = Path::parse(uri.splitn(4, '/').nth(3).unwrap_or_default())?;
    let size = store.head(&key).await?.size;
    let count = |start: u64| {
        let end = size.min(start + COALESCE_BYTES);
        let starts = (start..end).step_by(PART_BYTES as usize);
        let ranges: Vec<_> = starts.map(|start| start..end.min(start + PART_BYTES)).collect();
        let (store, key) = (&store, &key);
        async move {
            let parts = store.get_ranges(key, &ranges).await?;
            Ok(parts.iter().map(|bytes| memchr::memchr_iter(b'\n', bytes).count() as u64).sum::<u64>())
        }
    };
    let starts = (0..size).step_by(COALESCE_BYTES as usize);
    let counts = stream::iter(starts.map(count)).buffer_unordered(CONCURRENCY);
    counts.try_fold(0, |sum, count| async move { Ok(sum + count) }).await
}

#[tokio::main]
async fn main() -> Result<()> {
    let uri = std::env::args().nth(1).expect("usage: program s3://bucket/key");
    println!("{}", newlines(&uri).await?);
    Ok(())
}
