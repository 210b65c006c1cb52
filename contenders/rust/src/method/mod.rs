//! Methods of reading a file: what a method is, how it fails, and the list of all methods.
//!
//! A method opens the file, feeds all its bytes to a [`crate::Consumer`] and closes it, in one
//! call, without state between calls. It has no clock. A new method is a file here, declared below,
//! and its place in [`registry`].

mod archive;
mod auto;
mod buffered;
mod client;
mod controls;
mod decoder;
mod direct;
mod files_ahead;
mod files_auto;
mod files_device;
mod files_io_uring;
mod files_threads;
mod fits;
mod gzip_blocks;
mod http;
mod http_ranged;
mod inflate;
mod io_uring;
mod limits;
mod lines;
mod memory;
mod mmap;
mod of_list;
mod opens;
mod places;
mod pread;
mod read;
pub mod registry;
mod server_limits;
mod stream;
mod vectored;
mod walk;
mod whole;
mod zstd_frames;

use crate::latencies::Latencies;
use crate::scan::{self, Visit};
use crate::setting::{Param, SettingError, Settings};
use crate::source::Source;
use crate::traffic::Traffic;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Archive, Cache, FileList, NO_SCAN, Reads, Work};
use std::io;
use std::path::{Path, PathBuf};

/// A way of reading, as it is listed.
#[derive(Debug)]
pub struct Method {
    pub name: &'static str,
    /// One sentence: which calls read the bytes.
    pub about: &'static str,
    /// How it uses the page cache.
    pub cache: Cache,
    /// What it can read: files, URLs or both.
    pub reads: Reads,
    /// How it delivers bytes, which decides the works and scans that are possible.
    pub feeding: Feeding,
    /// The archives that it decodes; empty for a method that reads the plain bytes of any file.
    pub decodes: &'static [Archive],
    /// Whether it reads a part of a file, too.
    pub parts: bool,
    /// Whether it reads the files of a list, too, one after the other.
    pub lists: bool,
    /// Whether it reads URLs with encryption, too.
    pub tls: bool,
    pub params: &'static [Param],
    /// Makes a reader; may set values that follow from other values.
    pub(crate) build: fn(&mut Settings) -> Result<Box<dyn Reader>, SettingError>,
    /// Checks that the method works on this machine.
    pub(crate) available: fn() -> Result<(), String>,
}

/// How a method delivers bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feeding {
    /// Piece by piece from first to last.
    InOrder,
    /// Piece by piece in any order, so that lines cannot be assembled.
    AnyOrder,
    /// As mapped memory, which is read when it is touched.
    Mapped,
    /// The method does these works itself, without a scan.
    Own(&'static [Work]),
}

/// A method with its settings, for any number of readings.
pub(crate) trait Reader: Send {
    /// Preparation before a turn, outside the window.
    fn prepare(&mut self, _source: &Source) -> Result<(), Fault> {
        Ok(())
    }

    /// The same before a turn that reads the files of a list one after the other. Most readers must
    /// not touch them: they would open them before a cold reading.
    fn prepare_files(&mut self, _list: &FileList) -> Result<(), Fault> {
        Ok(())
    }

    /// Opens the file, reads all of it or its part, closes it.
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault>;

    /// Reads one of several files, as `read` does. A program that reads many files keeps the
    /// buffer, which is `kept` from one to the next.
    fn read_one_of(
        &mut self,
        source: &Source,
        visit: Visit,
        _kept: &mut Option<Buffer>,
    ) -> Result<Answer, Fault> {
        self.read(source, visit)
    }

    /// What single reads took since this was last asked; `None` from a method that reads no places.
    fn take_latencies(&mut self) -> Option<Latencies> {
        None
    }

    /// What the last reading requested of a server; nothing, if it read a file.
    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    /// Cleanup after a turn: no byte of the file stays in memory, except what the control
    /// `resident` visits.
    fn release(&mut self) {}
}

/// The buffer that is kept, made where there is none yet.
fn kept_buffer(kept: &mut Option<Buffer>, bytes: usize) -> io::Result<&mut [u8]> {
    let buffer = match kept.take() {
        Some(buffer) => buffer,
        None => Buffer::new(bytes)?,
    };
    Ok(&mut kept.insert(buffer)[..bytes])
}

/// Why a reading failed.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The kernel or the file system lacks what the method needs.
    #[error("{0}")]
    Unavailable(String),
    /// A call failed.
    #[error("{cause}{}", .at.map(|at| format!(" at byte {at}")).unwrap_or_default())]
    Io {
        /// The offset in the file, if the call failed at one.
        at: Option<u64>,
        #[source]
        cause: io::Error,
    },
    /// A file among several could not be read.
    #[error("{}: {cause}{}", .path.display(), .at.map(|at| format!(" at byte {at}")).unwrap_or_default())]
    OfFile {
        path: PathBuf,
        /// The offset in it, if the call failed at one.
        at: Option<u64>,
        #[source]
        cause: io::Error,
    },
}

impl Fault {
    /// A file among several that could not be read.
    pub(crate) fn of_file(path: &Path, fault: Fault) -> Fault {
        match fault {
            Fault::Io { at, cause } => Fault::OfFile { path: path.to_owned(), at, cause },
            other => other,
        }
    }

    /// A read that failed at a place in the file.
    pub(crate) fn at(at: u64, cause: io::Error) -> Fault {
        Fault::Io { at: Some(at), cause }
    }
}

impl From<readlab_auto::FileError> for Fault {
    fn from(error: readlab_auto::FileError) -> Fault {
        let (path, cause) = error.into_parts();
        if path.as_os_str().is_empty() { cause.into() } else { Fault::of_file(&path, cause.into()) }
    }
}

impl From<readlab_auto::ReadError> for Fault {
    fn from(error: readlab_auto::ReadError) -> Fault {
        Fault::Io { at: error.offset(), cause: error.into() }
    }
}

impl From<io::Error> for Fault {
    fn from(cause: io::Error) -> Fault {
        Fault::Io { at: None, cause }
    }
}

impl Method {
    /// A reader of whole files, in order and through the page cache, that works on every machine.
    /// Each method names what differs; a test finds one without a name or a reader.
    const USUAL: Method = Method {
        name: "",
        about: "",
        cache: Cache::Through,
        reads: Reads::File,
        feeding: Feeding::InOrder,
        decodes: &[],
        parts: false,
        lists: false,
        tls: false,
        params: &[],
        build: |_| Err(SettingError::Conflict("the method makes no reader".to_owned())),
        available: || Ok(()),
    };

    /// A control that does every work by itself and leaves the page cache out.
    const CONTROL: Method = Method { cache: Cache::None, feeding: Feeding::Own(&Work::ALL), ..Method::USUAL };

    /// The names of the scans that this method offers on this machine for one work, best first;
    /// [`NO_SCAN`] where there is nothing to choose; empty where it cannot do the work.
    pub fn scans(&self, work: Work) -> Vec<&'static str> {
        match (self.feeding, work) {
            (Feeding::Own(works), _) if works.contains(&work) => vec![NO_SCAN],
            (Feeding::Own(_), _) | (Feeding::AnyOrder, Work::Lines) => Vec::new(),
            // A line may begin before a block.
            (_, Work::Lines) if self.reads == Reads::Places => Vec::new(),
            (Feeding::InOrder | Feeding::AnyOrder, Work::Discard) => vec![NO_SCAN],
            _ => scan::for_work(work).filter(|scan| scan.is_available()).map(|scan| scan.name).collect(),
        }
    }

    /// Whether it can work on this machine.
    pub fn available(&self) -> Result<(), String> {
        (self.available)()
    }
}
