//! The control `opens`: opens and closes every file of a list, and reads nothing. It shows what of
//! a reading of many files is the search for names and inodes.

use super::files_threads::loaded;
use super::{Fault, Feeding, Method, Reader};
use crate::scan::Visit;
use crate::source::Source;
use crate::work::{Answer, Work};
use readlab_protocol::{Cache, FileList, Reads};
use std::fs::File;

pub(super) const OPENS: Method = Method {
    name: "opens",
    about: "control: opens and closes each file of a list, one after the other, and reads nothing",
    cache: Cache::None,
    reads: Reads::List,
    feeding: Feeding::Own(&Work::ALL),
    decodes: &[],
    parts: false,
    lists: true,
    tls: false,
    params: &[],
    build: |_| Ok(Box::new(Opens(None))),
    available: || Ok(()),
};

struct Opens(Option<FileList>);

impl Reader for Opens {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        loaded(&mut self.0, source)
    }

    fn read(&mut self, _source: &Source, _visit: Visit) -> Result<Answer, Fault> {
        for path in self.0.iter().flat_map(FileList::iter) {
            File::open(path).map_err(|cause| Fault::of_file(path, cause.into()))?;
        }
        Ok(Answer::default())
    }
}
