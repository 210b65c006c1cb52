//! The methods `glommio` and `glommio-direct`: the `StreamReader` of the runtime glommio over a file
//! in the page cache, and its `DmaStreamReader`, past the page cache.
//!
//! `glommio` reads into one buffer of the same size as the library's, whose `fill_buf` cannot be
//! used: at the end of the file it is not ready a second time, which futures-lite requires. `depth` of
//! `glommio-direct` is the number of buffers that are read ahead. On a file system in memory the
//! library silently reads through the page cache. There the method is unavailable.

use crate::methods::{DIRECT_BUFFER, GLOMMIO_BUFFER, READ_AHEAD};
use futures_lite::AsyncReadExt;
use glommio::io::{BufferedFile, DmaFile, DmaStreamReaderBuilder, StreamReaderBuilder};
use glommio::{GlommioError, LocalExecutor, LocalExecutorBuilder, Placement};
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

const REQUIREMENTS: &str = "it needs io_uring, and 512 KiB of memory that may be locked (ulimit -l)";

/// An executor on any processor.
fn executor() -> Result<LocalExecutor, Refusal> {
    let executor = LocalExecutorBuilder::new(Placement::Unbound).make();
    executor.map_err(|error| Refusal::Unavailable(format!("{REQUIREMENTS}: {error}")))
}

pub(crate) fn available() -> Result<(), Refusal> {
    executor().map(drop)
}

/// The cause without the path, which the library would add.
fn failure(error: GlommioError<()>) -> Refusal {
    match error {
        GlommioError::EnhancedIoError { source, .. } => source.into(),
        error => Refusal::failed(error.to_string()),
    }
}

pub(crate) fn open_buffered(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    let (executor, buffer_bytes) = (executor()?, job.settings.size(&GLOMMIO_BUFFER));
    Ok(Box::new(move || executor.run(visit_buffered(&job, buffer_bytes))))
}

async fn visit_buffered(job: &Job, buffer_bytes: usize) -> Result<Reading, Refusal> {
    let file = BufferedFile::open(&job.target).await.map_err(failure)?;
    let mut reader = StreamReaderBuilder::new(file).with_buffer_size(buffer_bytes).build();
    let mut buffer = vec![0; buffer_bytes];
    let mut tally = Tally::new(job.work);
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

pub(crate) fn open_direct(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    let buffer_bytes = job.settings.size(&DIRECT_BUFFER);
    // The library finds buffers by the bits of their positions.
    if !buffer_bytes.is_power_of_two() {
        return Err(Refusal::failed(format!("buffer_bytes must be a power of two, got {buffer_bytes}")));
    }
    let (executor, read_ahead) = (executor()?, job.settings.size(&READ_AHEAD));
    Ok(Box::new(move || executor.run(visit_direct(&job, buffer_bytes, read_ahead))))
}

async fn visit_direct(job: &Job, buffer_bytes: usize, read_ahead: usize) -> Result<Reading, Refusal> {
    let path = Path::new(&job.target);
    // The library uses its first file to decide whether a device can be polled. It takes an
    // empty file for a sign that it can, and then the reads of the next file fail.
    let about = std::fs::metadata(path)?;
    if about.is_file() && about.len() == 0 {
        return Ok(Tally::new(job.work).answer().into());
    }
    let reader = DmaStreamReaderBuilder::new(direct_file(path).await?);
    let mut reader = reader.with_buffer_size(buffer_bytes).with_read_ahead(read_ahead).build();
    let mut tally = Tally::new(job.work);
    loop {
        let piece = reader.get_buffer_aligned(buffer_bytes as u64).await.map_err(failure)?;
        if piece.is_empty() {
            break;
        }
        tally.take(&piece);
    }
    reader.close().await.map_err(failure)?;
    Ok(tally.answer().into())
}

/// Opens the file, if its reads are direct.
async fn direct_file(path: &Path) -> Result<DmaFile, Refusal> {
    let file = match DmaFile::open(path).await {
        Err(GlommioError::EnhancedIoError { source, .. }) => return Err(not_opened(path, source)),
        opened => opened.map_err(failure)?,
    };
    if is_direct(&file) {
        return Ok(file);
    }
    file.close().await.map_err(failure)?;
    Err(no_direct_reads(path))
}

/// The reason why the file was not opened. A file system without direct reads refuses them with
/// EINVAL, and so does a folder.
fn not_opened(path: &Path, error: io::Error) -> Refusal {
    if error.raw_os_error() == Some(libc::EINVAL) { no_direct_reads(path) } else { error.into() }
}

fn no_direct_reads(path: &Path) -> Refusal {
    if path.is_dir() {
        return io::Error::from_raw_os_error(libc::EISDIR).into();
    }
    Refusal::Unavailable("O_DIRECT: the file system does not take it".to_owned())
}

fn is_direct(file: &DmaFile) -> bool {
    // SAFETY: the descriptor is open as long as the file is.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    flags >= 0 && flags & libc::O_DIRECT != 0
}
