//! The controls that measure limits: the best rate of this machine for one step that every reading
//! needs.
//!
//! `copy` is the kernel's copy out of the page cache, `faults` the page faults on cached pages,
//! `device` reads past the cache without visiting the bytes, and `syscall` a call into the kernel
//! and back. The best rate of memory is the control `resident`. Each control runs alone in its
//! window. If its file must be cached, it is read before the window.

use super::io_uring::{self, Ring};
use super::memory_check::check_fits;
use super::mmap::Mapped;
use super::pread::Pread;
use super::{Fault, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::{self, Visit};
use crate::setting::Param;
use crate::source::Source;
use readlab_auto::buffer::Buffer;
use readlab_auto::in_flight::{Plan, Registered};
use readlab_protocol::{Answer, FileList, Work};
use rustix::fs::MemfdFlags;
use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::path::Path;

/// The default fits into the second-level cache of common processors, so that copied bytes stay
/// there.
const COPY_BUFFER: Param = Param::new("buffer_bytes", 128 << 10, 4096, 1 << 30);
const SEGMENT: Param = Param::new("segment_bytes", 4 << 20, 4096, 1 << 40);
const THREADS: Param = Param::new("threads", 1, 1, 1024);
const DEVICE_BUFFER: Param = Param::new("buffer_bytes", 128 << 10, 512, 1 << 26);
const DEPTH: Param = Param::new("depth", 16, 1, 4096);
/// The value 0 means the whole file.
const SPAN: Param = Param::new("span_bytes", 0, 0, 1 << 50);
const SMALL_PAGES: Param = Param::switch("small_pages");
const CALLS: Param = Param::new("calls", 20_000, 1, 1 << 32);

pub(super) const COPY: Method = Method {
    name: "copy",
    about: "control: the file's bytes copied out of the page cache into a small buffer, and not looked at; the file, or \
            each file of a list, is brought into the cache before each turn",
    parts: true,
    lists: true,
    params: &[COPY_BUFFER, SEGMENT, THREADS],
    build: |settings| {
        let (buffer, segment) = (settings.get(&COPY_BUFFER), settings.get(&SEGMENT));
        settings.settle(&SEGMENT, segment.next_multiple_of(buffer));
        Ok(Box::new(CachedReader {
            name: "copy",
            visit: Visit::Nothing,
            reader: Pread {
                buffer_bytes: settings.size(&COPY_BUFFER),
                segment_bytes: settings.get(&SEGMENT),
                threads: settings.get(&THREADS),
            },
        }))
    },
    ..Method::CONTROL
};

pub(super) const PAGE_FAULTS: Method = Method {
    name: "faults",
    about: "control: the cached file mapped and one byte of every page touched; the file is brought into the cache \
            before each turn; with small_pages as much memory in pages of 4 KiB instead, at most 64 MiB",
    parts: true,
    params: &[SMALL_PAGES],
    build: |settings| {
        let (populate, sequential) = (false, false);
        let reader =
            Mapped { populate, sequential, segment_bytes: SEGMENT.default, threads: THREADS.default };
        let touch = scan::for_work(Work::Discard).next().expect("bytes can be discarded on any processor");
        Ok(if settings.is_on(&SMALL_PAGES) {
            Box::new(SmallPages { visit: touch.visit, reader, memory: None })
        } else {
            Box::new(CachedReader { name: "faults", visit: touch.visit, reader })
        })
    },
    ..Method::CONTROL
};

pub(super) const DEVICE: Method = Method {
    name: "device",
    about: "control: O_DIRECT reads in an io_uring for each thread, `depth` of them in flight, and not looked at",
    parts: true,
    params: &[DEVICE_BUFFER, DEPTH, SPAN, THREADS],
    build: |settings| {
        let plan = device_plan(settings.size(&DEVICE_BUFFER), settings.size(&DEPTH));
        let span_bytes = Some(settings.get(&SPAN)).filter(|&span| span > 0);
        let ring = Ring { plan, direct: true, threads: settings.get(&THREADS), span_bytes };
        Ok(Box::new(Device(ring)))
    },
    available: io_uring::available,
    ..Method::CONTROL
};

pub(super) const SYSCALL: Method = Method {
    name: "syscall",
    about: "control: getppid(2), which does next to nothing, `calls` times; reads no file",
    parts: true,
    params: &[CALLS],
    build: |settings| {
        let calls = settings.get(&CALLS);
        Ok(Box::new(move |_: &Source, _: Visit| call_kernel(calls)))
    },
    ..Method::CONTROL
};

/// The plan with which a device shows its best rate, with this size and number of reads in flight.
pub(super) fn device_plan(buffer_bytes: usize, depth: usize) -> Plan {
    Plan {
        buffer_bytes,
        buffers: 1,
        depth,
        entries: u32::try_from(depth.next_power_of_two()).expect("a depth is at most 4096"),
        vectored: false,
        registered: Registered::No,
    }
}

/// A reader whose file is brought into the page cache before the window.
struct CachedReader<R> {
    name: &'static str,
    visit: Visit,
    reader: R,
}

impl<R: Reader> Reader for CachedReader<R> {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        let mut file = source.stream()?;
        check_fits(self.name, source.length_in(file.get_ref())? as u64)?;
        let mut buffer = Buffer::new(COPY_BUFFER.default as usize)?;
        read_into_cache(&mut file, &mut buffer)
    }

    fn prepare_files(&mut self, list: &FileList) -> Result<(), Fault> {
        let size =
            |path: &Path| Ok(path.metadata().map_err(|cause| Fault::of_file(path, cause.into()))?.len());
        check_fits(self.name, list.iter().map(size).sum::<Result<u64, Fault>>()?)?;
        let mut buffer = Buffer::new(COPY_BUFFER.default as usize)?;
        list.iter().try_for_each(|path| {
            let filled = File::open(path)
                .map_err(Fault::from)
                .and_then(|mut file| read_into_cache(&mut file, &mut buffer));
            filled.map_err(|fault| Fault::of_file(path, fault))
        })
    }

    fn read(&mut self, source: &Source, _visit: Visit) -> Result<Answer, Fault> {
        self.reader.read(source, self.visit)
    }

    fn read_with_kept_buffer(
        &mut self,
        source: &Source,
        _visit: Visit,
        kept: &mut Option<Buffer>,
    ) -> Result<Answer, Fault> {
        self.reader.read_with_kept_buffer(source, self.visit, kept)
    }
}

