//! Where the limits of a process's control groups are: the folders of its own group and of the
//! groups around it, version 1 or 2. And how long those kept it from its processors.

use super::kernel_file::field;
use super::process::Unavailable;
use procfs::ProcessCGroup;
use procfs::process::{MountInfo, Process};
use std::fs;
use std::path::{Path, PathBuf};

const STATISTICS: &str = "cpu.stat";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupFolder {
    pub(super) path: PathBuf,
    /// Whether it is of version 2, whose files have other names.
    pub(super) is_unified: bool,
}

/// The folders with this process's limits of a controller such as `memory`; none without /proc.
pub(super) fn folders(controller: &str) -> Vec<GroupFolder> {
    Process::myself().map(|process| folders_of(&process, controller)).unwrap_or_default()
}

/// The same for another process, by the mounts that this one sees.
fn folders_of(process: &Process, controller: &str) -> Vec<GroupFolder> {
    let mounts = Process::myself().and_then(|own| own.mountinfo());
    let (Ok(mounts), Ok(groups)) = (mounts, process.cgroups()) else { return Vec::new() };
    let of_group = |group: ProcessCGroup| of_group(&group, &mounts.0, controller);
    groups.into_iter().flat_map(of_group).collect()
}

/// The folders of one group and of the groups around it; none if it does not have the controller.
fn of_group(group: &ProcessCGroup, mounts: &[MountInfo], controller: &str) -> Vec<GroupFolder> {
    // Version 2 has the hierarchy 0 and names no controllers.
    let is_unified = group.hierarchy == 0;
    if !is_unified && !group.controllers.iter().any(|name| name == controller) {
        return Vec::new();
    }
    let shows_limits = |mount: &&MountInfo| match is_unified {
        true => mount.fs_type == "cgroup2",
        false => mount.fs_type == "cgroup" && mount.super_options.contains_key(controller),
    };
    let under =
        |mount: &MountInfo| around(&mount.mount_point, Path::new(&mount.root), Path::new(&group.pathname));
    let paths = mounts.iter().filter(shows_limits).flat_map(under);
    paths.map(|path| GroupFolder { path, is_unified }).collect()
}

/// The folders of a group and those around it, under a mount that may show a part of the hierarchy.
fn around(mount_point: &Path, mount_root: &Path, group: &Path) -> Vec<PathBuf> {
    let inside = group.strip_prefix(mount_root).or_else(|_| group.strip_prefix("/")).unwrap_or(group);
    inside.ancestors().map(|part| mount_point.join(part)).collect()
}

/// How long a process's control groups had used up their quota while threads could have run.
#[derive(Debug)]
pub struct ThrottledTime {
    files: Result<Vec<PathBuf>, Unavailable>,
}

impl ThrottledTime {
    pub fn of_process(pid: u32) -> ThrottledTime {
        let process = i32::try_from(pid).ok().and_then(|pid| Process::new(pid).ok());
        let process = process.ok_or(Unavailable::Ended { pid });
        let counts = |folder: GroupFolder| folder.path.join(STATISTICS);
        ThrottledTime {
            files: process.map(|process| folders_of(&process, "cpu").into_iter().map(counts).collect()),
        }
    }

    /// The time so far, over all processors: the sum of all groups, as one within another that has
    /// used up its quota does not count that time itself. 0 without quotas.
    pub fn read(&self) -> Result<u64, Unavailable> {
        let files = self.files.as_ref().map_err(Unavailable::clone)?;
        let one = |path: &PathBuf| match fs::read_to_string(path) {
            Ok(text) => Ok(throttled_ns(&text).unwrap_or(0)),
            // A group of version 2 without the controller has no such file.
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(cause) => {
                Err(Unavailable::Unreadable { file: path.display().to_string(), cause: cause.to_string() })
            }
        };
        files.iter().map(one).sum()
    }
}

/// Version 1 counts nanoseconds, version 2 microseconds; a group without a quota counts neither.
fn throttled_ns(statistics: &str) -> Option<u64> {
    field(statistics, "throttled_time ").or_else(|| field(statistics, "throttled_usec ")?.checked_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_count_the_time_beyond_a_quota() {
        assert_eq!(throttled_ns("nr_periods 3\nnr_throttled 2\nthrottled_time 4500\n"), Some(4500));
        let unified = "usage_usec 9\nnr_periods 3\nnr_throttled 2\nthrottled_usec 7\n";
        assert_eq!(throttled_ns(unified), Some(7000));
        assert_eq!(throttled_ns("usage_usec 9\n"), None);
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("own"), unified).unwrap();
        fs::write(path("around"), "throttled_usec 1\n").unwrap();
        let files = Ok(vec![path("own"), path("around"), path("absent")]);
        assert_eq!(ThrottledTime { files }.read(), Ok(8000));
        let own = ThrottledTime::of_process(std::process::id());
        assert!(own.read().is_ok(), "{own:?}");
    }

    #[test]
    fn the_limits_of_all_groups_around_a_group_apply() {
        let mount = Path::new("/sys/fs/cgroup");
        let found = around(mount, Path::new("/"), Path::new("/a/b"));
        let expected: Vec<PathBuf> = ["a/b", "a", ""].iter().map(|part| mount.join(part)).collect();
        assert_eq!(found, expected);
        assert_eq!(around(mount, Path::new("/docker/x"), Path::new("/docker/x")), [mount.join("")]);
    }
}
