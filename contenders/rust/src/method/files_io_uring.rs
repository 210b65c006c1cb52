//! The method `files-io_uring`: opening and reading of each file of a list are linked in a ring,
//! with many files in flight on one thread. `readlab_auto::files::in_flight` does the reads.

use super::io_uring::refusal;
use super::list_reader::{ListPaths, ListReader, ListTarget, add_file};
use super::{Fault, Method};
use crate::files_answer::FilesAnswer;
use crate::scan::Visit;
use crate::setting::Param;
use readlab_auto::files::in_flight::{self, FilesInFlight, Plan};
use readlab_protocol::{Answer, Cache, FileList, Reads};

const BUFFER: Param = Param::new("buffer_bytes", 64 << 10, 512, 1 << 24);
const DEPTH: Param = Param::new("depth", 64, 1, 512);
const DIRECT: Param = Param::switch("direct");

pub(super) const FILES_IO_URING: Method = Method {
    name: "files-io_uring",
    about: "openat and read of each file of a list linked in an io_uring, `depth` files in flight on one thread; an open \
            file takes the place of an earlier one in the ring's table, which closes that",
    cache: Cache::ByParam,
    reads: Reads::List,
    lists: true,
    params: &[BUFFER, DEPTH, DIRECT],
    build: |settings| {
        let depth = u16::try_from(settings.get(&DEPTH)).unwrap_or(u16::MAX);
        let plan = Plan { buffer_bytes: settings.size(&BUFFER), depth, direct: settings.is_on(&DIRECT) };
        Ok(Box::new(ListTarget::new(RingReader { plan })))
    },
    available: || in_flight::Ring::new(1).map(drop).map_err(|cause| refusal(&cause)),
    ..Method::DEFAULT
};

struct RingReader {
    plan: Plan,
}

impl ListReader for RingReader {
    fn read(&mut self, list: &FileList, visit: Visit) -> Result<Answer, Fault> {
        let ring =
            in_flight::Ring::new(self.plan.depth).map_err(|cause| Fault::Unavailable(refusal(&cause)))?;
        let files = FilesInFlight::prepare(ring, &self.plan, list.len())?;
        let mut all = FilesAnswer::default();
        files.run(&ListPaths(list), &mut (0..list.len()), &mut |file| add_file(&mut all, file, visit))?;
        Ok(all.finish())
    }
}
