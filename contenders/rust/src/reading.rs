//! A reading: one method, scan and work for one file or for the files of a list. It is checked once
//! and then run any number of times.
//!
//! The lab measures this loop, and other programs can call it too. There is no other loop.

use crate::Latencies;
use crate::files_answer::FilesAnswer;
use crate::method::{Fault, Method, Reader, registry};
use crate::scan::{self, Visit};
use crate::setting::{SettingError, Settings};
use crate::source::Source;
use crate::traffic::Traffic;
use readlab_protocol::contender::Window;
use readlab_protocol::{Answer, FileList, NO_SCAN, Part, Places, Reads, SampleLine, Work};
use std::fmt;
use std::path::{Path, PathBuf};

/// A method with its settings, a scan, a work and a file.
pub struct Reading {
    method: &'static Method,
    visit: Visit,
    settings: Settings,
    reader: Box<dyn Reader>,
    source: Source,
    /// The files that are read one after the other; `None` for a single target.
    list: Option<FileList>,
}

/// The reason why names do not form a reading.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error("no method '{name}' (known: {known})")]
    UnknownMethod { name: String, known: String },
    /// The method does not do this work, or not with this scan.
    #[error("{method} has no scan '{scan}' for {work} (it has: {known})")]
    NotOffered {
        method: &'static str,
        scan: String,
        work: Work,
        /// The scans that the method offers for this work.
        known: String,
    },
    #[error("{method}: {cause}")]
    Setting {
        method: &'static str,
        #[source]
        cause: SettingError,
    },
    /// The method reads whole files only.
    #[error("{0} reads no part of a file")]
    NoParts(&'static str),
    /// The method reads single files only.
    #[error("{0} reads no list of files")]
    NoLists(&'static str),
    /// The list of files cannot be read.
    #[error("{}: {cause}", .path.display())]
    List {
        path: PathBuf,
        #[source]
        cause: std::io::Error,
    },
    /// The kernel or the processor lacks a required feature.
    #[error("{0}")]
    Unavailable(String),
}

/// The reason why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The kernel or the file system lacks a feature that the method needs.
    #[error("{0}")]
    Unavailable(String),
    #[error("{}: {fault}", .path.display())]
    Failed {
        path: PathBuf,
        #[source]
        fault: Fault,
    },
}

impl Reading {
    /// Combines a method, a scan (`-` if the method has none), a work, a file and settings.
    pub fn new<'a>(
        method: &str,
        scan: &str,
        work: Work,
        path: &Path,
        given: impl IntoIterator<Item = (&'a str, u64)>,
    ) -> Result<Reading, RequestError> {
        let method = registry::find(method).ok_or_else(|| unknown_method(method))?;
        let visit = visit(method, scan, work)?;
        let refused = |cause| RequestError::Setting { method: method.name, cause };
        let mut settings = Settings::resolve(method.params, given).map_err(refused)?;
        let reader = (method.build)(&mut settings).map_err(refused)?;
        method.available().map_err(RequestError::Unavailable)?;
        Ok(Reading { method, visit, settings, reader, source: Source::whole(path), list: None })
    }

    /// Reads only a part of the file, as far as the file goes.
    pub fn part(self, part: Part) -> Result<Reading, RequestError> {
        if !self.method.parts {
            return Err(RequestError::NoParts(self.method.name));
        }
        Ok(Reading { source: self.source.part(part), ..self })
    }

    /// Reads these ranges of a URL, with a method that reads nothing else.
    pub fn ranges(self, ranges: Option<Places>) -> Reading {
        Reading { source: self.source.with_ranges(ranges), ..self }
    }

    /// Decodes a zstd with this dictionary.
    pub fn dictionary(self, dictionary: Option<Vec<u8>>) -> Reading {
        Reading { source: self.source.dictionary(dictionary), ..self }
    }

