// needs: the crate tokio
// usual: yes
use std::io;
use std::path::Path;
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::runtime::Runtime;

const BUFFER_BYTES: usize = 8192; // = buffer_bytes

/// Counts lines; each is a new `String`. A program makes its runtime once.
pub fn lines(path: &Path) -> io::Result<u64> {
    Runtime::new()?.block_on(async {
        let file = File::open(path).await?;
        let mut lines = BufReader::with_capacity(BUFFER_BYTES, file).lines();
        let mut count = 0;
        while let Some(_line) = lines.next_line().await? {
            count += 1;
        }
        Ok(count)
    })
}
