//! The common part of methods that read lists: the list is loaded once, before the first turn, and
//! the answers of its files are added up.

use super::{Fault, Reader};
use crate::consumer::Consumer;
use crate::files_answer::FilesAnswer;
use crate::scan::Visit;
use crate::source::Source;
use readlab_auto::{FilePaths, OneOfFiles, ReadError};
use readlab_protocol::{Answer, FileList};
use std::path::Path;

/// A method of reading the files of a list.
pub(super) trait ListReader: Send {
    /// Prepares for a turn, outside the window.
    fn prepare(&mut self, _list: &FileList) -> Result<(), Fault> {
        Ok(())
    }

    /// Opens, reads and closes each file.
    fn read(&mut self, list: &FileList, visit: Visit) -> Result<Answer, Fault>;

    /// Cleans up after a turn.
    fn release(&mut self) {}
}

/// The paths of a list, as the crate readlab-auto takes them.
pub(super) struct ListPaths<'l>(pub(super) &'l FileList);

impl FilePaths for ListPaths<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn path(&self, index: usize) -> &Path {
        self.0.path(index)
    }
}

pub(super) fn add_file(
    all: &mut FilesAnswer,
    file: &mut OneOfFiles<'_>,
    visit: Visit,
) -> Result<(), ReadError> {
    let mut consumer = Consumer::new(visit);
    file.for_each(|_offset, bytes| consumer.feed(bytes))?;
    all.add(consumer.finish());
    Ok(())
}

pub(super) struct ListTarget<R> {
    reader: R,
    list: Option<FileList>,
}

impl<R: ListReader> ListTarget<R> {
    pub(super) fn new(reader: R) -> ListTarget<R> {
        ListTarget { reader, list: None }
    }
}

impl<R: ListReader> Reader for ListTarget<R> {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        let list = match self.list.take() {
            Some(list) => list,
            None => FileList::read(source.path())?,
        };
        self.reader.prepare(self.list.insert(list))
    }

    fn read(&mut self, _source: &Source, visit: Visit) -> Result<Answer, Fault> {
        match &self.list {
            Some(list) => self.reader.read(list, visit),
            None => Ok(Answer::default()),
        }
    }

    fn release(&mut self) {
        self.reader.release();
    }
}
