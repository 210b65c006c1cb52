//! Programs that the lab starts: how one is started so that nothing of it outlives the lab, what
//! passes through its standard streams, and how it is ended.
//!
//! [`launcher`] is the process from which programs are started, with one `supervisor` for each.
//! [`Process`] exchanges lines with a program; [`run_to_end`] waits for one that writes to a file.

pub mod inheriting;
pub mod launcher;
mod leftovers;
mod piped;
mod running;
mod supervisor;

pub use piped::{Exit, Process, ReadError};
pub use running::Leftovers;
use running::Running;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;
use supervisor::Task;

/// A program with its arguments and what is different in its environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The program; found on the PATH if it has no slash.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Variables removed from the environment, before others are added.
    pub env_removed: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    /// A file that is made before the program runs; it is not started where that cannot be.
    pub creates: Option<NumberedFile>,
}

/// A file that a process makes, with its number in its name, where not even a link may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedFile {
    pub before: OsString,
    pub after: OsString,
}

/// What a program is started with besides its own.
#[derive(Debug, Clone, Default)]
pub struct Additions {
    pub env: Vec<(OsString, OsString)>,
    pub creates: Option<NumberedFile>,
}

impl From<Vec<(OsString, OsString)>> for Additions {
    fn from(env: Vec<(OsString, OsString)>) -> Additions {
        Additions { env, creates: None }
    }
}

impl CommandLine {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        for name in &self.env_removed {
            command.env_remove(name);
        }
        command.envs(self.env.iter().cloned());
        command
    }

    /// The words as one line for a shell, for people to read and repeat.
    pub fn shell_line(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args).map(|word| word.to_string_lossy());
        let words: Vec<_> = words.collect();
        shell_words::join(words.iter().map(AsRef::as_ref))
    }
}

/// Runs a program in a folder to its end, with all its output in a file; it and all it started are
/// killed when `time_limit` is over or the user wants to stop.
pub fn run_to_end(
    line: &CommandLine,
    folder: &Path,
    output: &File,
    time_limit: Duration,
) -> Result<ExitStatus, ReadError> {
    run(line, folder, output, |running| running.wait(time_limit))
}

/// The same, but a user who wants to stop waits for it: what it undoes is to be undone in any case.
pub fn run_in_any_case(
    line: &CommandLine,
    folder: &Path,
    output: &File,
    time_limit: Duration,
) -> Result<ExitStatus, ReadError> {
    run(line, folder, output, |running| {
        if running.has_ended(time_limit) { Ok(()) } else { Err(ReadError::Timeout(time_limit)) }
    })
}

fn run(
    line: &CommandLine,
    folder: &Path,
    output: &File,
    wait: impl FnOnce(&Running) -> Result<(), ReadError>,
) -> Result<ExitStatus, ReadError> {
    let stdin = OwnedFd::from(File::open("/dev/null")?);
    let streams = [stdin, output.try_clone()?.into(), output.try_clone()?.into()];
    let mut running = Running::start(Task { line: line.clone(), folder: Some(folder.to_owned()), streams })?;
    let waited = wait(&running);
    // Programs that it started may outlive it.
    let ended = running.end()?;
    waited.map(|()| ended)
}

/// The last line of what a program wrote that is not blank.
pub fn last_line(mut output: impl Read + Seek) -> Option<String> {
    let mut text = Vec::new();
    // Without a readable file there is no line.
    output.rewind().and_then(|()| output.read_to_end(&mut text)).ok()?;
    last_line_of(&String::from_utf8_lossy(&text))
}

fn last_line_of(text: &str) -> Option<String> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}
