use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Adds up `count` over the file's bytes, which are all in memory.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut bytes = vec![0; usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?];
    file.read_exact(&mut bytes)?;
    Ok(count(&bytes))
}
