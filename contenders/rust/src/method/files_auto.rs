//! The method `files-auto`: looks at a few files of a list, and reads all by as many threads as fit
//! what it saw.
//!
//! Cached files keep processors busy, so there is a thread for each. Files that a device must read
//! keep it busy by many requests at a time: threads wait for it, so there are more of them.

use super::files_threads::read_by_threads;
use super::of_list::{ListReader, OfList};
use super::{Fault, Feeding, Method};
use crate::scan::Visit;
use crate::setting::Param;
use crate::work::Answer;
use readlab_protocol::{Cache, FileList, Reads};
use rustix::io::{ReadWriteFlags, preadv2};
use std::fs::File;
use std::io::IoSliceMut;
use std::num::NonZero;
use std::thread;

/// 0 means that it is chosen by what is cached.
const THREADS: Param = Param::new("threads", 0, 0, 1024);

/// Files that are looked at, evenly spread over the list.
const LOOKED_AT: usize = 16;

/// Threads where files come from a device.
const WAITING_THREADS: u64 = 32;

/// More buffer than most files have bytes; larger files are read in several pieces.
const BUFFER_BYTES: usize = 256 << 10;

pub(super) const FILES_AUTO: Method = Method {
    name: "files-auto",
    about: "looks whether some files of a list are cached, then reads all by threads that take them in turn: as many as \
            processors, or 32 where a device must read",
    cache: Cache::Through,
    reads: Reads::List,
    feeding: Feeding::InOrder,
    decodes: &[],
    parts: false,
    lists: true,
    tls: false,
    params: &[THREADS],
    build: |settings| Ok(Box::new(OfList::new(Chosen { threads: settings.get(&THREADS) }))),
    available: || Ok(()),
};

struct Chosen {
    threads: u64,
}

impl ListReader for Chosen {
    fn read(&mut self, list: &FileList, visit: Visit) -> Result<Answer, Fault> {
        let threads = if self.threads == 0 { threads_for(list) } else { self.threads };
        read_by_threads(list, threads, BUFFER_BYTES, visit)
    }
}

/// How many threads suit the files of a list.
fn threads_for(list: &FileList) -> u64 {
    let processors = thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let step = list.len().div_ceil(LOOKED_AT).max(1);
    let is_cached = |index| is_cached(list, index);
    let looked_at = (0..list.len()).step_by(step);
    let count = looked_at.len();
    let cached = looked_at.filter(|index| is_cached(*index)).count();
    if cached * 2 >= count { processors } else { processors.max(WAITING_THREADS) }
}

/// Whether the first byte of a file can be read without waiting; one that is empty, or cannot be
/// read, waits for nothing.
fn is_cached(list: &FileList, index: usize) -> bool {
    let Ok(file) = File::open(list.path(index)) else { return true };
    let mut byte = [0];
    let read = preadv2(&file, &mut [IoSliceMut::new(&mut byte)], 0, ReadWriteFlags::NOWAIT);
    read != Err(rustix::io::Errno::AGAIN)
}
