//! Runs the user's check of a command's output: a line for a shell that gets the output on its
//! standard input, and ends with 0 if the output is right.

use crate::execution::how_it_ended;
use crate::relay::Relay;
use crate::secrets::Secrets;
use crate::template::{self, Template};
use readlab_protocol::placing::PlacingError;
use readlab_protocol::{CHECK_VARIABLE, SUCCESS_VARIABLE};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

/// A check that is running.
pub(crate) struct Checker {
    line: String,
    child: Child,
    relay: Relay,
    /// Whether the check still reads. A check that knows enough may end before the output does.
    reads: bool,
}

impl Checker {
    /// Starts the check that the environment defines for the output about this target; `None` if it
    /// defines none.
    pub(crate) fn from_environment(target: &OsStr, secrets: &Secrets) -> Option<Result<Checker, String>> {
        let line = std::env::var_os(CHECK_VARIABLE)?.to_string_lossy().into_owned();
        Some(Checker::start(line, target, secrets))
    }

    fn start(line: String, target: &OsStr, secrets: &Secrets) -> Result<Checker, String> {
        let not_started = |error: io::Error| format!("the check '{line}': {error}");
        let (relay, stderr) = Relay::start(secrets.hiding()).map_err(not_started)?;
        let mut command = command(&line, target, secrets).map_err(|error| format!("the check {error}"))?;
        let child = command.stderr(stderr).spawn().map_err(not_started)?;
        Ok(Checker { line, child, relay, reads: true })
    }

    /// Passes more of the output to the check.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let Some(stdin) = self.child.stdin.as_mut().filter(|_| self.reads) else { return };
        self.reads = stdin.write_all(bytes).is_ok();
    }

    /// Closes the input of the check and waits for its end. Returns one line if it did not end with
    /// 0.
    pub(crate) fn end(mut self) -> Result<(), String> {
        drop(self.child.stdin.take());
        let unwaited =
            |error: io::Error| format!("the check '{}' could not be waited for: {error}", self.line);
        let status = self.child.wait().map_err(unwaited)?;
        self.relay.end();
        if status.success() {
            return Ok(());
        }
        Err(format!("the check '{}' of its output {}", self.line, how_it_ended(status)))
    }
}

fn command(line: &str, target: &OsStr, secrets: &Secrets) -> Result<Command, PlacingError> {
    template::check_names(line, target)?;
    let words = Template::for_shell(line)?.command(target);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_remove(CHECK_VARIABLE).env_remove(SUCCESS_VARIABLE);
    secrets.withhold_from(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_protocol::remote::SECRET_VARIABLES;

    fn checked(line: &str, output: &[u8]) -> Result<(), String> {
        let secrets = Secrets::with_variables("a b", &[]);
        let mut checker = Checker::start(line.to_owned(), OsStr::new("a b"), &secrets).unwrap();
        output.chunks(1 << 16).for_each(|bytes| checker.write(bytes));
        checker.end()
    }

    #[test]
    fn a_check_gets_the_output_and_the_path_and_judges_by_its_exit_code() {
        assert_eq!(checked("grep -q 42", b"41\n42\n"), Ok(()));
        assert_eq!(checked("test {} = 'a b'", b""), Ok(()));
        let said = checked("grep -q 43", b"41\n42\n").unwrap_err();
        assert_eq!(said, "the check 'grep -q 43' of its output ended with exit code 1");
        assert!(checked("kill -9 $$", b"").unwrap_err().ends_with("was killed by signal 9"));
    }

    #[test]
    fn the_verdict_of_a_check_that_ends_before_the_output_counts() {
        assert_eq!(checked("true", &vec![0; 1 << 20]), Ok(()));
    }
    #[test]
    fn a_check_is_started_without_secrets() {
        let command = command("true", OsStr::new("f"), &Secrets::with_variables("f", &[])).unwrap();
        let removed: Vec<_> = command.get_envs().filter(|(_, value)| value.is_none()).collect();
        for name in SECRET_VARIABLES {
            assert!(removed.contains(&(OsStr::new(name), None)), "{name}");
        }
    }
}
