//! A limit of bytes per second of one device, for this process and all that it starts, by a control
//! group (version 1), as long as the value lives. Needs root.

use anyhow::Context;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const CONTROLLER: &str = "/sys/fs/cgroup/blkio";

pub(super) struct Throttle {
    group: PathBuf,
    before: PathBuf,
}

impl Throttle {
    /// Throttles the device that holds this file.
    pub(super) fn on(file: &Path, bytes_per_second: u64) -> anyhow::Result<Throttle> {
        let before = own_group()?;
        let group = Path::new(CONTROLLER).join(format!("readlab-bench-{}", std::process::id()));
        fs::create_dir(&group).with_context(|| group.display().to_string())?;
        let throttle = Throttle { group, before };
        let device = fs::metadata(file)?.dev();
        let rule = format!("{}:{} {bytes_per_second}", rustix::fs::major(device), rustix::fs::minor(device));
        write(&throttle.group.join("blkio.throttle.read_bps_device"), &rule)?;
        write(&throttle.group.join("cgroup.procs"), &std::process::id().to_string())?;
        Ok(throttle)
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let back = write(&self.before.join("cgroup.procs"), &std::process::id().to_string());
        if let Err(error) = back.and_then(|()| Ok(fs::remove_dir(&self.group)?)) {
            eprintln!("{}: left behind: {error:#}", self.group.display());
        }
    }
}

/// The group that this process is in.
fn own_group() -> anyhow::Result<PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup")?;
    let line = text.lines().find_map(|line| line.split_once(":blkio:")).context("no blkio controller")?;
    Ok(Path::new(CONTROLLER).join(line.1.trim_start_matches('/')))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| path.display().to_string())
}
