//! The control `opens`, which opens and closes every file of a list, and reads nothing. It shows
//! how much of the time for many files is the lookup of dentries and inodes.

use super::list_reader::{ListReader, ListTarget};
use super::{Fault, Method};
use crate::scan::Visit;
use readlab_protocol::{Answer, FileList, Reads};
use std::fs::File;

pub(super) const OPENS: Method = Method {
    name: "opens",
    about: "control: opens and closes each file of a list, one after the other, and reads nothing",
    reads: Reads::List,
    lists: true,
    build: |_| Ok(Box::new(ListTarget::new(Opens))),
    ..Method::CONTROL
};

struct Opens;

impl ListReader for Opens {
    fn read(&mut self, list: &FileList, _visit: Visit) -> Result<Answer, Fault> {
        for path in list.iter() {
            File::open(path).map_err(|cause| Fault::of_file(path, cause.into()))?;
        }
        Ok(Answer::default())
    }
}
