//! Memory of the machine: how much there is, how much the control group of this process may use,
//! and what reclaims it.

use super::kernel_file::{line, number, selected};
use procfs::process::{MountInfo, Process};
use procfs::{Current, Meminfo, ProcessCGroup};
use std::fs;
use std::path::{Path, PathBuf};

/// Memory of the whole machine at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SystemMemory {
    /// All memory (`MemTotal`).
    pub total_bytes: u64,
    /// Memory that can be allocated without swapping (`MemAvailable`).
    pub available_bytes: u64,
}

impl SystemMemory {
    /// Reads /proc/meminfo; zeros where /proc is not mounted.
    #[must_use]
    pub fn read() -> SystemMemory {
        let Ok(found) = Meminfo::current() else { return SystemMemory::default() };
        // Kernels before 3.14 have no estimate; free memory is then the lower bound.
        let available_bytes = found.mem_available.unwrap_or(found.mem_free);
        SystemMemory { total_bytes: found.mem_total, available_bytes }
    }
}

/// The size of a page.
#[must_use]
pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// How many processes the kernel has killed for lack of memory since it started, in control groups
/// or outside (`oom_kill` of /proc/vmstat, since Linux 4.13); `None` where it does not count them.
#[must_use]
pub fn oom_kills() -> Option<u64> {
    let table = fs::read_to_string("/proc/vmstat").ok()?;
    table.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

/// Whether any swap is on: /proc/swaps has a line below its heading.
#[must_use]
pub fn is_swap_on() -> bool {
    fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().nth(1).is_some())
}

/// The mode of transparent huge pages: `always`, `madvise` or `never`.
#[must_use]
pub fn transparent_huge_pages() -> Option<String> {
    line("/sys/kernel/mm/transparent_hugepage/enabled").map(|all| selected(&all).to_owned())
}

/// Whether a DAMON context that may reclaim memory runs: as a module, by its administration files,
/// or as a kernel thread.
#[must_use]
pub fn is_reclaimed_proactively() -> bool {
    if is_module_enabled("damon_reclaim") || is_module_enabled("damon_lru_sort") {
        return true;
    }
    if any_entry("/sys/kernel/mm/damon/admin/kdamonds", "state", |state| state == "on") {
        return true;
    }
    // The module `damon_stat` only watches, by a thread that looks like the others.
    !is_module_enabled("damon_stat") && any_entry("/proc", "comm", |name| name.starts_with("kdamond"))
}

fn is_module_enabled(module: &str) -> bool {
    let enabled = line(format!("/sys/module/{module}/parameters/enabled"));
    enabled.is_some_and(|enabled| enabled == "Y" || enabled == "1")
}

/// Whether in any entry of `folder` the line of this file matches.
fn any_entry(folder: &str, file: &str, matches: fn(&str) -> bool) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| line(entry.path().join(file))).any(|text| matches(&text))
}

/// The lowest memory limit of this process's control group and of the groups around it, version 1
/// or 2.
#[must_use]
pub fn control_group_limit() -> Option<u64> {
    let process = Process::myself().ok()?;
    let mounts = process.mountinfo().ok()?.0;
    let groups = process.cgroups().ok()?;
    groups.into_iter().filter_map(|group| limit_of(&group, &mounts)).min()
}

/// The lowest limit of one group and of the groups around it; `None` where it does not limit
/// memory.
fn limit_of(group: &ProcessCGroup, mounts: &[MountInfo]) -> Option<u64> {
    // Version 2 has the hierarchy 0 and names no controllers.
    let unified = group.hierarchy == 0;
    if !unified && !group.controllers.iter().any(|name| name == "memory") {
        return None;
    }
    // `memory.high` reclaims the page cache before `memory.max` does.
    let files: &[&str] = if unified { &["memory.max", "memory.high"] } else { &["memory.limit_in_bytes"] };
    let mut limits = Vec::new();
    for mount in mounts.iter().filter(|mount| shows_limits(mount, unified)) {
        for folder in folders(&mount.mount_point, Path::new(&mount.root), Path::new(&group.pathname)) {
            // `max` is no number: there is no limit then.
            limits.extend(files.iter().filter_map(|file| number(folder.join(file))));
        }
    }
    limits.into_iter().min()
}

/// Whether a mount shows the memory limits of control groups.
fn shows_limits(mount: &MountInfo, unified: bool) -> bool {
    if unified {
        mount.fs_type == "cgroup2"
    } else {
        mount.fs_type == "cgroup" && mount.super_options.contains_key("memory")
    }
}

/// The folders of a group and of all groups around it, under a mount that may show only a part of
/// the hierarchy.
fn folders(mount_point: &Path, mount_root: &Path, group: &Path) -> Vec<PathBuf> {
    let inside = group.strip_prefix(mount_root).or_else(|_| group.strip_prefix("/")).unwrap_or(group);
    inside.ancestors().map(|part| mount_point.join(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_part_of_all_memory() {
        let memory = SystemMemory::read();
        assert!(memory.total_bytes > 0);
        assert!(memory.available_bytes <= memory.total_bytes);
    }

    #[test]
    fn the_limits_of_all_groups_around_a_group_apply() {
        let mount = Path::new("/sys/fs/cgroup");
        let found = folders(mount, Path::new("/"), Path::new("/a/b"));
        let expected: Vec<PathBuf> = ["a/b", "a", ""].iter().map(|part| mount.join(part)).collect();
        assert_eq!(found, expected);
        assert_eq!(folders(mount, Path::new("/docker/x"), Path::new("/docker/x")), [mount.join("")]);
    }
}
