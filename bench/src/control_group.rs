//! A control group with one limit, of the older hierarchy or the newer. This process enters it, and
//! what it starts is born there; or another process is taken into it. It is removed when dropped.
//! Needs root.

use anyhow::Context;
use readlab_model::units::Bytes;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Of a limit of a processor's time.
const PERIOD_US: u32 = 10_000;

/// What a group limits.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    /// All memory of its processes.
    Memory(Bytes),
    /// Its processes run on the processor of this number alone.
    Processor(u32),
    /// Its processes get so much of a processor's time, in each hundredth of a second.
    ProcessorTime { percent: u32 },
    /// Bytes per second that are read from a device.
    Device { major: u32, minor: u32, bytes_per_s: u64 },
    /// Reads per second of a device.
    DeviceReads { major: u32, minor: u32, reads_per_s: u64 },
}

pub(crate) struct Group {
    folder: PathBuf,
    controller: &'static str,
    /// Where this process was before it entered.
    before: Option<PathBuf>,
}

impl Limit {
    /// So many bytes per second of the device that holds a file.
    pub(crate) fn device_of(file: &Path, bytes_per_s: u64) -> anyhow::Result<Limit> {
        let device = fs::metadata(file).with_context(|| file.display().to_string())?.dev();
        Ok(Limit::Device { major: rustix::fs::major(device), minor: rustix::fs::minor(device), bytes_per_s })
    }

    /// So many reads per second of the device that holds a file.
    pub(crate) fn reads_of(file: &Path, reads_per_s: u64) -> anyhow::Result<Limit> {
        let device = fs::metadata(file).with_context(|| file.display().to_string())?.dev();
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        Ok(Limit::DeviceReads { major, minor, reads_per_s })
    }

    fn controller(self) -> &'static str {
        match self {
            Limit::Memory(_) => "memory",
            Limit::Processor(_) => "cpuset",
            Limit::ProcessorTime { .. } => "cpu",
            Limit::Device { .. } | Limit::DeviceReads { .. } => "blkio",
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
            (Limit::ProcessorTime { percent }, false) => vec![
                ("cpu.cfs_period_us", PERIOD_US.to_string()),
                ("cpu.cfs_quota_us", (PERIOD_US / 100 * percent).to_string()),
            ],
            (Limit::ProcessorTime { percent }, true) => {
                vec![("cpu.max", format!("{} {PERIOD_US}", PERIOD_US / 100 * percent))]
            }
            (Limit::Device { major, minor, bytes_per_s }, false) => {
                vec![("blkio.throttle.read_bps_device", format!("{major}:{minor} {bytes_per_s}"))]
            }
            (Limit::Device { major, minor, bytes_per_s }, true) => {
                vec![("io.max", format!("{major}:{minor} rbps={bytes_per_s}"))]
            }
            (Limit::DeviceReads { major, minor, reads_per_s }, false) => {
                vec![("blkio.throttle.read_iops_device", format!("{major}:{minor} {reads_per_s}"))]
            }
            (Limit::DeviceReads { major, minor, reads_per_s }, true) => {
                vec![("io.max", format!("{major}:{minor} riops={reads_per_s}"))]
            }
        }
    }
}

impl Group {
    pub(crate) fn with(limit: Limit, name: &str) -> anyhow::Result<Group> {
        let (controller, newer) = (limit.controller(), Path::new("/sys/fs/cgroup"));
        let older = newer.join(controller);
        let controllers = fs::read_to_string(newer.join("cgroup.subtree_control")).unwrap_or_default();
        let unified_name = if controller == "blkio" { "io" } else { controller };
        let is_unified = controllers.split_whitespace().any(|it| it == unified_name);
        anyhow::ensure!(is_unified || older.exists(), "no control group limits {controller} here");
        let root = if is_unified { newer } else { &older };
        let folder = root.join(format!("readlab-bench-{}-{name}", std::process::id()));
        fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        let group = Group { folder, controller, before: None };
        for (file, text) in limit.settings(is_unified) {
            write(&group.folder.join(file), &text)?;
        }
        Ok(group)
    }

    /// The same, which this process has entered.
    pub(crate) fn entered(limit: Limit, name: &str) -> anyhow::Result<Group> {
        let mut group = Group::with(limit, name)?;
        let text = fs::read_to_string("/proc/self/cgroup")?;
        let is_its = |line: &&str| {
            let controllers = line.split(':').nth(1).unwrap_or_default();
            controllers.split(',').any(|it| it == group.controller) || line.starts_with("0::")
        };
        let line = text.lines().find(is_its).context("this process is in no such group")?;
        let own = line.splitn(3, ':').nth(2).unwrap_or_default().trim_start_matches('/');
        let root = group.folder.parent().context("a group is in a hierarchy")?;
        group.before = Some(root.join(own));
        group.take(std::process::id())?;
        Ok(group)
    }

    /// Takes a process into it; what that starts later is born there.
    pub(crate) fn take(&self, process: u32) -> anyhow::Result<()> {
        write(&self.processes(), &process.to_string())
    }

    /// The file that takes processes.
    pub(crate) fn processes(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let own = std::process::id().to_string();
        let back = self.before.as_ref().map_or(Ok(()), |before| write(&before.join("cgroup.procs"), &own));
        if let Err(error) = back.and_then(|()| Ok(fs::remove_dir(&self.folder)?)) {
            eprintln!("{}: left behind: {error:#}", self.folder.display());
        }
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| path.display().to_string())
}
