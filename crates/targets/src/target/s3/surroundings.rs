//! What the configuration of a store is read from: variables, files, a program and the clock.

use jiff::Timestamp;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// The outside of a configuration; tests have one of their own.
pub trait Surroundings {
    /// A variable of the environment; `None` if it is unset, empty or not UTF-8.
    fn variable(&self, name: &str) -> Option<String>;

    fn read(&self, path: &Path) -> io::Result<String>;

    /// What a program prints on its standard output.
    fn run(&self, program: &str, args: &[String]) -> io::Result<String>;

    fn now(&self) -> Timestamp;
}

/// The real surroundings of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfProcess;

impl Surroundings for OfProcess {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
    }

    fn run(&self, program: &str, args: &[String]) -> io::Result<String> {
        // Its standard error stays the lab's: a program may ask its user there, and its output may
        // not be shown.
        let mut command = Command::new(program);
        let output = command.args(args).stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(io::Error::other(format!("it failed with {}", output.status)));
        }
        String::from_utf8(output.stdout).map_err(|_| io::Error::other("what it printed is not UTF-8"))
    }

    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_its_output_read_or_its_failure_said() {
        let run = |script: &str| OfProcess.run("sh", &["-c".to_owned(), script.to_owned()]);
        assert_eq!(run("echo printed").unwrap(), "printed\n");
        let error = run("echo secret; exit 3").unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && !error.contains("secret"), "{error}");
        assert!(run("printf '\\377'").is_err());
        assert!(OfProcess.run("/nonexistent/program", &[]).is_err());
    }
}
