//! The method `files-threads`: several threads take the files of a list in turn, and read each with
//! read(2) into a buffer of their own.

use super::read::drain;
use super::{Fault, Feeding, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::segments::Segments;
use crate::setting::Param;
use crate::source::Source;
use crate::work::Answer;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Cache, FileList, Reads};
use std::fs::File;
use std::path::Path;

const BUFFER: Param = Param::new("buffer_bytes", 64 << 10, 1, 1 << 30);
const THREADS: Param = Param::new("threads", 2, 1, 1024);

pub(super) const FILES_THREADS: Method = Method {
    name: "files-threads",
    about: "threads take the files of a list in turn; each is opened, read with read(2) into the thread's buffer, and closed",
    cache: Cache::Through,
    reads: Reads::List,
    feeding: Feeding::InOrder,
    decodes: &[],
    parts: false,
    lists: true,
    tls: false,
    params: &[BUFFER, THREADS],
    build: |settings| {
        let (buffer_bytes, threads) = (settings.size(&BUFFER), settings.get(&THREADS));
        Ok(Box::new(Threads { buffer_bytes, threads, list: None }))
    },
    available: || Ok(()),
};

struct Threads {
    buffer_bytes: usize,
    threads: u64,
    list: Option<FileList>,
}

impl Reader for Threads {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        loaded(&mut self.list, source)
    }

    fn read(&mut self, _source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let Some(list) = &self.list else { return Ok(Answer::default()) };
        read_by_threads(list, self.threads, self.buffer_bytes, visit)
    }
}

/// Loads the list that a target is, once.
pub(super) fn loaded(list: &mut Option<FileList>, source: &Source) -> Result<(), Fault> {
    if list.is_none() {
        *list = Some(FileList::read(source.path())?);
    }
    Ok(())
}

/// Reads every file of a list by threads that take them in turn.
pub(super) fn read_by_threads(
    list: &FileList,
    threads: u64,
    buffer_bytes: usize,
    visit: Visit,
) -> Result<Answer, Fault> {
    let parts = Segments::new(0..list.len() as u64, 1).share(threads, |files| {
        let mut buffer = Buffer::new(buffer_bytes)?;
        let mut all: Option<Answer> = None;
        while let Some(taken) = files.take() {
            let path = list.path(taken.start as usize);
            let answer = read_file(path, &mut buffer[..buffer_bytes], visit)?;
            all = Some(all.map_or(answer, |all| all.merge(answer)));
        }
        Ok(all)
    })?;
    Ok(Answer::of_parts(parts.into_iter().flatten().collect()))
}

/// Opens one file of several, reads it to its end and closes it.
pub(super) fn read_file(path: &Path, buffer: &mut [u8], visit: Visit) -> Result<Answer, Fault> {
    let mut read = || {
        let mut consumer = Consumer::new(visit);
        drain(&mut File::open(path)?, buffer, &mut consumer)?;
        Ok(consumer.finish().of_file())
    };
    read().map_err(|fault| Fault::of_file(path, fault))
}
