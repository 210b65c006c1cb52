//! A block device of a known pace: a loop device on a file whose reads are answered at it.
//!
//! Needs root. It is removed when dropped.

use crate::paced_file::{self, DeviceUse};
use crate::places::run;
use anyhow::Context;
use fuser::BackgroundSession;
use std::fs;
use std::path::{Path, PathBuf};

const NAME: &str = "content";

#[derive(Debug)]
pub(crate) struct PacedDevice {
    device: PathBuf,
    folder: PathBuf,
    session: Option<BackgroundSession>,
}

impl PacedDevice {
    /// Shows a file's content through a mount in a folder beside others.
    pub(crate) fn make(beside: &Path, content: &Path, pace: DeviceUse) -> anyhow::Result<PacedDevice> {
        let folder = beside.join("paced");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let session = paced_file::mount(content, &folder, NAME, pace)?;
        let mut made = PacedDevice { device: PathBuf::new(), folder, session: Some(session) };
        let words = ["--find", "--show", "--read-only", "--direct-io=on"];
        made.device = run("losetup", &words, &[&made.folder.join(NAME)])?.trim().into();
        Ok(made)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.device
    }
}

impl Drop for PacedDevice {
    fn drop(&mut self) {
        let detached = match self.device.as_os_str().is_empty() {
            true => Ok(()),
            false => run("losetup", &["--detach"], &[&self.device]).map(drop),
        };
        let gone = detached.and_then(|()| {
            self.session.take().map_or(Ok(()), BackgroundSession::umount_and_join)?;
            Ok(fs::remove_dir(&self.folder)?)
        });
        if let Err(error) = gone {
            eprintln!("{}: left behind: {error:#}", self.folder.display());
        }
    }
}
