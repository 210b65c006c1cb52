//! The program that serves a FUSE file system.

use super::file_status::DeviceNumber;
use super::kernel_file::{number_after, read_line};
use super::system_root::SystemRoot;
use std::fs;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuseDaemon {
    pub pid: u32,
    pub name: String,
}

impl FuseDaemon {
    /// The process that serves the file system with this device number; `None` if it is not
    /// visible, as on kernels before 6.17.
    pub fn find(root: &SystemRoot, device: DeviceNumber) -> Option<FuseDaemon> {
        let (major, minor) = (rustix::fs::major(device.0), rustix::fs::minor(device.0));
        FuseDaemon::of_connection(root, u64::from(major) << 20 | u64::from(minor))
    }

    /// The process that has a descriptor of /dev/fuse for this connection.
    fn of_connection(root: &SystemRoot, connection: u64) -> Option<FuseDaemon> {
        let folders = fs::read_dir(root.join("proc")).ok()?.flatten();
        let mut pids = folders.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let pid = pids.find(|pid| serves_connection(root, *pid, connection))?;
        let name = read_line(root.join(format!("proc/{pid}/comm")))?;
        Some(FuseDaemon { pid, name })
    }
}

fn serves_connection(root: &SystemRoot, pid: u32, connection: u64) -> bool {
    let descriptors = fs::read_dir(root.join(format!("proc/{pid}/fdinfo")));
    let paths = descriptors.into_iter().flatten().flatten().map(|descriptor| descriptor.path());
    let mut texts = paths.filter_map(|path| fs::read_to_string(path).ok());
    texts.any(|text| connection_of(&text) == Some(connection))
}

/// The connection in the fdinfo of a descriptor of /dev/fuse (since Linux 6.17).
fn connection_of(fdinfo: &str) -> Option<u64> {
    number_after(fdinfo, "fuse_connection:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fuse_daemon_is_the_process_whose_descriptor_names_the_connection() {
        let folder = tempfile::tempdir().unwrap();
        for (pid, connection) in [(12, "38"), (13, "39")] {
            let process = folder.path().join("proc").join(pid.to_string());
            fs::create_dir_all(process.join("fdinfo")).unwrap();
            fs::write(process.join("fdinfo/0"), "pos:\t0\nflags:\t02\n").unwrap();
            let fuse = format!("pos:\t0\nino:\t90\nfuse_connection:\t{connection}\n");
            fs::write(process.join("fdinfo/4"), fuse).unwrap();
            fs::write(process.join("comm"), format!("fs-{pid}\n")).unwrap();
        }
        let root = SystemRoot::below(folder.path());
        let expected = FuseDaemon { pid: 13, name: "fs-13".to_owned() };
        assert_eq!(FuseDaemon::of_connection(&root, 39), Some(expected));
        assert_eq!(FuseDaemon::of_connection(&root, 3), None);
        assert_eq!(connection_of("fuse_connection: x"), None);
    }
}
