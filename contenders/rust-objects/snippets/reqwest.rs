// needs: the crates reqwest, memchr and tokio
// usual: yes
use reqwest::Result;

/// Counts the newlines of a URL as its bytes arrive.
pub async fn newlines(url: &str) -> Result<u64> {
    let mut response = reqwest::get(url).await?.error_for_status()?;
    let mut count = 0;
    while let Some(piece) = response.chunk().await? {
        count += memchr::memchr_iter(b'\n', &piece).count() as u64;
    }
    Ok(count)
}

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).expect("usage: program URL");
    println!("{}", newlines(&url).await?);
    Ok(())
}
