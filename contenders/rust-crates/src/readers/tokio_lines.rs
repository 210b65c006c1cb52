//! The method `tokio-lines`: the lines of Tokio's `BufReader` over its `File`. A line that is not
//! UTF-8 is an error. The number of bytes is not known to this method.

use crate::failure::Failure;
use crate::method::{READER_BUFFER, Reader};
use crate::request::Request;
use crate::tally::Answer;
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

pub(crate) fn open(request: &Request) -> Result<Box<dyn Reader>, Failure> {
    Ok(Box::new(TokioLines {
        // The usual one, of several threads.
        runtime: Runtime::new()?,
        path: request.path.clone(),
        buffer_bytes: request.size(&READER_BUFFER),
    }))
}

impl Reader for TokioLines {
    fn read(&mut self) -> Result<Answer, Failure> {
        self.runtime.block_on(self.visit())
    }
}

impl TokioLines {
    async fn visit(&self) -> Result<Answer, Failure> {
        let file = File::open(&self.path).await?;
        let mut lines = BufReader::with_capacity(self.buffer_bytes, file).lines();
        let mut count = 0;
        while let Some(line) = lines.next_line().await? {
            drop(black_box(line));
            count += 1;
        }
        Ok(Answer::of_lines(count))
    }
}
