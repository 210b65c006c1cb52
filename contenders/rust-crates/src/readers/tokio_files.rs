//! The methods `tokio-fs` and `tokio-lines`: Tokio's `File`, read into one buffer, and the lines of
//! its `BufReader` over it, on the default runtime with several threads.
//!
//! A thread of the runtime's pool does each read, into a buffer of the `File`, from which the bytes
//! are copied. `max_buf_bytes` is the largest size of that buffer. A line that is not UTF-8 is an
//! error, and `tokio-lines` does not know the number of bytes.

use crate::methods::{READER_BUFFER, TOKIO_BUFFER, TOKIO_MAX_BUF};
use readlab_protocol::Answer;
use readlab_protocol::contender::{Job, ReadTarget, Reading, Tally};
use readlab_protocol::serve::Refusal;
use std::hint::black_box;
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::runtime::Runtime;

pub(crate) fn open_file(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    let runtime = Runtime::new()?;
    let sizes = [&TOKIO_BUFFER, &TOKIO_MAX_BUF].map(|size| job.settings.size(size));
    Ok(Box::new(move || runtime.block_on(visit_file(&job, sizes))))
}

async fn visit_file(job: &Job, [buffer_bytes, max_buf_bytes]: [usize; 2]) -> Result<Reading, Refusal> {
    let mut file = File::open(&job.target).await?;
    file.set_max_buf_size(max_buf_bytes);
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

pub(crate) fn open_lines(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    let (runtime, buffer_bytes) = (Runtime::new()?, job.settings.size(&READER_BUFFER));
    Ok(Box::new(move || runtime.block_on(visit_lines(&job, buffer_bytes))))
}

async fn visit_lines(job: &Job, buffer_bytes: usize) -> Result<Reading, Refusal> {
    let file = File::open(&job.target).await?;
    let mut lines = BufReader::with_capacity(buffer_bytes, file).lines();
    let mut count = 0;
    while let Some(line) = lines.next_line().await? {
        drop(black_box(line));
        count += 1;
    }
    Ok(Answer { lines: Some(count), ..Answer::default() }.into())
}
