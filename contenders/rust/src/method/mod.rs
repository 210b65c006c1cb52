//! Ways of bringing the bytes of a file: what a method is, how it fails, and the list of them.
//!
//! A method opens the file, brings all of it to a [`crate::Consumer`] and closes it, in one call
//! and with nothing kept from call to call. It knows no clock; adding one takes a file here and an
//! entry in [`registry`].

mod archive;
pub(crate) mod auto;
mod buffered;
mod controls;
mod direct;
mod http;
mod inflate;
mod io_uring;
mod limits;
mod lines;
mod memory;
mod mmap;
mod pread;
mod read;
pub mod registry;
mod ring;
mod size;
mod vectored;

use crate::scan::{self, NO_SCAN, Visit};
use crate::setting::{Param, SettingError, Settings};
use crate::work::{Answer, Work};
use readlab_protocol::{Archive, Cache, Reads};
use std::io;
use std::path::Path;

/// A way of reading, as it is listed.
#[derive(Debug)]
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// One sentence: which calls bring the bytes.
    pub about: &'static str,
    /// How it stands to the page cache.
    pub cache: Cache,
    /// What it can be pointed at.
    pub reads: Reads,
    /// In which way bytes come out of it, which decides what can be done with them.
    pub feeding: Feeding,
    /// The archives whose content it reads; empty for one that reads the bytes of any file as they
    /// are.
    pub decodes: &'static [Archive],
    /// What may be set.
    pub params: &'static [Param],
    /// Makes a reader; may put values in force that follow from others.
    pub(crate) build: fn(&mut Settings) -> Result<Box<dyn Reader>, SettingError>,
    /// Asks the kernel whether it can work on this machine.
    pub(crate) available: fn() -> Result<(), String>,
}

/// In which way bytes come out of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feeding {
    /// Piece by piece from first to last.
    InOrder,
    /// Piece by piece in any order, so that lines cannot be put together.
    AnyOrder,
    /// As memory that is there only once it is touched.
    Mapped,
    /// The method does these works by itself, and no scan is chosen.
    Own(&'static [Work]),
}

/// A method with its settings, ready to be run again and again.
pub(crate) trait Reader: Send {
    /// What is done once before a turn, outside the window.
    fn prepare(&mut self, _path: &Path) -> Result<(), Fault> {
        Ok(())
    }

    /// Opens the file, reads all of it, closes it.
    fn read(&mut self, path: &Path, visit: Visit) -> Result<Answer, Fault>;

    /// What is done once after a turn, so that no byte of the file stays.
    fn release(&mut self) {}
}

/// Why a reading came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The kernel or the file system lacks what the method needs.
    #[error("{0}")]
    Unavailable(String),
    /// A call failed.
    #[error("{cause}{}", .at.map(|at| format!(" at byte {at}")).unwrap_or_default())]
    Io {
        /// Where in the file, if it was there that it failed.
        at: Option<u64>,
        /// What the call said.
        #[source]
        cause: io::Error,
    },
}

impl Fault {
    /// A read that failed at a place in the file.
    pub(crate) fn at(at: u64, cause: io::Error) -> Fault {
        Fault::Io { at: Some(at), cause }
    }
}

impl From<io::Error> for Fault {
    fn from(cause: io::Error) -> Fault {
        Fault::Io { at: None, cause }
    }
}

impl Method {
    /// The names of the scans that this method offers on this machine for one work, best first;
    /// [`NO_SCAN`] where there is nothing to choose; empty where it cannot do the work.
    #[must_use]
    pub fn scans(&self, work: Work) -> Vec<&'static str> {
        match (self.feeding, work) {
            (Feeding::Own(works), _) if works.contains(&work) => vec![NO_SCAN],
            (Feeding::Own(_), _) | (Feeding::AnyOrder, Work::Lines) => Vec::new(),
            (Feeding::InOrder | Feeding::AnyOrder, Work::Discard) => vec![NO_SCAN],
            _ => scan::for_work(work).filter(|scan| scan.is_available()).map(|scan| scan.name).collect(),
        }
    }

    /// Whether it can work on this machine.
    ///
    /// # Errors
    /// With the reason, if it cannot.
    pub fn available(&self) -> Result<(), String> {
        (self.available)()
    }
}
