// needs: the crate tokio; the crate memchr
use std::io;
use std::path::Path;
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;

const BUFFER_BYTES: usize = 2097152; // = buffer_bytes
const MAX_BUF_BYTES: usize = 2097152; // = max_buf_bytes

/// Counts newlines in pieces that a thread of the runtime's pool reads. A program makes its runtime
/// once.
pub fn newlines(path: &Path) -> io::Result<u64> {
    Runtime::new()?.block_on(async {
        let mut file = File::open(path).await?;
        file.set_max_buf_size(MAX_BUF_BYTES);
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
