//! The method `glommio`: the `StreamReader` of the runtime glommio over a file in the page cache,
//! read into one buffer of the same size as the library's. Its `fill_buf` cannot be used, because
//! at the end of the file it is not ready a second time, which futures-lite requires.

use crate::methods::GLOMMIO_BUFFER;
use futures_lite::AsyncReadExt;
use glommio::io::{BufferedFile, StreamReaderBuilder};
use glommio::{GlommioError, LocalExecutor, LocalExecutorBuilder, Placement};
use readlab_protocol::Work;
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;
use std::path::PathBuf;

struct GlommioFile {
    executor: LocalExecutor,
    path: PathBuf,
    work: Work,
    buffer_bytes: usize,
}

const REQUIREMENTS: &str = "it needs io_uring, and 512 KiB of memory that may be locked (ulimit -l)";

/// An executor on any processor.
pub(super) fn executor() -> Result<LocalExecutor, Refusal> {
    let executor = LocalExecutorBuilder::new(Placement::Unbound).make();
    executor.map_err(|error| Refusal::Unavailable(format!("{REQUIREMENTS}: {error}")))
}

pub(crate) fn available() -> Result<(), Refusal> {
    executor().map(drop)
}

/// The cause without the path, which the library would add.
pub(super) fn failure(error: GlommioError<()>) -> Refusal {
    match error {
        GlommioError::EnhancedIoError { source, .. } => source.into(),
        error => Refusal::failed(error.to_string()),
    }
}

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    Ok(Box::new(GlommioFile {
        executor: executor()?,
        path: job.target.into(),
        work: job.work,
        buffer_bytes: job.settings.size(&GLOMMIO_BUFFER),
    }))
}

impl ReadTarget for GlommioFile {
    fn read(&mut self) -> Result<Reading, Refusal> {
        self.executor.run(self.visit())
    }
}

impl GlommioFile {
    async fn visit(&self) -> Result<Reading, Refusal> {
        let file = BufferedFile::open(&self.path).await.map_err(failure)?;
        let mut reader = StreamReaderBuilder::new(file).with_buffer_size(self.buffer_bytes).build();
        let mut buffer = vec![0; self.buffer_bytes];
        let mut tally = Tally::new(self.work);
        loop {
            let read = reader.read(&mut buffer).await;
            match read.map_err(|error| Refusal::at(tally.bytes(), &error))? {
                0 => break,
                count => tally.take(&buffer[..count]),
            }
        }
        reader.close().await.map_err(failure)?;
        Ok(tally.answer().into())
    }
}
