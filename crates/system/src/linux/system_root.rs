//! The folder that contains /proc and /sys: `/`, or a folder that a test fills.

use std::path::{Path, PathBuf};

/// The folder that contains `proc` and `sys`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemRoot(PathBuf);

impl Default for SystemRoot {
    fn default() -> SystemRoot {
        SystemRoot("/".into())
    }
}

impl SystemRoot {
    /// Uses `proc` and `sys` below another folder.
    pub fn below(folder: &Path) -> SystemRoot {
        SystemRoot(folder.to_owned())
    }

    pub(super) fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.join(path)
    }
}
