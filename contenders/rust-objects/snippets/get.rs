// needs: the crates object_store, memchr and tokio
// usual: yes
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{ObjectStoreExt, Result};

/// Counts the newlines of `s3://bucket/key`, whose whole content is in memory.
pub async fn newlines(uri: &str) -> Result<u64> {
    let store = AmazonS3Builder::from_env().with_url(uri).build()?;
    let key = uri.splitn(4, '/').nth(3).unwrap_or_default();
    let bytes = store.get(&Path::parse(key)?).await?.bytes().await?;
    Ok(memchr::memchr_iter(b'\n', &bytes).count() as u64)
}

#[tokio::main]
async fn main() -> Result<()> {
    let uri = std::env::args().nth(1).expect("usage: program s3://bucket/key");
    println!("{}", newlines(&uri).await?);
    Ok(())
}
