//! A readlab that is measuring, and the record that it writes.

use anyhow::{Context, bail};
use readlab_record::Record;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// A running readlab.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    record: PathBuf,
}

impl Running {
    /// Starts a command that writes its record into this folder.
    pub(crate) fn start(mut command: Command, folder: &Path) -> anyhow::Result<Running> {
        let child = command.spawn().with_context(|| command.get_program().display().to_string())?;
        Ok(Running { child, record: folder.join("record.jsonl") })
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Where its record is written.
    pub(crate) fn path(&self) -> &Path {
        &self.record
    }

    /// Whether it has ended.
    pub(crate) fn is_over(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait().context("waiting for the lab")?.is_some())
    }

    /// Waits for its end; returns where its record is. That some trial failed (1) is in the record.
    pub(crate) fn finished(mut self) -> anyhow::Result<PathBuf> {
        let status = self.child.wait().context("waiting for the lab")?;
        if !matches!(status.code(), Some(0 | 1)) {
            bail!("the lab ended with {status}");
        }
        Ok(self.record.clone())
    }

    /// Waits for its end and reads the record.
    pub(crate) fn record(self) -> anyhow::Result<Record> {
        Ok(Record::read(&self.finished()?)?)
    }
}

impl Drop for Running {
    /// A race that is dropped is ended; its contender exits at the end of its input.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // It may have ended by itself; in both cases it is reaped.
            let _ = self.child.kill().and_then(|()| self.child.wait());
        }
    }
}
