//! A control group with one limit, of the older hierarchy or the newer; processes are born there or
//! taken into it. It is removed when dropped. Needs root.

use anyhow::Context;
use readlab::units::Bytes;
use std::fs;
use std::path::{Path, PathBuf};

/// What a group limits.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    /// All memory of its processes.
    Memory(Bytes),
    /// Its processes run on the processor of this number alone.
    Processor(u32),
}

/// The group.
pub(crate) struct Group(PathBuf);

impl Limit {
    fn controller(self) -> &'static str {
        match self {
            Limit::Memory(_) => "memory",
            Limit::Processor(_) => "cpuset",
        }
    }

    /// The files that set it, with what they hold, in the older hierarchy or in the newer.
    fn settings(self, is_unified: bool) -> Vec<(&'static str, String)> {
        match (self, is_unified) {
            (Limit::Memory(bytes), false) => vec![("memory.limit_in_bytes", bytes.0.to_string())],
            (Limit::Memory(bytes), true) => vec![("memory.max", bytes.0.to_string())],
            (Limit::Processor(number), false) => {
                // The older hierarchy takes no process before it has a node of memory as well.
                vec![("cpuset.mems", "0".to_owned()), ("cpuset.cpus", number.to_string())]
            }
            (Limit::Processor(number), true) => vec![("cpuset.cpus", number.to_string())],
        }
    }
}

impl Group {
    /// A group of this name.
    pub(crate) fn with(limit: Limit, name: &str) -> anyhow::Result<Group> {
        let older = Path::new("/sys/fs/cgroup").join(limit.controller());
        let newer = Path::new("/sys/fs/cgroup");
        let controllers = fs::read_to_string(newer.join("cgroup.subtree_control")).unwrap_or_default();
        let is_unified = controllers.contains(limit.controller());
        anyhow::ensure!(is_unified || older.exists(), "no control group limits {} here", limit.controller());
        let root = if is_unified { newer } else { &older };
        let folder = root.join(format!("readlab-bench-{}-{name}", std::process::id()));
        fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        let group = Group(folder);
        for (file, text) in limit.settings(is_unified) {
            let file = group.0.join(file);
            fs::write(&file, text).with_context(|| file.display().to_string())?;
        }
        Ok(group)
    }

    /// Takes a process into it; what that starts later is born there.
    pub(crate) fn take(&self, process: u32) -> anyhow::Result<()> {
        let file = self.processes();
        fs::write(&file, process.to_string()).with_context(|| file.display().to_string())
    }

    /// The file that takes processes.
    pub(crate) fn processes(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.0) {
            eprintln!("{}: {error}", self.0.display());
        }
    }
}
