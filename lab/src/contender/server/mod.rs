//! The loopback server of one file: a separate process, so that its work counts neither for the
//! contender nor for the lab. This file is the lab's side: it starts the server, reads its URL and
//! ends it. [`answers`] is the server's side.

pub mod answers;
mod connections;

use crate::linux::program::{CommandLine, Process, ReadError};
use crate::target::shown;
use crate::target::source::Source;
use crate::target::url::UrlError;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The hidden verb under which readlab is this server.
pub const VERB: &str = "serve";

/// How long it may take until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// Longer than any URL that it prints.
const LINE_BYTES_MAX: usize = 4096;

/// A running server; it is ended on drop. It also ends with its standard input, and with the lab's
/// main thread.
#[derive(Debug)]
pub struct Server {
    process: Process,
    /// What is requested.
    pub source: Source,
}

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// It could not be started.
    #[error("{}: the server of it cannot be started: {cause}", shown(.file))]
    NotStarted {
        /// The file.
        file: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// It did not print its URL.
    #[error("{}: the server of it said no URL: {cause}; {end}", shown(.file))]
    Silent {
        /// The file.
        file: PathBuf,
        /// What the lab was waiting for.
        cause: ReadError,
        /// How it ended after that.
        end: String,
    },
    /// It printed something else.
    #[error("{}: the server of it said no URL: {cause}", shown(.file))]
    NoUrl {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        cause: UrlError,
    },
}

impl Server {
    /// Starts one for a file.
    ///
    /// # Errors
    /// If it does not start, or does not say where it listens.
    pub fn start(file: &Path) -> Result<Server, ServerError> {
        let not_started = |cause| ServerError::NotStarted { file: file.to_owned(), cause };
        let program = std::env::current_exe().map_err(not_started)?.into_os_string();
        let line =
            CommandLine { program, args: vec![VERB.into(), "--".into(), file.into()], ..CommandLine::default() };
        let mut process = Process::spawn(&line, LINE_BYTES_MAX).map_err(not_started)?;
        let said = match process.read_line(START_TIMEOUT) {
            Ok(said) => said,
            Err(cause) => {
                return Err(ServerError::Silent { file: file.to_owned(), cause, end: process.finish() });
            }
        };
        let url = said.parse().map_err(|cause| ServerError::NoUrl { file: file.to_owned(), cause })?;
        Ok(Server { process, source: Source::Url(url) })
    }

    /// Not yet.
    pub fn start_s3(_file: &Path) -> Result<Server, ServerError> { unimplemented!() }
    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }
}
