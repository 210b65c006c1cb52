//! How much memory there is, and how much of it this process's control group may use, page cache
//! included.

use procfs::process::Process;
use procfs::{Current, Meminfo};
use std::fs;
use std::path::{Path, PathBuf};

/// Memory at this moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// All memory (`MemTotal`).
    pub total_bytes: u64,
    /// Memory that could be had without swapping (`MemAvailable`).
    pub available_bytes: u64,
    /// Limit of the control group this process lives in, if it has one below all memory.
    pub limit_bytes: Option<u64>,
}

impl Memory {
    /// Reads /proc/meminfo and the limits of the control groups; zeros where /proc is not mounted.
    #[must_use]
    pub fn read() -> Memory {
        let found = Meminfo::current().ok();
        let total_bytes = found.as_ref().map_or(0, |m| m.mem_total);
        // Kernels before 3.14 have no estimate; what is free is then the floor.
        let available_bytes = found.as_ref().map_or(0, |m| m.mem_available.unwrap_or(m.mem_free));
        let limit_bytes = group_limit().filter(|&limit| limit < total_bytes);
        Memory { total_bytes, available_bytes, limit_bytes }
    }

    /// The most that could ever be cached here: all memory, or the control group's limit.
    #[must_use]
    pub fn ceiling_bytes(&self) -> u64 {
        self.limit_bytes.unwrap_or(self.total_bytes)
    }

    /// What could be cached now: what is available, or the control group's limit where that is
    /// less.
    #[must_use]
    pub fn available_here_bytes(&self) -> u64 {
        self.available_bytes.min(self.ceiling_bytes())
    }
}

/// How many processes the kernel has killed for lack of memory since it started, in control groups
/// or outside (`oom_kill` of /proc/vmstat, since Linux 4.13); `None` where it does not tell.
#[must_use]
pub fn oom_kills() -> Option<u64> {
    let table = fs::read_to_string("/proc/vmstat").ok()?;
    table.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

/// The lowest memory limit of this process's control group and of the groups around it, version 1
/// or 2.
fn group_limit() -> Option<u64> {
    let process = Process::myself().ok()?;
    let mounts = process.mountinfo().ok()?.0;
    let mut limits = Vec::new();
    for group in process.cgroups().ok()? {
        // Version 2 has the hierarchy 0 and names no controllers.
        let unified = group.hierarchy == 0;
        if !unified && !group.controllers.iter().any(|name| name == "memory") {
            continue;
        }
        let holds_it = |fs_type: &str, options: &std::collections::HashMap<String, Option<String>>| {
            if unified { fs_type == "cgroup2" } else { fs_type == "cgroup" && options.contains_key("memory") }
        };
        // `memory.high` reclaims the page cache before `memory.max` does.
        let files: &[&str] =
            if unified { &["memory.max", "memory.high"] } else { &["memory.limit_in_bytes"] };
        for mount in mounts.iter().filter(|mount| holds_it(&mount.fs_type, &mount.super_options)) {
            for folder in folders(&mount.mount_point, Path::new(&mount.root), Path::new(&group.pathname)) {
                limits.extend(files.iter().filter_map(|file| read_limit(&folder.join(file))));
            }
        }
    }
    limits.into_iter().min()
}

/// The folders of a group and of all groups around it, under a mount that may show only a part of
/// the hierarchy.
fn folders(mount_point: &Path, mount_root: &Path, group: &Path) -> Vec<PathBuf> {
    let inside = group.strip_prefix(mount_root).or_else(|_| group.strip_prefix("/")).unwrap_or(group);
    inside.ancestors().map(|part| mount_point.join(part)).collect()
}

/// A limit; `max` and files that do not exist are none.
fn read_limit(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_found_and_what_is_available_is_part_of_it() {
        let memory = Memory::read();
        assert!(memory.total_bytes > 0);
        assert!(memory.available_bytes <= memory.total_bytes);
        assert!(memory.available_here_bytes() <= memory.ceiling_bytes());
    }

    #[test]
    fn a_group_is_looked_up_with_all_groups_around_it() {
        let mount = Path::new("/sys/fs/cgroup");
        let found = folders(mount, Path::new("/"), Path::new("/a/b"));
        let expected: Vec<PathBuf> = ["a/b", "a", ""].iter().map(|part| mount.join(part)).collect();
        assert_eq!(found, expected);
        assert_eq!(folders(mount, Path::new("/docker/x"), Path::new("/docker/x")), [mount.join("")]);
    }
}
