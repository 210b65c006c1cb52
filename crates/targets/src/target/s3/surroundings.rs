//! The sources of a store's configuration: environment variables, files, a program and the clock.

use jiff::Timestamp;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// The interface to these sources; tests implement their own.
pub trait Surroundings {
    /// An environment variable; `None` if it is unset, empty or not UTF-8.
    fn variable(&self, name: &str) -> Option<String>;

    fn read(&self, path: &Path) -> io::Result<String>;

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

    fn run(&self, program: &str, args: &[String]) -> io::Result<String> {
        // The program inherits the lab's standard error, because it may ask the user something
        // there, and because its output must not be shown otherwise.
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
    fn running_a_program_returns_its_output_or_its_failure() {
        let run = |script: &str| ProcessSurroundings.run("sh", &["-c".to_owned(), script.to_owned()]);
        assert_eq!(run("echo printed").unwrap(), "printed\n");
        let error = run("echo secret; exit 3").unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && !error.contains("secret"), "{error}");
        assert!(run("printf '\\377'").is_err());
        assert!(ProcessSurroundings.run("/nonexistent/program", &[]).is_err());
    }
}
