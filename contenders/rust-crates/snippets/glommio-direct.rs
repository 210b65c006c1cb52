// needs: the crate glommio; the crate memchr
use glommio::io::{DmaFile, DmaStreamReaderBuilder};
use glommio::{LocalExecutorBuilder, Placement};
use std::io;
use std::path::Path;

const BUFFER_BYTES: usize = 131072; // = buffer_bytes
const READ_AHEAD: usize = 4; // = depth

/// Counts newlines in buffers that are read ahead past the page cache. The size of a buffer is a
/// power of two. A program makes its executor once.
pub fn newlines(path: &Path) -> io::Result<u64> {
    LocalExecutorBuilder::new(Placement::Unbound).make()?.run(async {
        let file = DmaFile::open(path).await?;
        let reader = DmaStreamReaderBuilder::new(file);
        let mut reader = reader.with_buffer_size(BUFFER_BYTES).with_read_ahead(READ_AHEAD).build();
        let mut count = 0;
        loop {
            let piece = reader.get_buffer_aligned(BUFFER_BYTES as u64).await?;
            if piece.is_empty() {
                break;
            }
            count += memchr::memchr_iter(b'\n', &piece).count() as u64;
        }
        reader.close().await?;
        Ok(count)
    })
}
