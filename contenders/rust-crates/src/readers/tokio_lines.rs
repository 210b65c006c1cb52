//! The method `tokio-lines`: the lines of Tokio's `BufReader` over its `File`. A line that is not
//! UTF-8 is an error. This method does not know the number of bytes.

use crate::methods::READER_BUFFER;
use readlab_protocol::Answer;
use readlab_protocol::contender::{Job, ReadTarget, Reading};
use readlab_protocol::serve::Refusal;
use std::hint::black_box;
use std::path::PathBuf;
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::runtime::Runtime;

struct TokioLines {
    runtime: Runtime,
    path: PathBuf,
    buffer_bytes: usize,
}

pub(crate) fn open(job: Job) -> Result<Box<dyn ReadTarget>, Refusal> {
    Ok(Box::new(TokioLines {
        // The default runtime, with several threads.
        runtime: Runtime::new()?,
        path: job.target.into(),
        buffer_bytes: job.settings.size(&READER_BUFFER),
    }))
}

impl ReadTarget for TokioLines {
    fn read(&mut self) -> Result<Reading, Refusal> {
        self.runtime.block_on(self.visit())
    }
}

impl TokioLines {
    async fn visit(&self) -> Result<Reading, Refusal> {
        let file = File::open(&self.path).await?;
        let mut lines = BufReader::with_capacity(self.buffer_bytes, file).lines();
        let mut count = 0;
        while let Some(line) = lines.next_line().await? {
            drop(black_box(line));
            count += 1;
        }
        Ok(Answer { lines: Some(count), ..Answer::default() }.into())
    }
}
