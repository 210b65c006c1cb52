//! The loopback server of one file. It is a separate process, so that its work counts neither for
//! the contender nor for the lab. This file is the lab's side: it starts the server, reads the
//! address of the file, and ends the server. [`listening`] is the server's side. The file has a
//! secret URL, or is the only object of a store.

mod answer;
mod connections;
mod conversation;
pub mod file_version;
pub mod listening;
pub mod request;
mod s3;
mod s3_documents;
mod service;

pub use answer::HttpStatus;
use readlab_model::target::BucketStyle;
use readlab_system::program::{CommandLine, PipedProgram, ProgramError};
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::s3::{Credentials, ObjectName, Store};
use readlab_targets::target::source::{Source, StoredObject};
use readlab_targets::target::url::UrlError;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The hidden subcommand that makes readlab run as this server.
pub const SUBCOMMAND: &str = "serve";

/// How long the server may take until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The flag that makes the server speak S3.
pub const S3_FLAG: &str = "--s3";

/// Longer than any line that the server prints.
const LINE_BYTES_MAX: usize = 4096;

/// A running server; dropping it ends the process. The server also ends when its standard input or
/// the lab's main thread ends.
#[derive(Debug)]
pub struct Server {
    process: PipedProgram,
    /// What is requested from the server.
    pub source: Source,
}

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("{}: the server of it cannot be started: {cause}", display_path(.file))]
    NotStarted { file: PathBuf, cause: io::Error },
    #[error("{}: the server of it said nothing: {cause}; {end}", display_path(.file))]
    Silent { file: PathBuf, cause: ProgramError, end: String },
    #[error("{}: the server of it said no URL: {cause}", display_path(.file))]
    NoUrl { file: PathBuf, cause: UrlError },
    /// The server printed something other than a store. Its output is secret, so it is not shown.
    #[error("{}: the server of it said no store", display_path(.0))]
    NoStore(PathBuf),
}

impl Server {
    pub fn start(file: &Path) -> Result<Server, ServerError> {
        let (process, said) = launch(file, &[])?;
        let url = said.parse().map_err(|cause| ServerError::NoUrl { file: file.to_owned(), cause })?;
        Ok(Server { process, source: Source::Url(url) })
    }

    pub fn start_s3(file: &Path) -> Result<Server, ServerError> {
        let (process, said) = launch(file, &[S3_FLAG])?;
        let object = parse_stored_object(&said).ok_or_else(|| ServerError::NoStore(file.to_owned()))?;
        Ok(Server { process, source: Source::Object(Box::new(object)) })
    }

    pub fn process_id(&self) -> u32 {
        self.process.id()
    }
}

/// Starts the server; also returns the first line that it prints.
fn launch(file: &Path, flags: &[&str]) -> Result<(PipedProgram, String), ServerError> {
    let not_started = |cause| ServerError::NotStarted { file: file.to_owned(), cause };
    let program = std::env::current_exe().map_err(not_started)?.into_os_string();
    let words = [SUBCOMMAND].iter().chain(flags).chain(&["--"]).map(OsString::from);
    let args = words.chain([file.into()]).collect();
    let line = CommandLine { program, args, ..CommandLine::default() };
    let mut process = PipedProgram::spawn(&line, LINE_BYTES_MAX).map_err(not_started)?;
    match process.read_line(START_TIMEOUT) {
        Ok(said) => Ok((process, said)),
        Err(cause) => Err(ServerError::Silent { file: file.to_owned(), cause, end: process.finish() }),
    }
}

fn parse_stored_object(line: &str) -> Option<StoredObject> {
    let words: Vec<&str> = line.split(' ').collect();
    let [endpoint, region, bucket, key, access_key, secret] = words[..] else { return None };
    let store = Store {
        endpoint: endpoint.parse().ok()?,
        region: region.to_owned(),
        style: BucketStyle::Path,
        credentials: Some(Credentials::new(access_key, secret)),
    };
    Some(StoredObject { store, name: ObjectName::new(bucket, key).ok()? })
}

/// Opens a new connection and returns both ends.
#[cfg(test)]
fn connected_streams() -> (std::net::TcpStream, std::net::TcpStream) {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).unwrap();
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

#[cfg(test)]
mod tests {
    use super::service::Service;
    use super::*;

    #[test]
    fn the_lab_parses_the_line_that_the_server_prints() {
        let line = s3::S3Service::new(Path::new("/a/f.txt"), Credentials::new("the-key", "the-secret"))
            .printed_line("127.0.0.1:9");
        let stored = parse_stored_object(&line).unwrap();
        assert_eq!(stored.store.endpoint.to_string(), "http://127.0.0.1:9");
        assert_eq!(stored.name.to_string(), "s3://readlab/f.txt");
        assert_eq!(stored.store.credentials, Some(Credentials::new("the-key", "the-secret")));
        for wrong in ["", "http://127.0.0.1:9/path", &line.replace("http", "ftp"), &format!("{line} more")] {
            assert!(parse_stored_object(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_file_name_that_a_url_would_change_is_not_used_as_key() {
        for name in ["/a/b c", "/a/ü", "/a/b%20c", "/", "/a/a+b"] {
            let line =
                s3::S3Service::new(Path::new(name), Credentials::new("k", "s")).printed_line("127.0.0.1:9");
            assert_eq!(parse_stored_object(&line).unwrap().name.key(), "file", "{name}");
        }
    }
}
