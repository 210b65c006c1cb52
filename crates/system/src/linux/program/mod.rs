//! Programs that the lab starts: how they are started so that no process of theirs outlives the
//! lab, their standard streams, and how they are ended.
//!
//! [`launcher`] is the process from which programs are started, with one `supervisor` for each.
//! [`PipedProgram`] exchanges lines with a program; [`run_to_end`] waits for a program that writes to
//! a file.

pub mod inheriting;
pub mod launcher;
mod leftovers;
mod piped;
mod running;
mod supervisor;

pub use piped::{PipedProgram, ProgramError, ProgramExit};
pub use running::LeftoverCounts;
use running::RunningProgram;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;
use supervisor::Task;

/// A program with its arguments and changes to its environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The program; searched in the PATH if it contains no slash.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Variables removed from the environment, before others are added.
    pub env_removed: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    /// A file that is created before the program runs. If it cannot be created, the program is not
    /// started.
    pub created_file: Option<PidNamedFile>,
    /// The file `cgroup.procs` of the control group that the program's process enters before it
    /// runs; if this fails, the program is not started. `None` if the process stays in the lab's
    /// group.
    pub cgroup_procs_path: Option<OsString>,
}

/// A file that a process creates, with the process id in its name. Nothing may exist at its path,
/// not even a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PidNamedFile {
    pub before_pid: OsString,
    pub after_pid: OsString,
}

/// What is added to a command line when its program is started: environment variables, a file that
/// the process creates, and a control group that it enters.
#[derive(Debug, Clone, Default)]
pub struct CommandLineAdditions {
    pub env: Vec<(OsString, OsString)>,
    pub created_file: Option<PidNamedFile>,
    /// The file `cgroup.procs` of a control group, as in [`CommandLine`].
    pub cgroup_procs_path: Option<OsString>,
}

impl From<Vec<(OsString, OsString)>> for CommandLineAdditions {
    fn from(env: Vec<(OsString, OsString)>) -> CommandLineAdditions {
        CommandLineAdditions { env, ..CommandLineAdditions::default() }
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

    /// The command as one line for a shell, for users to read and repeat.
    pub fn shell_line(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args).map(|word| word.to_string_lossy());
        let words: Vec<_> = words.collect();
        shell_words::join(words.iter().map(AsRef::as_ref))
    }
}

/// Runs a program in a folder to its end, with all output in a file. The program and its
/// descendants are killed when `time_limit` is over or the user requests a stop.
pub fn run_to_end(
    line: &CommandLine,
    folder: &Path,
    output: &File,
    time_limit: Duration,
) -> Result<ExitStatus, ProgramError> {
    run(line, folder, output, |running| running.wait(time_limit))
}

/// Runs a program that must undo a change: a user's request to stop does not end the wait.
pub fn run_uninterruptibly(
    line: &CommandLine,
    folder: &Path,
    output: &File,
    time_limit: Duration,
) -> Result<ExitStatus, ProgramError> {
    run(line, folder, output, |running| {
        if running.ends_within(time_limit) { Ok(()) } else { Err(ProgramError::Timeout(time_limit)) }
    })
}

fn run(
    line: &CommandLine,
    folder: &Path,
    output: &File,
    wait: impl FnOnce(&RunningProgram) -> Result<(), ProgramError>,
) -> Result<ExitStatus, ProgramError> {
    let stdin = OwnedFd::from(File::open("/dev/null")?);
    let streams = [stdin, output.try_clone()?.into(), output.try_clone()?.into()];
    let mut running =
        RunningProgram::start(Task { line: line.clone(), folder: Some(folder.to_owned()), streams })?;
    let waited = wait(&running);
    // Processes that the program started may still be running.
    let ended = running.end()?;
    waited.map(|()| ended)
}

/// The last line of a program's output that is not blank.
pub fn last_line(mut output: impl Read + Seek) -> Option<String> {
    let mut text = Vec::new();
    // An unreadable file counts as having no line.
    output.rewind().and_then(|()| output.read_to_end(&mut text)).ok()?;
    last_line_of(&String::from_utf8_lossy(&text))
}

fn last_line_of(text: &str) -> Option<String> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}
