//! Foreign servers for tests, started by the scripts in `tests/servers`: an nginx with
//! certificates, and an S3 store. They end when they are dropped.

use crate::repository;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// The exit code with which a script reports that its server is not available.
pub(super) const SKIPPED_CODE: i32 = 3;

pub(super) struct RealServer {
    process: Child,
    /// The server runs until this is closed.
    stdin: Option<ChildStdin>,
    places: BTreeMap<String, String>,
}

impl RealServer {
    /// Starts the server of a script over a folder; `None` if it is not available here, which the
    /// script reports.
    pub(super) fn start(script: &str, folder: &Path) -> Option<RealServer> {
        let mut command = Command::new(repository::path("tests/servers").join(script));
        command.arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap_or_else(|error| panic!("{script}: {error}"));
        let stdin = process.stdin.take();
        let mut places = BTreeMap::new();
        for line in BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap) {
            match line.split_once('=') {
                Some((name, value)) => drop(places.insert(name.to_owned(), value.to_owned())),
                None if line == "ready" => return Some(RealServer { process, stdin, places }),
                None => panic!("{script} says {line}"),
            }
        }
        let status = process.wait().unwrap();
        assert_eq!(status.code(), Some(SKIPPED_CODE), "{script} ended with {status}");
        None
    }

    /// The address or path of something, by its name in the script.
    pub(super) fn at(&self, name: &str) -> &str {
        self.places.get(name).unwrap_or_else(|| panic!("the script does not say {name}"))
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // The server ends by itself. Its exit status does not matter here.
        let _ = self.process.wait();
    }
}
