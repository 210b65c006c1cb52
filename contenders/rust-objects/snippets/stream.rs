// needs: the crates object_store, futures-util, memchr and tokio
use futures_util::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{ObjectStoreExt, Result};

/// Counts the newlines of `s3://bucket/key` as its bytes arrive.
pub async fn newlines(uri: &str) -> Result<u64> {
    let store = AmazonS3Builder::from_env().with_url(uri).build()?;
    let key = uri.splitn(4, '/').nth(3).unwrap_or_default();
    let mut pieces = store.get(&Path::parse(key)?).await?.into_stream();
    let mut count = 0;
    while let Some(piece) = pieces.try_next().await? {
        count += memchr::memchr_iter(b'\n', &piece).count() as u64;
    }
    Ok(count)
}

#[tokio::main]
async fn main() -> Result<()> {
    let uri = std::env::args().nth(1).expect("usage: program s3://bucket/key");
    println!("{}", newlines(&uri).await?);
    Ok(())
}
