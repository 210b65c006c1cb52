//! The control `opens`: opens and closes every file of a list, and reads nothing. It shows what of
//! a reading of many files is the search for names and inodes.

use super::of_list::{ListReader, OfList};
use super::{Fault, Method};
use crate::scan::Visit;
use readlab_protocol::{Answer, FileList, Reads};
use std::fs::File;

pub(super) const OPENS: Method = Method {
    name: "opens",
    about: "control: opens and closes each file of a list, one after the other, and reads nothing",
    reads: Reads::List,
    lists: true,
    build: |_| Ok(Box::new(OfList::new(Opens))),
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
