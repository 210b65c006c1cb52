//! The features of this machine that a test needs, and the message if one is missing.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The user who owns no file.
pub(crate) const NOBODY: u32 = 65_534;

/// The arguments that start a program as a user who owns no file.
pub(crate) const AS_NOBODY: [&str; 5] =
    ["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--"];

/// Prints why a test, or a part of it, does not run.
pub(crate) fn skip(why: impl Display) {
    eprintln!("SKIPPED: {why}");
}

/// The value, or a message why it could not be made.
pub(crate) fn or_skip<T>(made: Result<T, impl Display>) -> Option<T> {
    made.map_err(skip).ok()
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|it| it.exists())
}

/// Whether a command, split at blanks, succeeds.
pub(crate) fn works(line: &str) -> bool {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().unwrap());
    command.args(words).output().is_ok_and(|output| output.status.success())
}

/// Whether a command succeeds. If not, prints a message.
pub(crate) fn succeeds_or_skip(line: &str) -> bool {
    let works = works(line);
    if !works {
        skip(format!("{line} does not work here"));
    }
    works
}

/// Whether the tests can switch to a user who owns no file. If not, prints a message.
pub(crate) fn has_nobody() -> bool {
    let can = is_root() && Path::new("/usr/bin/setpriv").exists();
    if !can {
        skip("only root with setpriv can become a user that owns nothing");
    }
    can
}

pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
