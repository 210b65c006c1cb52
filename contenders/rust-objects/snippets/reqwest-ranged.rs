// needs: the crates reqwest, futures-util, memchr and tokio
use futures_util::{StreamExt, TryStreamExt, stream};
use reqwest::{Client, Response, StatusCode};
use std::error::Error;

const PART_BYTES: u64 = 8388608; // = part_bytes
const CONCURRENCY: usize = 8; // = concurrency

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Counts the newlines of a URL in ranges, several of them at once, each in a task of its own.
pub async fn newlines(url: &str) -> Result<u64> {
    let client = Client::new();
    let head = client.head(url).send().await?.error_for_status()?;
    let size = head.headers().get("Content-Length").ok_or("no Content-Length")?;
    let size: u64 = size.to_str()?.parse()?;
    let starts = (0..size).step_by(PART_BYTES as usize);
    let tasks = starts.map(|start| tokio::spawn(part(client.clone(), url.to_owned(), start)));
    let mut tasks = stream::iter(tasks).buffer_unordered(CONCURRENCY);
    let mut count = 0;
    while let Some(part) = tasks.try_next().await? {
        count += part?;
    }
    Ok(count)
}

/// The newlines of the range that begins there.
async fn part(client: Client, url: String, start: u64) -> Result<u64> {
    let range = format!("bytes={start}-{}", start + PART_BYTES - 1);
    let mut response = client.get(url).header("Range", range).send().await?.error_for_status()?;
    if !is_at(start, &response) {
        return Err("the answer is about another range".into());
    }
    let mut count = 0;
    while let Some(piece) = response.chunk().await? {
        count += memchr::memchr_iter(b'\n', &piece).count() as u64;
    }
    Ok(count)
}

/// Whether the answer begins where it was asked to.
fn is_at(start: u64, response: &Response) -> bool {
    let range = response.headers().get("Content-Range").and_then(|value| value.to_str().ok());
    let begins = range.is_some_and(|range| range.starts_with(&format!("bytes {start}-")));
    response.status() == StatusCode::PARTIAL_CONTENT && begins
}

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).ok_or("usage: program URL")?;
    println!("{}", newlines(&url).await?);
    Ok(())
}
