//! A readlab program: the one of this build, or an older one that is measured beside it. Each
//! judges its records by its own statistics, through its own export.

use crate::export::Export;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a readlab is told where compilers are that are not on the PATH.
const TOOLCHAINS_VARIABLE: &str = "READLAB_TOOLCHAINS";
/// Where this checkout has them.
const TOOLCHAINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../toolchains");

/// Which revision a program is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revision {
    /// That of this bench.
    Now,
    /// An older one.
    Before,
}

/// A readlab program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lab {
    pub(crate) revision: Revision,
    /// Where it is.
    pub(crate) program: PathBuf,
}

impl Revision {
    /// Its word in rows and in names of folders.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Revision::Now => "now",
            Revision::Before => "before",
        }
    }
}

impl Lab {
    /// A command of it, without input. Compilers that are not on the PATH are those of this
    /// checkout, wherever the program is.
    pub(crate) fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(verb).stdin(Stdio::null());
        if std::env::var_os(TOOLCHAINS_VARIABLE).is_none() {
            command.env(TOOLCHAINS_VARIABLE, TOOLCHAINS);
        }
        command
    }

    /// Builds every contender that can be built here, so that no race has to.
    pub(crate) fn build(&self) -> anyhow::Result<()> {
        let mut command = self.command("build");
        let status = command.stdout(Stdio::null()).status().with_context(|| self.context())?;
        // 1: some contender could not be built; races then go on without it.
        if matches!(status.code(), Some(0 | 1)) { Ok(()) } else { bail!("{command:?} ended with {status}") }
    }

    /// Its results of a record. The page that comes with them is left beside the record.
    pub(crate) fn export(&self, record: &Path) -> anyhow::Result<Export> {
        let mut command = self.command("report");
        let done =
            command.arg(record).args(["--export-json", "-"]).output().with_context(|| self.context())?;
        if !done.status.success() {
            bail!("{command:?}: {}", String::from_utf8_lossy(&done.stderr).trim());
        }
        Export::parse(&done.stdout).with_context(|| format!("what {command:?} printed"))
    }

    fn context(&self) -> String {
        self.program.display().to_string()
    }
}
