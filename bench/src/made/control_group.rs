//! Makes control groups with one limit, in the older hierarchy or the newer one.

use super::Cleanup;
use anyhow::{Context, ensure};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Period of a limit of processor time: a hundredth of a second.
const QUOTA_PERIOD_US: u32 = 10_000;

#[derive(Debug, Clone, Copy)]
pub(crate) enum GroupLimit {
    /// Only the processor of this number.
    Processor(u32),
    /// This percentage of a processor's time.
    ProcessorPercent(u32),
    /// Bytes per second that are read from the device of a file.
    DeviceBytes(u64),
    /// Reads per second from the device of a file.
    DeviceReads(u64),
    /// Bytes of memory, page cache included.
    Memory(u64),
}

impl GroupLimit {
    /// The name of the controller in the older hierarchy.
    fn controller(self) -> &'static str {
        match self {
            GroupLimit::Processor(_) => "cpuset",
            GroupLimit::ProcessorPercent(_) => "cpu",
            GroupLimit::DeviceBytes(_) | GroupLimit::DeviceReads(_) => "blkio",
            GroupLimit::Memory(_) => "memory",
        }
    }

    fn settings(self, is_unified: bool, device: &str) -> Vec<(&'static str, String)> {
        // The older hierarchy accepts no process before the group has a memory node as well.
        let of_version = |older: Vec<_>, newer| if is_unified { vec![newer] } else { older };
        match self {
            GroupLimit::Processor(number) => of_version(
                vec![("cpuset.mems", "0".to_owned()), ("cpuset.cpus", number.to_string())],
                ("cpuset.cpus", number.to_string()),
            ),
            GroupLimit::ProcessorPercent(percent) => {
                let quota = QUOTA_PERIOD_US / 100 * percent;
                let period = ("cpu.cfs_period_us", QUOTA_PERIOD_US.to_string());
                let newer = ("cpu.max", format!("{quota} {QUOTA_PERIOD_US}"));
                of_version(vec![period, ("cpu.cfs_quota_us", quota.to_string())], newer)
            }
            GroupLimit::DeviceBytes(bytes) => of_version(
                vec![("blkio.throttle.read_bps_device", format!("{device} {bytes}"))],
                ("io.max", format!("{device} rbps={bytes}")),
            ),
            GroupLimit::DeviceReads(reads) => of_version(
                vec![("blkio.throttle.read_iops_device", format!("{device} {reads}"))],
                ("io.max", format!("{device} riops={reads}")),
            ),
            GroupLimit::Memory(bytes) => of_version(
                vec![("memory.limit_in_bytes", bytes.to_string())],
                ("memory.max", bytes.to_string()),
            ),
        }
    }
}

/// Makes a group. Its limit may concern the device of a file. Returns the file to which its
/// processes are written.
pub(crate) fn make(
    cleanup: &mut Cleanup,
    limit: GroupLimit,
    file: &Path,
    name: &str,
) -> anyhow::Result<PathBuf> {
    let (controller, newer) = (limit.controller(), Path::new("/sys/fs/cgroup"));
    let older = newer.join(controller);
    let controllers = fs::read_to_string(newer.join("cgroup.subtree_control")).unwrap_or_default();
    let unified_name = if controller == "blkio" { "io" } else { controller };
    let is_unified = controllers.split_whitespace().any(|it| it == unified_name);
    ensure!(is_unified || older.exists(), "no control group limits {controller} here");
    let root = if is_unified { newer } else { &older };
    let folder = root.join(format!("readlab-bench-{}-{name}", std::process::id()));
    fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
    let made = folder.clone();
    cleanup.push(folder.display(), move || Ok(fs::remove_dir(made)?));
    let device = fs::metadata(file).with_context(|| file.display().to_string())?.dev();
    let device = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    for (setting, text) in limit.settings(is_unified, &device) {
        write(&folder.join(setting), &text)?;
    }
    Ok(folder.join("cgroup.procs"))
}

/// Makes a group that this process enters. Processes that it starts are born in the group.
pub(crate) fn enter(cleanup: &mut Cleanup, limit: GroupLimit, file: &Path) -> anyhow::Result<()> {
    let group = make(cleanup, limit, file, "own")?;
    let text = fs::read_to_string("/proc/self/cgroup")?;
    let is_its = |line: &&str| {
        let controllers = line.split(':').nth(1).unwrap_or_default();
        controllers.split(',').any(|it| it == limit.controller()) || line.starts_with("0::")
    };
    let line = text.lines().find(is_its).context("this process is in no such group")?;
    let own = line.splitn(3, ':').nth(2).unwrap_or_default().trim_start_matches('/');
    let root = group.ancestors().nth(2).context("a group is in a hierarchy")?;
    let (before, process) = (root.join(own).join("cgroup.procs"), std::process::id().to_string());
    write(&group, &process)?;
    cleanup.push(before.display().to_string(), move || write(&before, &process));
    Ok(())
}

/// Changes the limit of memory of a group, which is given by the file to which its processes are
/// written.
pub(crate) fn change_memory(group: &Path, bytes: u64) -> anyhow::Result<()> {
    for (setting, text) in GroupLimit::Memory(bytes).settings(is_unified_group(group), "") {
        write(&group.with_file_name(setting), &text)?;
    }
    Ok(())
}

/// The bytes of files in memory for which a group is charged.
pub(crate) fn page_cache_bytes(group: &Path) -> anyhow::Result<u64> {
    let name = if is_unified_group(group) { "file " } else { "cache " };
    let path = group.with_file_name("memory.stat");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let bytes = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    bytes.with_context(|| format!("{}: no '{name}'", path.display()))
}

fn is_unified_group(group: &Path) -> bool {
    group.with_file_name("cgroup.controllers").exists()
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| path.display().to_string())
}
