//! Runs shell command lines of the user that run outside of readings.

use readlab_system::program::{self, CommandLine, ProgramError};
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

/// Runs a program to its end: [`program::run_to_end`], or [`program::run_uninterruptibly`].
pub(super) type ProgramRunner = fn(&CommandLine, &Path, &File, Duration) -> Result<ExitStatus, ProgramError>;

#[derive(Debug)]
pub(super) enum LineError {
    Interrupted,
    /// The line was ended after this time.
    Timeout(Duration),
    /// A description of the failure, such as `ended with exit code 1: no such device`.
    Failed(String),
}

/// Runs a line, in which `{}` is this path, in the folder in which the lab was started. Returns the
/// last line of its output.
pub(super) fn run_line(
    line: &str,
    path: OsString,
    time_limit: Duration,
    runner: ProgramRunner,
) -> Result<Option<String>, LineError> {
    // The output goes to an unnamed file, so that nothing is left behind however readlab ends.
    let printed = tempfile::tempfile()
        .map_err(|error| LineError::Failed(format!("has nowhere to write to: {error}")))?;
    let status = runner(&shell_command(line, path), Path::new("."), &printed, time_limit).map_err(
        |error| match error {
            ProgramError::Interrupted => LineError::Interrupted,
            ProgramError::Timeout(limit) => LineError::Timeout(limit),
            other => LineError::Failed(format!("could not be run: {other}")),
        },
    )?;
    let last = program::last_line(printed);
    if status.success() {
        return Ok(last);
    }
    let last = last.map_or_else(String::new, |line| format!(": {line}"));
    let how = status.code().map_or_else(|| status.to_string(), |code| format!("ended with exit code {code}"));
    Err(LineError::Failed(format!("{how}{last}")))
}

pub(super) fn shell_command(line: &str, path: OsString) -> CommandLine {
    let script = readlab_protocol::command_line::script(line);
    let args = vec!["-c".into(), script.into(), "sh".into(), path];
    CommandLine { program: "sh".into(), args, ..CommandLine::default() }
}
