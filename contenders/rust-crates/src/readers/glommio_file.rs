//! The method `glommio`: the `StreamReader` of the runtime glommio over a file in the page cache,
//! read into one buffer of the size of its own. Its `fill_buf` cannot be used: at the end of the
//! file it is not ready a second time, which futures-lite demands.

use crate::failure::Failure;
use crate::method::{GLOMMIO_BUFFER, Reader};
use crate::request::{Request, Work};
use crate::tally::{Answer, Tally};
use futures_lite::AsyncReadExt;
use glommio::io::{BufferedFile, StreamReaderBuilder};
use glommio::{GlommioError, LocalExecutor, LocalExecutorBuilder, Placement};
use std::path::PathBuf;

struct GlommioFile {
    executor: LocalExecutor,
    path: PathBuf,
    work: Work,
    buffer_bytes: usize,
}

const NEEDS: &str = "it needs io_uring, and 512 KiB of memory that may be locked (ulimit -l)";

/// An executor on any processor.
pub(super) fn executor() -> Result<LocalExecutor, Failure> {
    let executor = LocalExecutorBuilder::new(Placement::Unbound).make();
    executor.map_err(|error| Failure::unavailable(NEEDS, &error))
}

pub(crate) fn available() -> Result<(), Failure> {
    executor().map(drop)
}

/// The cause alone: with it the library also shows the path.
pub(super) fn failure(error: GlommioError<()>) -> Failure {
    match error {
        GlommioError::EnhancedIoError { source, .. } => source.into(),
        error => Failure::new(error.to_string()),
    }
}

pub(crate) fn open(request: &Request) -> Result<Box<dyn Reader>, Failure> {
    Ok(Box::new(GlommioFile {
        executor: executor()?,
        path: request.path.clone(),
        work: request.work,
        buffer_bytes: request.size(&GLOMMIO_BUFFER),
    }))
}

impl Reader for GlommioFile {
    fn read(&mut self) -> Result<Answer, Failure> {
        self.executor.run(self.visit())
    }
}

impl GlommioFile {
    async fn visit(&self) -> Result<Answer, Failure> {
        let file = BufferedFile::open(&self.path).await.map_err(failure)?;
        let mut reader = StreamReaderBuilder::new(file).with_buffer_size(self.buffer_bytes).build();
        let mut buffer = vec![0; self.buffer_bytes];
        let mut tally = Tally::new(self.work);
        loop {
            let read = reader.read(&mut buffer).await;
            match read.map_err(|error| Failure::at(tally.bytes(), &error))? {
                0 => break,
                count => tally.take(&buffer[..count]),
            }
        }
        reader.close().await.map_err(failure)?;
        Ok(tally.answer())
    }
}
