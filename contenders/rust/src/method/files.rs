//! The methods that read the files of a list: one after the other with the next files requested ahead,
//! by threads that take them in turn, with many in flight through a ring, and as the crate readlab-auto
//! chooses. The control `opens` opens and closes every file and reads nothing: it shows how much of the
//! time for many files is the lookup of dentries and inodes.
//!
//! The list is loaded once, before the first turn, and the answers of its files are added up.

use super::io_uring::refusal;
use super::read::drain;
use super::{Fault, Method, Reader};
use crate::consumer::Consumer;
use crate::files_answer::FilesAnswer;
use crate::scan::Visit;
use crate::segments::Segments;
use crate::setting::Param;
use crate::source::Source;
use readlab_auto::buffer::Buffer;
use readlab_auto::files::in_flight::{self, FilesInFlight, Plan};
use readlab_auto::{FilePaths, Files, OneOfFiles, ReadError};
use readlab_protocol::{Answer, Cache, FileList, Reads};
use rustix::fs::{Advice, fadvise};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::num::NonZero;
use std::path::Path;

const BUFFER: Param = Param::new("buffer_bytes", 64 << 10, 1, 1 << 30);
const AHEAD: Param = Param::new("ahead", 32, 1, 512);
const THREADS: Param = Param::new("threads", 2, 1, 1024);
/// The value 0 means that the crate chooses by what is cached.
const AUTO_THREADS: Param = Param::new("threads", 0, 0, 1024);
const RING_BUFFER: Param = Param::new("buffer_bytes", 64 << 10, 512, 1 << 24);
const DEPTH: Param = Param::new("depth", 64, 1, 512);
const DIRECT: Param = Param::switch("direct");

const LIST_DEFAULT: Method = Method { reads: Reads::List, lists: true, ..Method::DEFAULT };

pub(super) const OPENS: Method = Method {
    name: "opens",
    about: "control: opens and closes each file of a list, one after the other, and reads nothing",
    reads: Reads::List,
    lists: true,
    build: |_| Ok(ListTarget::boxed(|list: &FileList, _: Visit| open_each(list))),
    ..Method::CONTROL
};

pub(super) const FILES_AHEAD: Method = Method {
    name: "files-ahead",
    about: "the files of a list one after the other by read(2); the next `ahead` are open, and the kernel was told by \
            posix_fadvise(WILLNEED) to read them",
    params: &[AHEAD, BUFFER],
    build: |settings| {
        let (ahead, buffer_bytes) = (settings.size(&AHEAD), settings.size(&BUFFER));
        Ok(ListTarget::boxed(move |list: &FileList, visit: Visit| {
            read_ahead(list, ahead, buffer_bytes, visit)
        }))
    },
    ..LIST_DEFAULT
};

pub(super) const FILES_THREADS: Method = Method {
    name: "files-threads",
    about: "threads take the files of a list in turn; each is opened, read with read(2) into the thread's buffer, and closed",
    params: &[BUFFER, THREADS],
    build: |settings| {
        let (buffer_bytes, threads) = (settings.size(&BUFFER), settings.get(&THREADS));
        Ok(ListTarget::boxed(move |list: &FileList, visit: Visit| {
            read_by_threads(list, threads, buffer_bytes, visit)
        }))
    },
    ..LIST_DEFAULT
};

pub(super) const FILES_IO_URING: Method = Method {
    name: "files-io_uring",
    about: "openat and read of each file of a list linked in an io_uring, `depth` files in flight on one thread; an open \
            file takes the place of an earlier one in the ring's table, which closes that",
    cache: Cache::ByParam,
    params: &[RING_BUFFER, DEPTH, DIRECT],
    build: |settings| {
        let depth = u16::try_from(settings.get(&DEPTH)).unwrap_or(u16::MAX);
        let plan = Plan { buffer_bytes: settings.size(&RING_BUFFER), depth, direct: settings.is_on(&DIRECT) };
        Ok(ListTarget::boxed(move |list: &FileList, visit: Visit| read_in_ring(list, &plan, visit)))
    },
    available: || in_flight::Ring::new(1).map(drop).map_err(|cause| refusal(&cause)),
    ..LIST_DEFAULT
};

