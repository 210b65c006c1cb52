//! The method `files-threads`: several threads take the files of a list in turn, and each thread
//! reads with read(2) into its own buffer.

use super::list_reader::{ListReader, ListTarget};
use super::read::drain;
use super::{Fault, Method};
use crate::consumer::Consumer;
use crate::files_answer::FilesAnswer;
use crate::scan::Visit;
use crate::segments::Segments;
use crate::setting::Param;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, FileList, Reads};
use std::fs::File;
use std::path::Path;

const BUFFER: Param = Param::new("buffer_bytes", 64 << 10, 1, 1 << 30);
const THREADS: Param = Param::new("threads", 2, 1, 1024);

pub(super) const FILES_THREADS: Method = Method {
    name: "files-threads",
    about: "threads take the files of a list in turn; each is opened, read with read(2) into the thread's buffer, and closed",
    reads: Reads::List,
    lists: true,
    params: &[BUFFER, THREADS],
    build: |settings| {
        let (buffer_bytes, threads) = (settings.size(&BUFFER), settings.get(&THREADS));
        Ok(Box::new(ListTarget::new(Threads { buffer_bytes, threads })))
    },
    ..Method::DEFAULT
};

struct Threads {
    buffer_bytes: usize,
    threads: u64,
}

impl ListReader for Threads {
    fn read(&mut self, list: &FileList, visit: Visit) -> Result<Answer, Fault> {
        read_by_threads(list, self.threads, self.buffer_bytes, visit)
    }
}

/// Reads every file of a list by threads that take the files in turn.
fn read_by_threads(
    list: &FileList,
    threads: u64,
    buffer_bytes: usize,
    visit: Visit,
) -> Result<Answer, Fault> {
    let parts = Segments::new(0..list.len() as u64, 1).run_on_threads(threads, |files| {
        let mut buffer = Buffer::new(buffer_bytes)?;
        let mut all = FilesAnswer::default();
        while let Some(taken) = files.take() {
            let path = list.path(taken.start as usize);
            all.add(read_file(path, &mut buffer[..buffer_bytes], visit)?);
        }
        Ok(all)
    })?;
    Ok(FilesAnswer::of_parts(parts))
}

/// Opens one file of several, reads it to its end and closes it.
pub(super) fn read_file(path: &Path, buffer: &mut [u8], visit: Visit) -> Result<Answer, Fault> {
    let mut read = || {
        let mut consumer = Consumer::new(visit);
        drain(&mut File::open(path)?, buffer, &mut consumer)?;
        Ok(consumer.finish())
    };
    read().map_err(|fault| Fault::of_file(path, fault))
}
