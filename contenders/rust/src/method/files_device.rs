//! The control `files-device`, which reads the files of a list past the page cache, with many reads
//! in flight over all files together, and does not visit the bytes. It shows the best rate of the
//! device with files of these sizes. The files are opened before the window, because the device
//! does not determine how fast they are found.

use super::direct::DirectFile;
use super::files::{ListReader, ListTarget};
use super::io_uring::{available, refusal};
use super::limits::device_plan;
use super::{Fault, Method};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::segments::Segments;
use crate::setting::Param;
use crate::source::Source;
use readlab_auto::in_flight::{InFlight, Job, Order, Plan, Ring};
use readlab_protocol::{Answer, FileList, Reads};
use std::os::fd::AsFd;
use std::path::Path;

const BUFFER: Param = Param::new("buffer_bytes", 128 << 10, 512, 1 << 26);
const DEPTH: Param = Param::new("depth", 64, 1, 4096);

/// Limit for files that are open at the same time. Of a longer list only this number of files is
/// read, spread evenly over the list. A rate needs no more, and a process may not be allowed to
/// open all files.
const FILES_MAX: usize = 256;

pub(super) const FILES_DEVICE: Method = Method {
    name: "files-device",
    about: "control: O_DIRECT reads of the files of a list, or of 256 of them, in an io_uring, `depth` of them in flight, \
            and not looked at; the files are open before",
    reads: Reads::List,
    lists: true,
    params: &[BUFFER, DEPTH],
    build: |settings| {
        let plan = device_plan(settings.size(&BUFFER), settings.size(&DEPTH));
        Ok(ListTarget::boxed(FilesDevice { plan, open: Vec::new() }))
    },
    available,
    ..Method::CONTROL
};

struct FilesDevice {
    plan: Plan,
    open: Vec<DirectFile>,
}

impl ListReader for FilesDevice {
    fn prepare(&mut self, list: &FileList) -> Result<(), Fault> {
        let count = list.len().min(FILES_MAX);
        let open = |nth: usize| {
            let path = list.path(nth * list.len() / count);
            self.open_file(path).map_err(|fault| Fault::of_file(path, fault))
        };
        self.open = (0..count).map(open).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn read(&mut self, _list: &FileList, _visit: Visit) -> Result<Answer, Fault> {
        let segments = |file: &DirectFile| Segments::new(file.range.clone(), self.plan.buffer_bytes as u64);
        let count = self.open.iter().map(|file| segments(file).count()).sum::<u64>();
        let ring = Ring::new(self.plan.entries).map_err(|cause| Fault::Unavailable(refusal(&cause)))?;
        let mut jobs = self.open.iter().flat_map(|file| {
            let of_file = segments(file);
            std::iter::from_fn(move || of_file.take()).map(move |range| Job {
                range,
                file: file.file.as_fd(),
                block_bytes: file.block_bytes,
                fallback: None,
            })
        });
        let reads = InFlight::prepare(ring, &self.plan, usize::try_from(count).unwrap_or(usize::MAX))?;
        let mut nothing = Consumer::new(Visit::Nothing);
        let _ = reads.run(Order::Any, &mut || jobs.next(), &mut nothing, None)?;
        Ok(Answer::default())
    }

    fn release(&mut self) {
        self.open.clear();
    }
}

impl FilesDevice {
    fn open_file(&self, path: &Path) -> Result<DirectFile, Fault> {
        let file = DirectFile::open(&Source::whole(path))?;
        file.check_buffer_size(self.plan.buffer_bytes)?;
        Ok(file)
    }
}
