//! Where the limits of this process's control groups are: the folders of its own group and of the
//! groups around it, version 1 or 2.

use procfs::ProcessCGroup;
use procfs::process::{MountInfo, Process};
use std::path::{Path, PathBuf};

/// The folder of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupFolder {
    pub(super) path: PathBuf,
    /// Whether it is of version 2, whose files have other names.
    pub(super) is_unified: bool,
}

/// The folders with the limits of a controller, such as `memory`; none where /proc is not mounted.
pub(super) fn folders(controller: &str) -> Vec<GroupFolder> {
    let Ok(process) = Process::myself() else { return Vec::new() };
    let (Ok(mounts), Ok(groups)) = (process.mountinfo(), process.cgroups()) else { return Vec::new() };
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

/// The folders of a group and of all groups around it, under a mount that may show only a part of
/// the hierarchy.
fn around(mount_point: &Path, mount_root: &Path, group: &Path) -> Vec<PathBuf> {
    let inside = group.strip_prefix(mount_root).or_else(|_| group.strip_prefix("/")).unwrap_or(group);
    inside.ancestors().map(|part| mount_point.join(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_of_all_groups_around_a_group_apply() {
        let mount = Path::new("/sys/fs/cgroup");
        let found = around(mount, Path::new("/"), Path::new("/a/b"));
        let expected: Vec<PathBuf> = ["a/b", "a", ""].iter().map(|part| mount.join(part)).collect();
        assert_eq!(found, expected);
        assert_eq!(around(mount, Path::new("/docker/x"), Path::new("/docker/x")), [mount.join("")]);
    }
}
