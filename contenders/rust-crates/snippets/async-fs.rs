// needs: the crate async-fs; the crate futures-lite; the crate memchr
use async_fs::File;
use futures_lite::AsyncReadExt;
use futures_lite::future::block_on;
use std::io;
use std::path::Path;

const BUFFER_BYTES: usize = 262144; // = buffer_bytes

/// Counts newlines in pieces that a thread reads ahead.
pub fn newlines(path: &Path) -> io::Result<u64> {
    block_on(async {
        let mut file = File::open(path).await?;
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut count = 0;
        loop {
            match file.read(&mut buffer).await? {
                0 => return Ok(count),
                length => count += memchr::memchr_iter(b'\n', &buffer[..length]).count() as u64,
            }
        }
    })
}
