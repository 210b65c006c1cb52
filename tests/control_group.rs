//! A control group that a test makes, and that is removed when it is dropped.

use crate::processes::happens_in_time;
use std::fs;
use std::io::Error;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

pub(crate) struct ControlGroup(PathBuf);

impl ControlGroup {
    pub(crate) fn make(root: &Path) -> Result<ControlGroup, String> {
        let folder = tempfile::Builder::new().prefix("readlab-test-").tempdir_in(root);
        let folder = folder.map_err(|error| format!("{}: {error}", root.display()))?;
        Ok(ControlGroup(folder.keep()))
    }

    pub(crate) fn below(root: &Path, file: &str, text: &str) -> Result<ControlGroup, String> {
        let said = |error: Error| format!("{}: {file}: {error}", root.display());
        let group = ControlGroup::make(root)?;
        fs::write(group.0.join(file), text).map_err(said)?;
        Ok(group)
    }

    /// Lets this user make groups in the group.
    pub(crate) fn delegate_to(&self, user: u32) -> Result<(), String> {
        let said = |error: Error| format!("{}: {error}", self.0.display());
        chown(&self.0, Some(user), Some(user)).map_err(said)?;
        chown(self.0.join("cgroup.procs"), Some(user), Some(user)).map_err(said)
    }

    /// The folders of the groups in the group.
    pub(crate) fn groups(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    }

    /// A shell line after which the shell and all processes that it starts are in the group.
    pub(crate) fn enter(&self) -> String {
        format!("echo $$ > '{}/cgroup.procs'", self.0.display())
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // A killed process in the group may take a moment to end.
        if !happens_in_time(|| fs::remove_dir(&self.0).is_ok()) {
            eprintln!("{}: still there", self.0.display());
        }
    }
}