pub(super) const FILES_AUTO: Method = Method {
    name: "files-auto",
    about: "crate readlab-auto: looks how large some files of a list are and whether they are cached, then reads all by \
            threads that take them in turn, or with many in flight through an io_uring for each processor",
    params: &[AUTO_THREADS],
    build: |settings| {
        let threads = NonZero::new(usize::try_from(settings.get(&AUTO_THREADS)).unwrap_or(usize::MAX));
        Ok(ListTarget::boxed(move |list: &FileList, visit: Visit| read_as_chosen(list, threads, visit)))
    },
    ..LIST_DEFAULT
};

/// A method of reading the files of a list.
pub(super) trait ListReader: Send {
    /// Prepares for a turn, outside the window.
    fn prepare(&mut self, _list: &FileList) -> Result<(), Fault> {
        Ok(())
    }

    fn read(&mut self, list: &FileList, visit: Visit) -> Result<Answer, Fault>;

    /// Cleans up after a turn.
    fn release(&mut self) {}
}

impl<F: FnMut(&FileList, Visit) -> Result<Answer, Fault> + Send> ListReader for F {
    fn read(&mut self, list: &FileList, visit: Visit) -> Result<Answer, Fault> {
        self(list, visit)
    }
}

pub(super) struct ListTarget<R> {
    reader: R,
    list: Option<FileList>,
}

impl<R: ListReader + 'static> ListTarget<R> {
    pub(super) fn boxed(reader: R) -> Box<dyn Reader> {
        Box::new(ListTarget { reader, list: None })
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

fn open_each(list: &FileList) -> Result<Answer, Fault> {
    for path in list.iter() {
        File::open(path).map_err(|cause| Fault::of_file(path, cause.into()))?;
    }
    Ok(Answer::default())
}

/// Reads one file after the other, with `ahead` more files open.
fn read_ahead(list: &FileList, ahead: usize, buffer_bytes: usize, visit: Visit) -> Result<Answer, Fault> {
    let mut buffer = Buffer::new(buffer_bytes)?;
    let mut open = VecDeque::with_capacity(ahead + 1);
    let mut next = list.iter();
    let mut all = FilesAnswer::default();
    loop {
        while open.len() <= ahead
            && let Some(path) = next.next()
        {
            open.push_back((path, open_ahead(path).map_err(|fault| Fault::of_file(path, fault))?));
        }
        let Some((path, mut file)) = open.pop_front() else { return Ok(all.finish()) };
        let mut consumer = Consumer::new(visit);
        drain(&mut file, &mut buffer[..buffer_bytes], &mut consumer)
            .map_err(|fault| Fault::of_file(path, fault))?;
        all.add(consumer.finish());
    }
}

/// Opens a file and requests it from the kernel.
fn open_ahead(path: &Path) -> Result<File, Fault> {
    let file = File::open(path)?;
    fadvise(&file, 0, None, Advice::WillNeed).map_err(io::Error::from)?;
    Ok(file)
}

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

/// The paths of a list, as the crate readlab-auto takes them.
struct ListPaths<'l>(&'l FileList);

impl FilePaths for ListPaths<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn path(&self, index: usize) -> &Path {
        self.0.path(index)
    }
}

fn add_file(all: &mut FilesAnswer, file: &mut OneOfFiles<'_>, visit: Visit) -> Result<(), ReadError> {
    let mut consumer = Consumer::new(visit);
    file.for_each(|_offset, bytes| consumer.feed(bytes))?;
    all.add(consumer.finish());
    Ok(())
}

fn read_in_ring(list: &FileList, plan: &Plan, visit: Visit) -> Result<Answer, Fault> {
    let ring = in_flight::Ring::new(plan.depth).map_err(|cause| Fault::Unavailable(refusal(&cause)))?;
    let files = FilesInFlight::prepare(ring, plan, list.len())?;
    let mut all = FilesAnswer::default();
    files.run(&ListPaths(list), &mut (0..list.len()), &mut |file| add_file(&mut all, file, visit))?;
    Ok(all.finish())
}

/// Reads the files as the crate chooses; with as many threads as are given.
fn read_as_chosen(list: &FileList, threads: Option<NonZero<usize>>, visit: Visit) -> Result<Answer, Fault> {
    let listed = ListPaths(list);
    let files = Files::new(&listed);
    let files = match threads {
        Some(threads) => files.threads(threads),
        None => files,
    };
    let parts = files.each(FilesAnswer::default, |all, file| add_file(all, file, visit))?;
    Ok(FilesAnswer::of_parts(parts))
}
