//! Bytes that a layer below a file system has read: a process, from devices; an NFS server, for the
//! mounts of one export.

use super::process::process_io_bytes;
use std::fs;

/// `NFS server bytes`, the fifth number behind `bytes:` in /proc/self/mountstats: normal read,
/// normal written, direct read, direct written, server read, server written, pages read, pages
/// written.
const SERVER_READ: usize = 4;

/// Bytes that a process has fetched from devices.
///
/// # Errors
/// Why they are not known, in one line.
pub fn read_by_process(pid: u32) -> Result<u64, String> {
    process_io_bytes(pid).map(|bytes| bytes.from_devices).map_err(|cause| cause.to_string())
}

/// Bytes that the server of an NFS export has sent, over all its mounts here.
///
/// # Errors
/// Why they are not known, in one line.
pub fn sent_by_nfs_server(source: &str) -> Result<u64, String> {
    let path = "/proc/self/mountstats";
    let text = fs::read_to_string(path).map_err(|cause| format!("{path}: {cause}"))?;
    parse_mountstats(&text, source).ok_or_else(|| format!("{path} counts no bytes of {source}"))
}

/// The sum over the mounts of an export; `None` where it has none that counts.
fn parse_mountstats(text: &str, source: &str) -> Option<u64> {
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
        assert_eq!(parse_mountstats(MOUNTSTATS, "nas:/export"), Some(5011));
        assert_eq!(parse_mountstats(MOUNTSTATS, "nas:/other"), Some(70));
        assert_eq!(parse_mountstats(MOUNTSTATS, "rootfs"), None);
        assert_eq!(parse_mountstats("device a mounted on /\n\tbytes:\t1 2\n", "a"), None);
        assert_eq!(parse_mountstats("", "a"), None);
    }
}
