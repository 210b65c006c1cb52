//! The method `compio`: the `File` of the runtime compio, on io_uring alone. A read owns the buffer
//! until it is done.

use crate::failure::Failure;
use crate::method::{BUFFER, Reader};
use crate::request::{Request, Work};
use crate::tally::{Answer, Tally};
use compio::BufResult;
use compio::fs::File;
use compio::io::AsyncReadAt;
use compio::runtime::Runtime;
use std::path::PathBuf;

struct CompioFile {
    runtime: Runtime,
    path: PathBuf,
    work: Work,
    buffer_bytes: usize,
}

fn runtime() -> Result<Runtime, Failure> {
    Runtime::new().map_err(|error| Failure::unavailable("io_uring", &error))
}

pub(crate) fn available() -> Result<(), Failure> {
    runtime().map(drop)
}

pub(crate) fn open(request: &Request) -> Result<Box<dyn Reader>, Failure> {
    Ok(Box::new(CompioFile {
        runtime: runtime()?,
        path: request.path.clone(),
        work: request.work,
        buffer_bytes: request.size(&BUFFER),
    }))
}

impl Reader for CompioFile {
    fn read(&mut self) -> Result<Answer, Failure> {
        self.runtime.block_on(self.visit())
    }
}

impl CompioFile {
    async fn visit(&self) -> Result<Answer, Failure> {
        let file = File::open(&self.path).await?;
        let mut buffer = Vec::with_capacity(self.buffer_bytes);
        let mut tally = Tally::new(self.work);
        loop {
            let BufResult(read, filled) = file.read_at(buffer, tally.bytes()).await;
            match read.map_err(|error| Failure::at(tally.bytes(), &error))? {
                0 => break,
                count => tally.take(&filled[..count]),
            }
            buffer = filled;
        }
        file.close().await?;
        Ok(tally.answer())
    }
}
