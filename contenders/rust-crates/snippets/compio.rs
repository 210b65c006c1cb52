// needs: the crate compio; the crate memchr
use compio::BufResult;
use compio::fs::File;
use compio::io::AsyncReadAt;
use compio::runtime::Runtime;
use std::io;
use std::path::Path;

const BUFFER_BYTES: usize = 262144; // = buffer_bytes

/// Counts newlines in pieces. A program makes its runtime once.
pub fn newlines(path: &Path) -> io::Result<u64> {
    Runtime::new()?.block_on(async {
        let file = File::open(path).await?;
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        let (mut at, mut count) = (0, 0);
        loop {
            let BufResult(read, filled) = file.read_at(buffer, at).await;
            let length = read?;
            if length == 0 {
                break;
            }
            count += memchr::memchr_iter(b'\n', &filled[..length]).count() as u64;
            at += length as u64;
            buffer = filled;
        }
        file.close().await?;
        Ok(count)
    })
}
