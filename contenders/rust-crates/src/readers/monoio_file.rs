//! The method `monoio`: the `File` of the runtime monoio, on io_uring alone. A read owns the buffer
//! until it is done.

use crate::failure::Failure;
use crate::method::{BUFFER, Reader};
use crate::request::{Request, Work};
use crate::tally::{Answer, Tally};
use monoio::fs::File;
use monoio::{IoUringDriver, Runtime, RuntimeBuilder};
use std::path::{Path, PathBuf};

struct MonoioFile {
    runtime: Runtime<IoUringDriver>,
    path: PathBuf,
    work: Work,
    buffer_bytes: usize,
}

fn runtime() -> Result<Runtime<IoUringDriver>, Failure> {
    let runtime = RuntimeBuilder::<IoUringDriver>::new().build();
    runtime.map_err(|error| Failure::unavailable("io_uring", &error))
}

pub(crate) fn available() -> Result<(), Failure> {
    runtime().map(drop)
}

pub(crate) fn open(request: &Request) -> Result<Box<dyn Reader>, Failure> {
    Ok(Box::new(MonoioFile {
        runtime: runtime()?,
        path: request.path.clone(),
        work: request.work,
        buffer_bytes: request.size(&BUFFER),
    }))
}

impl Reader for MonoioFile {
    fn read(&mut self) -> Result<Answer, Failure> {
        self.runtime.block_on(visit(&self.path, self.work, self.buffer_bytes))
    }
}

async fn visit(path: &Path, work: Work, buffer_bytes: usize) -> Result<Answer, Failure> {
    let file = File::open(path).await?;
    let mut buffer = Vec::with_capacity(buffer_bytes);
    let mut tally = Tally::new(work);
    loop {
        let (read, filled) = file.read_at(buffer, tally.bytes()).await;
        match read.map_err(|error| Failure::at(tally.bytes(), &error))? {
            0 => break,
            count => tally.take(&filled[..count]),
        }
        buffer = filled;
    }
    file.close().await?;
    Ok(tally.answer())
}
