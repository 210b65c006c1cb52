//! Bytes that the next layer reads for a contender: what a program behind a FUSE file system has
//! fetched from devices, and what an NFS server has sent.
//!
//! Looked at right before and right after a turn. Both count for everybody who uses that layer at
//! the time, not for one contender. A layer that cannot be counted is a reason, never 0.

use crate::target::layers::{self, Layer, LayerKind};
use std::fs;
use std::path::Path;

/// What can be counted of the layer below a target's file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextLayer {
    /// `read_bytes` of a process.
    Program {
        /// The process.
        pid: u32,
    },
    /// `serverreadbytes` of the mounts of an NFS export.
    Nfs {
        /// What is mounted.
        source: String,
    },
    /// A layer with a cache that counts nothing that can be seen.
    Uncounted {
        /// Its name.
        name: String,
    },
}

/// `NFS server bytes`, the fifth number behind `bytes:` in /proc/self/mountstats: normal read,
/// normal written, direct read, direct written, server read, server written, pages read, pages
/// written.
const SERVER_READ: usize = 4;

impl NextLayer {
    /// Of a chain; `None` where nothing in it has bytes of its own to count.
    #[must_use]
    pub fn of(chain: &[Layer]) -> Option<NextLayer> {
        if let Some(pid) = layers::process(chain) {
            return Some(NextLayer::Program { pid });
        }
        let at = chain.iter().position(|it| matches!(it.kind, LayerKind::Program | LayerKind::Server))?;
        let name = chain[at].name.clone();
        let is_nfs = at > 0 && chain[at - 1].name == "nfs";
        Some(if is_nfs { NextLayer::Nfs { source: name } } else { NextLayer::Uncounted { name } })
    }

    /// What it has read until now.
    ///
    /// # Errors
    /// Why that cannot be told, in words.
    pub fn read_bytes(&self) -> Result<u64, String> {
        let text =
            |path: &str| fs::read_to_string(Path::new(path)).map_err(|cause| format!("{path}: {cause}"));
        match self {
            NextLayer::Program { pid } => {
                let path = format!("/proc/{pid}/io");
                of_io(&text(&path)?).ok_or_else(|| format!("{path} has no read_bytes on this kernel"))
            }
            NextLayer::Nfs { source } => {
                let path = "/proc/self/mountstats";
                of_mountstats(&text(path)?, source)
                    .ok_or_else(|| format!("{path} counts no bytes of {source}"))
            }
            NextLayer::Uncounted { name } => Err(format!("{name} counts nothing that can be seen from here")),
        }
    }
}

/// What /proc/PID/io says was fetched from devices.
fn of_io(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("read_bytes:"))?.trim().parse().ok()
}

/// What /proc/self/mountstats says the server of this export has sent, over all its mounts.
fn of_mountstats(text: &str, source: &str) -> Option<u64> {
    let (mut is_it, mut sum) = (false, None);
    for line in text.lines() {
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix("device ") {
            is_it = rest.split_once(" mounted on ").is_some_and(|(device, _)| device == source);
        } else if let Some(numbers) = line.strip_prefix("bytes:").filter(|_| is_it) {
            let bytes: u64 = numbers.split_whitespace().nth(SERVER_READ)?.parse().ok()?;
            sum = Some(sum.unwrap_or(0) + bytes);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTSTATS: &str = "\
device rootfs mounted on / with fstype rootfs
device nas:/export mounted on /mnt/a b with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2
\tage:\t100
\tbytes:\t1 2 3 4 5000 6 7 8
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
device nas:/other mounted on /mnt/other with fstype nfs4 statvers=1.1
\tbytes:\t1 2 3 4 70 6 7 8
device nas:/export mounted on /mnt/again with fstype nfs4 statvers=1.1
\tbytes:\t0 0 0 0 11 0 0 0
";

    #[test]
    fn bytes_of_a_server_are_those_of_all_mounts_of_its_export() {
        assert_eq!(of_mountstats(MOUNTSTATS, "nas:/export"), Some(5011));
        assert_eq!(of_mountstats(MOUNTSTATS, "nas:/other"), Some(70));
        assert_eq!(of_mountstats(MOUNTSTATS, "rootfs"), None);
        assert_eq!(of_mountstats("device a mounted on /\n\tbytes:\t1 2\n", "a"), None);
        assert_eq!(of_mountstats("", "a"), None);
    }

    #[test]
    fn bytes_of_a_program_are_those_that_came_from_devices() {
        assert_eq!(of_io("rchar: 7\nread_bytes: 4096\nwrite_bytes: 1\n"), Some(4096));
        assert_eq!(of_io("rchar: 7\n"), None);
        let own = NextLayer::Program { pid: std::process::id() };
        assert!(own.read_bytes().is_ok());
        assert!(NextLayer::Program { pid: u32::MAX }.read_bytes().unwrap_err().contains("/io"));
    }

    #[test]
    fn what_is_counted_follows_from_the_chain() {
        let chain = |text: &str| serde_json::from_str::<Vec<Layer>>(text).unwrap();
        let plain = chain(r#"[{"kind":"filesystem","name":"ext4"},{"kind":"device","name":"vda"}]"#);
        assert_eq!(NextLayer::of(&plain), None);
        let served = |filesystem: &str, process: &str| {
            let below = format!(r#"{{"kind":"server","name":"nas:/x"{process}}}"#);
            chain(&format!(r#"[{{"kind":"filesystem","name":"{filesystem}"}},{below}]"#))
        };
        let nfs = NextLayer::Nfs { source: "nas:/x".to_owned() };
        assert_eq!(NextLayer::of(&served("nfs", "")), Some(nfs));
        let cifs = NextLayer::of(&served("cifs", "")).unwrap();
        assert!(cifs.read_bytes().unwrap_err().starts_with("nas:/x counts nothing"));
        let program = served("fuse", r#","process":12"#);
        assert_eq!(NextLayer::of(&program), Some(NextLayer::Program { pid: 12 }));
    }
}
