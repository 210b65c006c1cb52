//! A control group that a test makes, and that is removed when it is dropped.

use crate::processes::happens_in_time;
use std::fs;
use std::io::Error;
use std::path::{Path, PathBuf};

pub(crate) struct ControlGroup(PathBuf);

impl ControlGroup {
    pub(crate) fn below(root: &Path, file: &str, text: &str) -> Result<ControlGroup, String> {
        let said = |error: Error| format!("{}: {file}: {error}", root.display());
        let folder = tempfile::Builder::new().prefix("readlab-test-").tempdir_in(root).map_err(said)?;
        let group = ControlGroup(folder.keep());
        fs::write(group.0.join(file), text).map_err(said)?;
        Ok(group)
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
