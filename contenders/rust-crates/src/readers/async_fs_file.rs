//! The method `async-fs`: the `File` of the runtime smol, read into one buffer.
//!
//! A thread of the pool in the crate `blocking` reads ahead into a pipe of 8 MiB, from which bytes
//! are copied. At the end of the file that thread gives the file back, so that it is closed here.

use crate::failure::Failure;
use crate::method::{BUFFER, Reader};
use crate::request::{Request, Work};
use crate::tally::{Answer, Tally};
use async_fs::File;
use futures_lite::AsyncReadExt;
use futures_lite::future::block_on;
use std::path::PathBuf;

struct AsyncFile {
    path: PathBuf,
    work: Work,
    buffer_bytes: usize,
}

pub(crate) fn open(request: &Request) -> Result<Box<dyn Reader>, Failure> {
    let buffer_bytes = request.size(&BUFFER);
    Ok(Box::new(AsyncFile { path: request.path.clone(), work: request.work, buffer_bytes }))
}

impl Reader for AsyncFile {
    fn read(&mut self) -> Result<Answer, Failure> {
        block_on(self.visit())
    }
}

impl AsyncFile {
    async fn visit(&self) -> Result<Answer, Failure> {
        let mut file = File::open(&self.path).await?;
        let mut buffer = vec![0; self.buffer_bytes];
        let mut tally = Tally::new(self.work);
        loop {
            let read = file.read(&mut buffer).await;
            match read.map_err(|error| Failure::at(tally.bytes(), &error))? {
                0 => return Ok(tally.answer()),
                count => tally.take(&buffer[..count]),
            }
        }
    }
}
