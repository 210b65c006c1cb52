//! The sources of a store's configuration: environment variables, files, a program and the clock.

use jiff::Timestamp;
use readlab_system::trust::{self, Distrust};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How long a program may take to print credentials; it may ask the user to log in.
const PROGRAM_TIME_MAX: Duration = Duration::from_secs(300);

/// How long a program may run after it closed its output.
const EXIT_WAIT_MAX: Duration = Duration::from_secs(10);

/// Pause between two checks whether a program has ended.
const WAIT_STEP: Duration = Duration::from_millis(10);

/// Access to the sources of a store's configuration. Tests have their own implementation.
pub trait Surroundings {
    /// An environment variable; `None` if it is unset, empty or not UTF-8.
    fn variable(&self, name: &str) -> Option<String>;

    fn read(&self, path: &Path) -> io::Result<String>;

    /// Rejects a file that another user could have written, before a program is run because of it.
    fn check_trust(&self, path: &Path) -> Result<(), Distrust>;

    /// Runs a program and returns its standard output.
    fn run(&self, program: &str, args: &[String]) -> io::Result<String>;

    fn now(&self) -> Timestamp;
}

/// The real environment of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessSurroundings;

impl Surroundings for ProcessSurroundings {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
    }

    fn check_trust(&self, path: &Path) -> Result<(), Distrust> {
        trust::check(path)
    }

    fn run(&self, program: &str, args: &[String]) -> io::Result<String> {
        // The program inherits the lab's standard error, where it may ask the user something. The
        // lab does not read these messages, so no error of the lab can repeat a secret in them.
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn()?;
        let ended = output_within(&mut child, PROGRAM_TIME_MAX)
            .and_then(|printed| Ok((printed, status_within(&mut child, EXIT_WAIT_MAX)?)));
        let (printed, status) = match ended {
            Ok(ended) => ended,
            Err(error) => {
                child.kill()?;
                child.wait()?;
                return Err(error);
            }
        };
        if !status.success() {
            return Err(io::Error::other(format!("it failed with {status}")));
        }
        String::from_utf8(printed).map_err(|_| io::Error::other("what it printed is not UTF-8"))
    }

    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// All that a program prints until it closes its standard output; an error if this takes longer
/// than the limit.
fn output_within(child: &mut Child, limit: Duration) -> io::Result<Vec<u8>> {
    let Some(mut stdout) = child.stdout.take() else { return Ok(Vec::new()) };
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut printed = Vec::new();
        let read = stdout.read_to_end(&mut printed);
        // The receiver may have stopped waiting.
        let _ = sender.send(read.map(|_| printed));
    });
    receiver.recv_timeout(limit).map_err(|_| timeout_error(limit))?
}

/// The exit status of a program; an error if it does not end within the limit.
fn status_within(child: &mut Child, limit: Duration) -> io::Result<ExitStatus> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            return Err(timeout_error(limit));
        }
        thread::sleep(WAIT_STEP);
    }
}

fn timeout_error(limit: Duration) -> io::Error {
    io::Error::new(ErrorKind::TimedOut, format!("no answer within {limit:.0?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_a_program_returns_its_output_or_its_failure() {
        let run = |script: &str| ProcessSurroundings.run("sh", &["-c".to_owned(), script.to_owned()]);
        assert_eq!(run("echo printed").unwrap(), "printed\n");
        let error = run("echo secret; exit 3").unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && !error.contains("secret"), "{error}");
        assert!(run("printf '\\377'").is_err());
        assert!(ProcessSurroundings.run("/nonexistent/program", &[]).is_err());
        let mut silent = Command::new("sleep").arg("600").stdout(Stdio::piped()).spawn().unwrap();
        let limit = Duration::from_millis(50);
        let output = output_within(&mut silent, limit).unwrap_err();
        let status = status_within(&mut silent, limit).unwrap_err();
        for error in [output, status] {
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            assert_eq!(error.to_string(), "no answer within 50ms");
        }
        silent.kill().unwrap();
        silent.wait().unwrap();
    }
}
