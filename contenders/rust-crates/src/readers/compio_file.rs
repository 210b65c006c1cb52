//! The method `compio`: the `File` of the runtime compio, on io_uring alone. A read owns the buffer
//! until it is done.

use crate::methods::BUFFER;
use compio::BufResult;
use compio::fs::File;
use compio::io::AsyncReadAt;
use compio::runtime::Runtime;
use readlab_protocol::Work;
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;
use std::path::PathBuf;

struct CompioFile {
    runtime: Runtime,
    path: PathBuf,
    work: Work,
    buffer_bytes: usize,
}

fn runtime() -> Result<Runtime, Refusal> {
    Runtime::new().map_err(|error| Refusal::Unavailable(format!("io_uring: {error}")))
}

pub(crate) fn available() -> Result<(), Refusal> {
    runtime().map(drop)
}

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    Ok(Box::new(CompioFile {
        runtime: runtime()?,
        path: job.target.into(),
        work: job.work,
        buffer_bytes: job.settings.size(&BUFFER),
    }))
}

impl ReadTarget for CompioFile {
    fn read(&mut self) -> Result<Reading, Refusal> {
        self.runtime.block_on(self.visit())
    }
}

impl CompioFile {
    async fn visit(&self) -> Result<Reading, Refusal> {
        let file = File::open(&self.path).await?;
        let mut buffer = Vec::with_capacity(self.buffer_bytes);
        let mut tally = Tally::new(self.work);
        loop {
            let BufResult(read, filled) = file.read_at(buffer, tally.bytes()).await;
            match read.map_err(|error| Refusal::at(tally.bytes(), &error))? {
                0 => break,
                count => tally.take(&filled[..count]),
            }
            buffer = filled;
        }
        file.close().await?;
        Ok(tally.answer().into())
    }
}
