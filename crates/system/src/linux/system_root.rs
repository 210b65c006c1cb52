//! Where /proc and /sys are mounted: at `/`, or below a folder that a test fills.

use std::path::{Path, PathBuf};

/// The folder in which `proc` and `sys` are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemRoot(PathBuf);

impl Default for SystemRoot {
    fn default() -> SystemRoot {
        SystemRoot("/".into())
    }
}

impl SystemRoot {
    /// `proc` and `sys` below another folder.
    pub fn below(folder: &Path) -> SystemRoot {
        SystemRoot(folder.to_owned())
    }

    pub(super) fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.join(path)
    }
}