    /// Reads the files of the list at the target's path.
    pub fn list(self) -> Result<Reading, RequestError> {
        // A method that only reads lists loads the list itself.
        if self.method.reads == Reads::List {
            return Ok(self);
        }
        if !self.method.lists {
            return Err(RequestError::NoLists(self.method.name));
        }
        let path = self.source.path().to_owned();
        let list = FileList::read(&path).map_err(|cause| RequestError::List { path, cause })?;
        Ok(Reading { list: Some(list), ..self })
    }

    /// The value of every parameter.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Prepares the method for a turn, outside the window. The control `resident` loads the file,
    /// `copy` brings it into the page cache, and others check that it fits into memory.
    pub fn prepare(&mut self) -> Result<(), ReadError> {
        let prepared = match &self.list {
            Some(list) => self.reader.prepare_files(list),
            None => self.reader.prepare(&self.source),
        };
        prepared.map_err(|fault| ReadError::new(self.source.shown(), fault))
    }

    /// Opens the file, reads all of it or its part, and closes it. With a list, does this for each
    /// file.
    pub fn read(&mut self) -> Result<Answer, ReadError> {
        if self.list.is_some() {
            return self.read_files();
        }
        self.reader.read(&self.source, self.visit).map_err(|fault| ReadError::new(self.source.shown(), fault))
    }

    fn read_files(&mut self) -> Result<Answer, ReadError> {
        let (mut all, mut kept) = (FilesAnswer::default(), None);
        for path in self.list.iter().flat_map(FileList::iter) {
            self.source.set_file(path);
            let answer = self.reader.read_with_kept_buffer(&self.source, self.visit, &mut kept);
            all.add(answer.map_err(|fault| ReadError::new(path, fault))?);
        }
        Ok(all.finish())
    }

    /// Reads once between two readings of the clocks.
    pub fn sample(&mut self) -> Result<SampleLine, ReadError> {
        let (answer, window) = Window::around(|| self.read())?;
        let Traffic { requests, first_byte } = self.traffic();
        let first_byte_ns = first_byte.map(|at| window.until_ns(at));
        let read_bytes = self.reader.read_bytes();
        Ok(SampleLine { requests, first_byte_ns, read_bytes, ..window.sample(answer) })
    }

    /// The latencies of single reads since the last call; `None` from a method that reads no
    /// places.
    pub fn take_latencies(&mut self) -> Option<Latencies> {
        self.reader.take_latencies()
    }

    /// The requests of the last reading to a server.
    pub fn traffic(&self) -> Traffic {
        self.reader.traffic()
    }

    /// Releases what `prepare` allocated.
    pub fn release(&mut self) {
        self.reader.release();
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading")
            .field("method", &self.method.name)
            .field("settings", &self.settings)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

impl ReadError {
    pub(crate) fn new(path: &Path, fault: Fault) -> ReadError {
        match fault {
            Fault::Unavailable(reason) => ReadError::Unavailable(reason),
            Fault::OfFile { path, at, cause } => ReadError::Failed { path, fault: Fault::Io { at, cause } },
            fault @ Fault::Io { .. } => ReadError::Failed { path: path.to_owned(), fault },
        }
    }
}

fn unknown_method(name: &str) -> RequestError {
    let known: Vec<&str> = registry::ALL.iter().map(|method| method.name).collect();
    RequestError::UnknownMethod { name: name.to_owned(), known: known.join(", ") }
}

/// The function of the scan with that name, if the method offers the scan for the work.
fn visit(method: &'static Method, name: &str, work: Work) -> Result<Visit, RequestError> {
    let offered = method.scans(work);
    if name == NO_SCAN && offered.contains(&NO_SCAN) {
        return Ok(Visit::Nothing);
    }
    let scan = scan::for_work(work).find(|scan| scan.name == name);
    match scan {
        Some(scan) if offered.contains(&scan.name) => Ok(scan.visit),
        Some(scan) if !scan.is_available() => {
            Err(RequestError::Unavailable(format!("scan {name}: this processor lacks the instructions")))
        }
        _ => {
            let known = if offered.is_empty() { "none".to_owned() } else { offered.join(", ") };
            Err(RequestError::NotOffered { method: method.name, scan: name.to_owned(), work, known })
        }
    }
}
