//! The method `tokio-fs`: Tokio's `File`, read into one buffer.
//!
//! A thread of the runtime's pool does each read, into a buffer of the `File`, from which the bytes
//! are copied. `max_buf_bytes` is the largest size of that buffer.

use crate::methods::{TOKIO_BUFFER, TOKIO_MAX_BUF};
use readlab_protocol::Work;
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;
use std::path::PathBuf;
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;

struct TokioFile {
    runtime: Runtime,
    path: PathBuf,
    work: Work,
    buffer_bytes: usize,
    max_buf_bytes: usize,
}

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    Ok(Box::new(TokioFile {
        // The default runtime, with several threads.
        runtime: Runtime::new()?,
        path: job.target.into(),
        work: job.work,
        buffer_bytes: job.settings.size(&TOKIO_BUFFER),
        max_buf_bytes: job.settings.size(&TOKIO_MAX_BUF),
    }))
}

impl ReadTarget for TokioFile {
    fn read(&mut self) -> Result<Reading, Refusal> {
        self.runtime.block_on(self.visit())
    }
}

impl TokioFile {
    async fn visit(&self) -> Result<Reading, Refusal> {
        let mut file = File::open(&self.path).await?;
        file.set_max_buf_size(self.max_buf_bytes);
        let mut buffer = vec![0; self.buffer_bytes];
        let mut tally = Tally::new(self.work);
        loop {
            let read = file.read(&mut buffer).await;
            match read.map_err(|error| Refusal::at(tally.bytes(), &error))? {
                0 => return Ok(tally.answer().into()),
                count => tally.take(&buffer[..count]),
            }
        }
    }
}
