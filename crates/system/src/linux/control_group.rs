//! The control groups of a process: the folders of its own group and of all enclosing groups, in
//! version 1 or 2, and the time for which their CPU quotas throttled the process.

use super::kernel_file::number_after;
use super::mounts::Mount;
use super::process::CounterError;
use super::system_root::SystemRoot;
use procfs::process::Process;
use procfs::{FromBufRead, ProcessCGroup, ProcessCGroups};
use std::fs;
use std::path::{Path, PathBuf};

const CPU_STATISTICS_FILE: &str = "cpu.stat";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupFolder {
    pub(super) path: PathBuf,
    /// True for version 2, whose files have other names.
    pub(super) is_unified: bool,
    /// True if the hierarchy is mounted read-only, as in most containers.
    pub(super) is_read_only: bool,
}

/// The folders that hold this process's limits for a controller such as `memory`; none without
/// /proc.
pub(super) fn folders(controller: &str) -> Vec<GroupFolder> {
    folders_in(&SystemRoot::default(), controller)
}

/// The folders that hold this process's limits for a controller, by the /proc and /sys of a root,
/// the process's own group first.
pub(super) fn folders_in(root: &SystemRoot, controller: &str) -> Vec<GroupFolder> {
    let groups = fs::read(root.join("proc/self/cgroup")).unwrap_or_default();
    let Ok(groups) = ProcessCGroups::from_buf_read(groups.as_slice()) else { return Vec::new() };
    let mounts = Mount::all(root);
    let folders = groups.0.iter().flat_map(|group| folders_of_group(group, &mounts, controller));
    let below_root = |folder: GroupFolder| {
        let path = root.join(folder.path.strip_prefix("/").unwrap_or(&folder.path));
        GroupFolder { path, ..folder }
    };
    folders.map(below_root).collect()
}

/// The folders for another process, found in the mounts that this process sees.
fn folders_of(process: &Process, controller: &str) -> Vec<GroupFolder> {
    let Ok(groups) = process.cgroups() else { return Vec::new() };
    let mounts = Mount::all(&SystemRoot::default());
    let of_group = |group: ProcessCGroup| folders_of_group(&group, &mounts, controller);
    groups.into_iter().flat_map(of_group).collect()
}

/// The folders of one group and of all enclosing groups; none if the group does not have the
/// controller.
fn folders_of_group(group: &ProcessCGroup, mounts: &[Mount], controller: &str) -> Vec<GroupFolder> {
    // In version 2 the hierarchy has the number 0, and no controllers are listed.
    let is_unified = group.hierarchy == 0;
    if !is_unified && !group.controllers.iter().any(|name| name == controller) {
        return Vec::new();
    }
    let shows_limits = |mount: &&Mount| match is_unified {
        true => mount.kind == "cgroup2",
        false => mount.kind == "cgroup" && mount.has_option(controller),
    };
    let under = |mount: &Mount| {
        let is_read_only = mount.is_read_only;
        let paths = enclosing_folders(&mount.point, &mount.root, Path::new(&group.pathname));
        paths.into_iter().map(move |path| GroupFolder { path, is_unified, is_read_only })
    };
    mounts.iter().filter(shows_limits).flat_map(under).collect()
}

/// The folders of a group and of all enclosing groups, below a mount that may show only a part of
/// the hierarchy.
fn enclosing_folders(mount_point: &Path, mount_root: &Path, group: &Path) -> Vec<PathBuf> {
    let inside = group.strip_prefix(mount_root).or_else(|_| group.strip_prefix("/")).unwrap_or(group);
    inside.ancestors().map(|part| mount_point.join(part)).collect()
}

/// Counts the time for which the control groups of a process had used up their CPU quota while
/// threads were runnable.
#[derive(Debug)]
pub struct ThrottledTimeCounter {
    files: Result<Vec<PathBuf>, CounterError>,
}

impl ThrottledTimeCounter {
    pub fn of_process(pid: u32) -> ThrottledTimeCounter {
        let process = i32::try_from(pid).ok().and_then(|pid| Process::new(pid).ok());
        let process = process.ok_or(CounterError::Ended { pid });
        let counts = |folder: GroupFolder| folder.path.join(CPU_STATISTICS_FILE);
        ThrottledTimeCounter {
            files: process.map(|process| folders_of(&process, "cpu").into_iter().map(counts).collect()),
        }
    }

    /// The throttled time so far in nanoseconds, summed over all processors. The times of all groups
    /// are added, because a group does not count the time for which an enclosing group is throttled.
    /// 0 without quotas.
    pub fn read(&self) -> Result<u64, CounterError> {
        let files = self.files.as_ref().map_err(CounterError::clone)?;
        let one = |path: &PathBuf| match fs::read_to_string(path) {
            Ok(text) => Ok(throttled_ns(&text).unwrap_or(0)),
            // In version 2 a group without the controller does not have this file.
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(cause) => {
                Err(CounterError::Unreadable { file: path.display().to_string(), cause: cause.to_string() })
            }
        };
        files.iter().map(one).sum()
    }
}

/// Parses the throttled time, which version 1 counts in nanoseconds and version 2 in microseconds;
/// `None` if the group does not count it.
fn throttled_ns(statistics: &str) -> Option<u64> {
    number_after(statistics, "throttled_time ")
        .or_else(|| number_after(statistics, "throttled_usec ")?.checked_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_groups_of_both_versions_report_throttled_time() {
        assert_eq!(throttled_ns("nr_periods 3\nnr_throttled 2\nthrottled_time 4500\n"), Some(4500));
        let unified = "usage_usec 9\nuser_usec 6\nsystem_usec 3\nnr_periods 3\nnr_throttled 2\nthrottled_usec 7\nnr_bursts 0\nburst_usec 0\n";
        assert_eq!(throttled_ns(unified), Some(7000));
        assert_eq!(throttled_ns("usage_usec 9\n"), None);
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("own"), unified).unwrap();
        fs::write(path("around"), "throttled_usec 1\n").unwrap();
        let files = Ok(vec![path("own"), path("around"), path("absent")]);
        assert_eq!(ThrottledTimeCounter { files }.read(), Ok(8000));
        let own = ThrottledTimeCounter::of_process(std::process::id());
        assert!(own.read().is_ok(), "{own:?}");
    }

    #[test]
    fn the_limits_of_all_groups_around_a_group_apply() {
        let mount = Path::new("/sys/fs/cgroup");
        let found = enclosing_folders(mount, Path::new("/"), Path::new("/a/b"));
        let expected: Vec<PathBuf> = ["a/b", "a", ""].iter().map(|part| mount.join(part)).collect();
        assert_eq!(found, expected);
        assert_eq!(
            enclosing_folders(mount, Path::new("/docker/x"), Path::new("/docker/x")),
            [mount.join("")]
        );
    }
}
