//! The method `files-ahead`, which reads one file after the other. The next files are already open,
//! and were requested from the kernel by posix_fadvise(2), so that a device has several files to
//! read.

use super::list_reader::{ListReader, ListTarget};
use super::read::drain;
use super::{Fault, Method};
use crate::consumer::Consumer;
use crate::files_answer::FilesAnswer;
use crate::scan::Visit;
use crate::setting::Param;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, FileList, Reads};
use rustix::fs::{Advice, fadvise};
use std::collections::VecDeque;
use std::fs::File;
use std::path::Path;

const AHEAD: Param = Param::new("ahead", 32, 1, 512);
const BUFFER: Param = Param::new("buffer_bytes", 64 << 10, 1, 1 << 30);

pub(super) const FILES_AHEAD: Method = Method {
    name: "files-ahead",
    about: "the files of a list one after the other by read(2); the next `ahead` are open, and the kernel was told by \
            posix_fadvise(WILLNEED) to read them",
    reads: Reads::List,
    lists: true,
    params: &[AHEAD, BUFFER],
    build: |settings| {
        let (ahead, buffer_bytes) = (settings.size(&AHEAD), settings.size(&BUFFER));
        Ok(Box::new(ListTarget::new(AheadReader { ahead, buffer_bytes })))
    },
    ..Method::DEFAULT
};

struct AheadReader {
    /// Number of files that are open ahead of the current one.
    ahead: usize,
    buffer_bytes: usize,
}

impl ListReader for AheadReader {
    fn read(&mut self, list: &FileList, visit: Visit) -> Result<Answer, Fault> {
        let mut buffer = Buffer::new(self.buffer_bytes)?;
        let mut open = VecDeque::with_capacity(self.ahead + 1);
        let mut next = list.iter();
        let mut all = FilesAnswer::default();
        loop {
            while open.len() <= self.ahead
                && let Some(path) = next.next()
            {
                open.push_back((path, open_ahead(path).map_err(|fault| Fault::of_file(path, fault))?));
            }
            let Some((path, mut file)) = open.pop_front() else { return Ok(all.finish()) };
            let mut consumer = Consumer::new(visit);
            drain(&mut file, &mut buffer[..self.buffer_bytes], &mut consumer)
                .map_err(|fault| Fault::of_file(path, fault))?;
            all.add(consumer.finish());
        }
    }
}

/// Opens a file and requests it from the kernel.
fn open_ahead(path: &Path) -> Result<File, Fault> {
    let file = File::open(path)?;
    fadvise(&file, 0, None, Advice::WillNeed).map_err(std::io::Error::from)?;
    Ok(file)
}
