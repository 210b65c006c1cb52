//! The method `compio`: the `File` of the runtime compio, on io_uring alone. A read owns the buffer
//! until it is done.

use crate::methods::BUFFER;
use compio::BufResult;
use compio::fs::File;
use compio::io::AsyncReadAt;
use compio::runtime::Runtime;
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;

fn runtime() -> Result<Runtime, Refusal> {
    Runtime::new().map_err(|error| Refusal::Unavailable(format!("io_uring: {error}")))
}

pub(crate) fn available() -> Result<(), Refusal> {
    runtime().map(drop)
}

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    let (runtime, buffer_bytes) = (runtime()?, job.settings.size(&BUFFER));
    Ok(Box::new(move || runtime.block_on(visit(&job, buffer_bytes))))
}

async fn visit(job: &Job, buffer_bytes: usize) -> Result<Reading, Refusal> {
    let file = File::open(&job.target).await?;
    let mut buffer = Vec::with_capacity(buffer_bytes);
    let mut tally = Tally::new(job.work);
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