fn read_into_cache(file: &mut impl Read, buffer: &mut [u8]) -> Result<(), Fault> {
    super::read::drain(file, buffer, &mut Consumer::new(Visit::Nothing)).map(drop)
}

/// The page size of a file system in memory if a file is written page by page.
const SMALL_PAGE_BYTES: usize = 4 << 10;
const SMALL_PAGES_BYTES_MAX: u64 = 64 << 20;

/// A reader of a separate file in memory. The pages of this file are small, whatever the pages of
/// the target are.
struct SmallPages {
    visit: Visit,
    reader: Mapped,
    memory: Option<File>,
}

impl Reader for SmallPages {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        if self.memory.is_none() {
            let size_bytes = (source.length_in(&source.open()?)? as u64).min(SMALL_PAGES_BYTES_MAX);
            self.memory = Some(make_file_of_small_pages(size_bytes)?);
        }
        Ok(())
    }

    fn read(&mut self, _source: &Source, _visit: Visit) -> Result<Answer, Fault> {
        let memory = self.memory.as_ref().expect("it is prepared before each turn");
        let path = format!("/proc/self/fd/{}", memory.as_raw_fd());
        self.reader.read(&Source::whole(path.as_ref()), self.visit)?;
        Ok(Answer::default())
    }
}

/// Makes a file in memory and writes each page separately, so that no large page is formed.
fn make_file_of_small_pages(size_bytes: u64) -> io::Result<File> {
    let mut memory = File::from(rustix::fs::memfd_create("readlab-small-pages", MemfdFlags::CLOEXEC)?);
    for _ in 0..size_bytes.div_ceil(SMALL_PAGE_BYTES as u64) {
        memory.write_all(&[1; SMALL_PAGE_BYTES])?;
    }
    Ok(memory)
}

/// A reader of the device, which reports the number of bytes only if it read the whole file.
struct Device(Ring);

impl Reader for Device {
    fn read(&mut self, source: &Source, _visit: Visit) -> Result<Answer, Fault> {
        let answer = self.0.read(source, Visit::Nothing)?;
        Ok(if self.0.span_bytes.is_some() { Answer::default() } else { answer })
    }
}

fn call_kernel(calls: u64) -> Result<Answer, Fault> {
    for _ in 0..calls {
        black_box(rustix::process::getppid());
    }
    Ok(Answer::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Settings;
    use std::io::{Seek, SeekFrom};

    #[test]
    fn small_pages_are_as_many_as_those_of_the_file() {
        for (size_bytes, whole) in [(0, 0), (1, 4096), (4096, 4096), (10_000, 12_288)] {
            let mut memory = make_file_of_small_pages(size_bytes).unwrap();
            assert_eq!(memory.metadata().unwrap().len(), whole);
            memory.seek(SeekFrom::Start(0)).unwrap();
            let mut bytes = Vec::new();
            memory.read_to_end(&mut bytes).unwrap();
            assert!(bytes.iter().all(|byte| *byte == 1), "every page is there");
        }
    }

    #[test]
    fn bytes_of_small_pages_are_not_reported_as_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, vec![b'x'; 20_000]).unwrap();
        let mut settings = Settings::resolve(PAGE_FAULTS.params, [("small_pages", 1)]).unwrap();
        let mut reader = (PAGE_FAULTS.build)(&mut settings).unwrap();
        let source = Source::whole(&path);
        reader.prepare(&source).unwrap();
        assert_eq!(reader.read(&source, Visit::Nothing).unwrap(), Answer::default());
    }
}
