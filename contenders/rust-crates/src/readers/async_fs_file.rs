//! The method `async-fs`: the `File` of the runtime smol, read into one buffer.
//!
//! A thread of the pool in the crate `blocking` reads ahead into a pipe of 8 MiB, from which bytes
//! are copied. At the end of the file that thread returns the file, so that it is closed here.

use crate::methods::BUFFER;
use async_fs::File;
use futures_lite::AsyncReadExt;
use futures_lite::future::block_on;
use readlab_protocol::Work;
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;
use std::path::PathBuf;

struct AsyncFile {
    path: PathBuf,
    work: Work,
    buffer_bytes: usize,
}

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    let buffer_bytes = job.settings.size(&BUFFER);
    Ok(Box::new(AsyncFile { path: job.target.into(), work: job.work, buffer_bytes }))
}

impl ReadTarget for AsyncFile {
    fn read(&mut self) -> Result<Reading, Refusal> {
        block_on(self.visit())
    }
}

impl AsyncFile {
    async fn visit(&self) -> Result<Reading, Refusal> {
        let mut file = File::open(&self.path).await?;
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
