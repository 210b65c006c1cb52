//! The method `glommio-direct`: the `DmaStreamReader` of the runtime glommio, past the page cache.
//! `depth` is the number of buffers that are read ahead.
//!
//! On a file system in memory the library silently reads through the page cache. There the method
//! is unavailable.

use super::glommio_file::{executor, failure};
use crate::methods::{DIRECT_BUFFER, READ_AHEAD};
use glommio::io::{DmaFile, DmaStreamReaderBuilder};
use glommio::{GlommioError, LocalExecutor};
use readlab_protocol::Work;
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

struct DirectFile {
    executor: LocalExecutor,
    path: PathBuf,
    work: Work,
    buffer_bytes: usize,
    read_ahead: usize,
}

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    let buffer_bytes = job.settings.size(&DIRECT_BUFFER);
    // The library finds buffers by the bits of their positions.
    if !buffer_bytes.is_power_of_two() {
        return Err(Refusal::failed(format!("buffer_bytes must be a power of two, got {buffer_bytes}")));
    }
    Ok(Box::new(DirectFile {
        executor: executor()?,
        path: job.target.into(),
        work: job.work,
        buffer_bytes,
        read_ahead: job.settings.size(&READ_AHEAD),
    }))
}

impl ReadTarget for DirectFile {
    fn read(&mut self) -> Result<Reading, Refusal> {
        self.executor.run(self.visit())
    }
}

impl DirectFile {
    async fn visit(&self) -> Result<Reading, Refusal> {
        // The library uses its first file to decide whether a device can be polled. It takes an
        // empty file for a sign that it can, and then the reads of the next file fail.
        let about = std::fs::metadata(&self.path)?;
        if about.is_file() && about.len() == 0 {
            return Ok(Tally::new(self.work).answer().into());
        }
        let file = self.file().await?;
        let reader = DmaStreamReaderBuilder::new(file);
        let reader = reader.with_buffer_size(self.buffer_bytes).with_read_ahead(self.read_ahead);
        let mut reader = reader.build();
        let mut tally = Tally::new(self.work);
        loop {
            let piece = reader.get_buffer_aligned(self.buffer_bytes as u64).await.map_err(failure)?;
            if piece.is_empty() {
                break;
            }
            tally.take(&piece);
        }
        reader.close().await.map_err(failure)?;
        Ok(tally.answer().into())
    }

    /// Opens the file, if its reads are direct.
    async fn file(&self) -> Result<DmaFile, Refusal> {
        let file = match DmaFile::open(&self.path).await {
            Err(GlommioError::EnhancedIoError { source, .. }) => return Err(self.not_opened(source)),
            opened => opened.map_err(failure)?,
        };
        if is_direct(&file) {
            return Ok(file);
        }
        file.close().await.map_err(failure)?;
        Err(self.no_direct_reads())
    }

    /// The reason why the file was not opened. A file system without direct reads refuses them with
    /// EINVAL, and so does a folder.
    fn not_opened(&self, error: io::Error) -> Refusal {
        if error.raw_os_error() == Some(libc::EINVAL) { self.no_direct_reads() } else { error.into() }
    }

    fn no_direct_reads(&self) -> Refusal {
        if self.path.is_dir() {
            return io::Error::from_raw_os_error(libc::EISDIR).into();
        }
        Refusal::Unavailable("O_DIRECT: the file system does not take it".to_owned())
    }
}

fn is_direct(file: &DmaFile) -> bool {
    // SAFETY: the descriptor is open as long as the file is.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    flags >= 0 && flags & libc::O_DIRECT != 0
}
