//! Methods of reading a file: what a method is, how it fails, and the list of all methods.
//!
//! A method opens the file, feeds all its bytes to a [`crate::Consumer`] and closes it, in one
//! call, without state between calls. It reads no clock. To add a method, add a file here, declare
//! it below, and add an entry to [`registry`].

mod archive;
mod auto;
mod buffered;
mod client;
mod controls;
mod decoder;
mod direct;
mod files;
mod files_device;
mod gzip_blocks;
mod http;
mod http_ranged;
mod inflate;
mod io_uring;
mod limits;
mod lines;
mod memory;
mod memory_check;
mod mmap;
mod multipart;
mod names;
mod places;
mod pread;
mod read;
mod read_ahead;
pub mod registry;
mod server_limits;
mod stat;
mod stream;
mod vectored;
mod walk;
mod whole;
mod zstd_frames;

use crate::Latencies;
use crate::scan::{self, Visit};
use crate::setting::{Param, SettingError, Settings};
use crate::source::Source;
use crate::traffic::Traffic;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Archive, Cache, FileList, NO_SCAN, Reads, Work};
use std::io;
use std::path::{Path, PathBuf};

/// The description of a method, as it is listed.
#[derive(Debug)]
pub struct Method {
    pub name: &'static str,
    /// One sentence: which calls read the bytes.
    pub about: &'static str,
    /// How the method uses the page cache.
    pub cache: Cache,
    /// The kinds of target that the method can read: files, URLs or both.
    pub reads: Reads,
    /// How the method delivers bytes, which decides the possible works and scans.
    pub feeding: Feeding,
    /// The archive formats that the method decodes. It is empty for a method that reads the plain
    /// bytes of any file.
    pub decodes: &'static [Archive],
    /// Whether the method reads a part of a file, too.
    pub parts: bool,
    /// Whether the method reads the ranges of a list from a URL, and nothing else.
    pub ranges: bool,
    /// Whether the method reads the files of a list, too, one after the other.
    pub lists: bool,
    /// Whether the method reads URLs with encryption, too.
    pub tls: bool,
    pub params: &'static [Param],
    /// Makes a reader. It may set values that follow from other values.
    pub(crate) build: fn(&mut Settings) -> Result<Box<dyn Reader>, SettingError>,
    /// Checks that the method works on this machine.
    pub(crate) available: fn() -> Result<(), String>,
}

/// How a method delivers bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feeding {
    /// The method delivers pieces from first to last.
    InOrder,
    /// The method delivers pieces in any order, so that lines cannot be assembled.
    AnyOrder,
    /// The method delivers mapped memory, which is read when it is touched.
    Mapped,
    /// The method does these works itself, without a scan.
    Own(&'static [Work]),
}

/// A method with its settings, for any number of readings.
pub(crate) trait Reader: Send {
    /// Prepares for a turn, outside the window.
    fn prepare(&mut self, _source: &Source) -> Result<(), Fault> {
        Ok(())
    }

    /// Prepares for a turn that reads the files of a list one after the other. Most readers must
    /// not touch the files, because they would open them before a cold reading.
    fn prepare_files(&mut self, _list: &FileList) -> Result<(), Fault> {
        Ok(())
    }

    /// Opens the file, reads all of it or its part, and closes it.
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault>;

    /// Reads one of several files, as `read` does. A program that reads many files reuses its
    /// buffer, which is passed in `kept` from file to file.
    fn read_with_kept_buffer(
        &mut self,
        source: &Source,
        visit: Visit,
        _kept: &mut Option<Buffer>,
    ) -> Result<Answer, Fault> {
        self.read(source, visit)
    }

    /// The latencies of single reads since the last call; `None` from a method that reads no
    /// places or ranges.
    fn take_latencies(&mut self) -> Option<Latencies> {
        None
    }

    /// Number of bytes that the reads of the last reading requested, or that answers of a server
    /// had; `None` from a method that reads no places or ranges, or does not know the number.
    fn read_bytes(&self) -> Option<u64> {
        None
    }

    /// The requests of the last reading to a server. None if it read a file.
    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    /// Cleans up after a turn. No byte of the file stays in memory, except the bytes that the
    /// control `resident` visits.
    fn release(&mut self) {}
}

/// A method that keeps nothing is the function that reads.
impl<F: FnMut(&Source, Visit) -> Result<Answer, Fault> + Send> Reader for F {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        self(source, visit)
    }
}

/// The kept buffer, which is made if there is none yet.
fn kept_buffer(kept: &mut Option<Buffer>, bytes: usize) -> io::Result<&mut [u8]> {
    let buffer = match kept.take() {
        Some(buffer) => buffer,
        None => Buffer::new(bytes)?,
    };
    Ok(&mut kept.insert(buffer)[..bytes])
}

/// The reason why a reading failed.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The kernel or the file system lacks a feature that the method needs.
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
        /// The offset in the file, if the call failed at one.
        at: Option<u64>,
        #[source]
        cause: io::Error,
    },
}

impl Fault {
    /// The fault of a file among several.
    pub(crate) fn of_file(path: &Path, fault: Fault) -> Fault {
        match fault {
            Fault::Io { at, cause } => Fault::OfFile { path: path.to_owned(), at, cause },
            other => other,
        }
    }

    /// The fault of a read at an offset in the file.
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
    /// Defaults: a reader of whole files, in order and through the page cache, that works on every
    /// machine. Each method sets only the fields that differ. A test finds a method without a name
    /// or a reader.
    const DEFAULT: Method = Method {
        name: "",
        about: "",
        cache: Cache::Through,
        reads: Reads::File,
        feeding: Feeding::InOrder,
        decodes: &[],
        parts: false,
        ranges: false,
        lists: false,
        tls: false,
        params: &[],
        build: |_| Err(SettingError::Conflict("the method makes no reader".to_owned())),
        available: || Ok(()),
    };

    /// Defaults of a control, which does every work itself and does not use the page cache.
    const CONTROL: Method =
        Method { cache: Cache::None, feeding: Feeding::Own(&Work::OF_BYTES), ..Method::DEFAULT };

    /// The names of the scans that this method offers on this machine for one work, best first. The
    /// list is [`NO_SCAN`] if there is no choice, and empty if the method cannot do the work.
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

    /// Checks that the method can work on this machine.
    pub fn available(&self) -> Result<(), String> {
        (self.available)()
    }
}
