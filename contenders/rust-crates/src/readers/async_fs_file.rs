//! The method `async-fs`: the `File` of the runtime smol, read into one buffer.
//!
//! A thread of the pool in the crate `blocking` reads ahead into a pipe of 8 MiB, from which bytes
//! are copied. At the end of the file that thread returns the file, so that it is closed here.

use crate::methods::BUFFER;
use async_fs::File;
use futures_lite::AsyncReadExt;
use futures_lite::future::block_on;
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    let buffer_bytes = job.settings.size(&BUFFER);
    Ok(Box::new(move || block_on(visit(&job, buffer_bytes))))
}

async fn visit(job: &Job, buffer_bytes: usize) -> Result<Reading, Refusal> {
    let mut file = File::open(&job.target).await?;
    let mut buffer = vec![0; buffer_bytes];
    let mut tally = Tally::new(job.work);
    loop {
        let read = file.read(&mut buffer).await;
        match read.map_err(|error| Refusal::at(tally.bytes(), &error))? {
            0 => return Ok(tally.answer().into()),
            count => tally.take(&buffer[..count]),
        }
    }
}
