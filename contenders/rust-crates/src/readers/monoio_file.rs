//! The method `monoio`: the `File` of the runtime monoio, on io_uring alone. A read owns the buffer
//! until it is done.

use crate::methods::BUFFER;
use monoio::fs::File;
use monoio::{IoUringDriver, Runtime, RuntimeBuilder};
use readlab_protocol::Work;
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;
use std::path::{Path, PathBuf};

struct MonoioFile {
    runtime: Runtime<IoUringDriver>,
    path: PathBuf,
    work: Work,
    buffer_bytes: usize,
}

fn runtime() -> Result<Runtime<IoUringDriver>, Refusal> {
    let runtime = RuntimeBuilder::<IoUringDriver>::new().build();
    runtime.map_err(|error| Refusal::Unavailable(format!("io_uring: {error}")))
}

pub(crate) fn available() -> Result<(), Refusal> {
    runtime().map(drop)
}

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    Ok(Box::new(MonoioFile {
        runtime: runtime()?,
        path: job.target.into(),
        work: job.work,
        buffer_bytes: job.settings.size(&BUFFER),
    }))
}

impl ReadTarget for MonoioFile {
    fn read(&mut self) -> Result<Reading, Refusal> {
        self.runtime.block_on(visit(&self.path, self.work, self.buffer_bytes))
    }
}

async fn visit(path: &Path, work: Work, buffer_bytes: usize) -> Result<Reading, Refusal> {
    let file = File::open(path).await?;
    let mut buffer = Vec::with_capacity(buffer_bytes);
    let mut tally = Tally::new(work);
    loop {
        let (read, filled) = file.read_at(buffer, tally.bytes()).await;
        match read.map_err(|error| Refusal::at(tally.bytes(), &error))? {
            0 => break,
            count => tally.take(&filled[..count]),
        }
        buffer = filled;
    }
    file.close().await?;
    Ok(tally.answer().into())
}
