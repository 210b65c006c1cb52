//! The loopback server of one file: a process of its own, so that its work counts neither for the
//! contender nor for the lab. This file is the lab's side: it starts the server, reads its URL and
//! ends it. [`answers`] is the server's side.

pub mod answers;
mod connections;

use crate::linux::program::{CommandLine, Process, ReadError};
use crate::target::shown;
use crate::target::url::{Url, UrlError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The hidden verb under which readlab is this server.
pub const VERB: &str = "serve";

/// How long it may take until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// Longer than any URL it could say.
const LINE_BYTES_MAX: usize = 4096;

/// A server at work; dropped, it is gone. It also ends when its standard input does, and with the
/// lab's main thread.
#[derive(Debug)]
pub struct Server {
    process: Process,
    /// Where it gives the file.
    pub url: Url,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// It could not be started.
    #[error("{}: the server of it cannot be started: {cause}", shown(.file))]
    NotStarted {
        /// The file.
        file: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It did not say where it listens.
    #[error("{}: the server of it said no URL: {cause}; {end}", shown(.file))]
    Silent {
        /// The file.
        file: PathBuf,
        /// What the lab was waiting for.
        cause: ReadError,
        /// How it ended after that.
        end: String,
    },
    /// It said something else.
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
            CommandLine { program, args: vec![VERB.into(), "--".into(), file.into()], env: Vec::new() };
        let mut process = Process::spawn(&line, LINE_BYTES_MAX).map_err(not_started)?;
        let said = match process.read_line(START_TIMEOUT) {
            Ok(said) => said,
            Err(cause) => {
                return Err(ServerError::Silent { file: file.to_owned(), cause, end: process.finish() });
            }
        };
        let url = said.parse().map_err(|cause| ServerError::NoUrl { file: file.to_owned(), cause })?;
        Ok(Server { process, url })
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }
}
