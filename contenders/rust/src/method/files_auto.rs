//! The method `files-auto`, where the crate readlab-auto chooses how the files of a list are read.

use super::list_reader::{ListPaths, ListReader, ListTarget, add_file};
use super::{Fault, Method};
use crate::files_answer::FilesAnswer;
use crate::scan::Visit;
use crate::setting::Param;
use readlab_auto::Files;
use readlab_protocol::{Answer, FileList, Reads};
use std::num::NonZero;

/// The value 0 means that the crate chooses by what is cached.
const THREADS: Param = Param::new("threads", 0, 0, 1024);

pub(super) const FILES_AUTO: Method = Method {
    name: "files-auto",
    about: "crate readlab-auto: looks how large some files of a list are and whether they are cached, then reads all by \
            threads that take them in turn, or with many in flight through an io_uring for each processor",
    reads: Reads::List,
    lists: true,
    params: &[THREADS],
    build: |settings| {
        let threads = NonZero::new(usize::try_from(settings.get(&THREADS)).unwrap_or(usize::MAX));
        Ok(Box::new(ListTarget::new(AutoListReader { threads })))
    },
    ..Method::DEFAULT
};

struct AutoListReader {
    threads: Option<NonZero<usize>>,
}

impl ListReader for AutoListReader {
    fn read(&mut self, list: &FileList, visit: Visit) -> Result<Answer, Fault> {
        let listed = ListPaths(list);
        let files = Files::new(&listed);
        let files = match self.threads {
            Some(threads) => files.threads(threads),
            None => files,
        };
        let parts = files.each(FilesAnswer::default, |all, file| add_file(all, file, visit))?;
        Ok(FilesAnswer::of_parts(parts))
    }
}
