// needs: the crate glommio; the crate futures-lite; the crate memchr
use futures_lite::AsyncReadExt;
use glommio::io::{BufferedFile, StreamReaderBuilder};
use glommio::{LocalExecutorBuilder, Placement};
use std::io;
use std::path::Path;

const BUFFER_BYTES: usize = 4096; // = buffer_bytes

/// Counts newlines in pieces. A program makes its executor once.
pub fn newlines(path: &Path) -> io::Result<u64> {
    LocalExecutorBuilder::new(Placement::Unbound).make()?.run(async {
        let file = BufferedFile::open(path).await?;
        let mut reader = StreamReaderBuilder::new(file).with_buffer_size(BUFFER_BYTES).build();
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut count = 0;
        loop {
            match reader.read(&mut buffer).await? {
                0 => break,
                length => count += memchr::memchr_iter(b'\n', &buffer[..length]).count() as u64,
            }
        }
        reader.close().await?;
        Ok(count)
    })
}
