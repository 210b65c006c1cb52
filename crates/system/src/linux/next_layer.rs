//! Bytes that a layer below a file system has read or sent: a process, or a server of NFS, Lustre or
//! CephFS; and bytes that the network interfaces have received.

use super::process::{IoBytes, process_io_bytes};
use std::fs;
use std::path::{Path, PathBuf};

/// Position of the bytes read from the server, among the numbers after `bytes:` in
/// /proc/self/mountstats. Reads and writes alternate: normal, direct, server, pages.
const SERVER_READ_POSITION: usize = 4;

/// The statistics of Lustre's object storage clients; newer versions have them in debugfs, which
/// only root can read.
const LUSTRE_STATISTICS: [&str; 2] = ["/proc/fs/lustre/osc", "/sys/kernel/debug/lustre/osc"];

/// The statistics of CephFS clients, which only root can read.
const CEPH_STATISTICS: &str = "/sys/kernel/debug/ceph";

/// Bytes that a process and its reaped children have read and written.
pub fn io_bytes_of_process(pid: u32) -> Result<IoBytes, String> {
    process_io_bytes(pid).map_err(|cause| cause.to_string())
}

/// Bytes that this machine has read from Lustre's object storage, summed over all mounts.
pub fn bytes_read_from_lustre() -> Result<u64, String> {
    let folder = LUSTRE_STATISTICS.iter().map(Path::new).find(|folder| folder.is_dir());
    let folder = folder.ok_or("no count of Lustre's clients is visible (root reads more)")?;
    sum_over_subfolders(folder, "stats", parse_lustre)
}

/// Bytes that this machine has read from CephFS storage, summed over all mounts.
pub fn bytes_read_from_ceph() -> Result<u64, String> {
    sum_over_subfolders(Path::new(CEPH_STATISTICS), "metrics/size", parse_ceph)
}

/// Bytes that all network interfaces have received. The loopback interface is included, because the
/// server may be on this machine. If a process is given, the interfaces of its network namespace
/// count, otherwise those of this process.
pub fn bytes_received_by_interfaces(process: Option<u32>) -> Result<u64, String> {
    let whose = process.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
    let path = format!("/proc/{whose}/net/dev");
    let text = fs::read_to_string(&path).map_err(|cause| format!("{path}: {cause}"))?;
    parse_interfaces(&text).ok_or_else(|| format!("{path} has another form"))
}

/// Adds up the counts that the files of this name have in the subfolders of a folder.
fn sum_over_subfolders(folder: &Path, file: &str, parse: fn(&str) -> Option<u64>) -> Result<u64, String> {
    let entries = fs::read_dir(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
    let files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path().join(file)).collect();
    let texts = files.iter().filter_map(|path| fs::read_to_string(path).ok());
    let counts: Vec<u64> = texts.filter_map(|text| parse(&text)).collect();
    let none = || format!("{}: nothing there counts bytes", folder.display());
    if counts.is_empty() { Err(none()) } else { Ok(counts.iter().sum()) }
}

/// The sum in `read_bytes 57 samples [bytes] 4096 1048576 59768832` (minimum, maximum, sum); 0
/// without this line, which the file lacks before the first read.
fn parse_lustre(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some("read_bytes"));
    line.map_or(Some(0), |line| line.split_whitespace().nth(6)?.parse().ok())
}

/// The last number in the line `read`, whose columns are count, mean, minimum, maximum and sum.
fn parse_ceph(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some("read"))?;
    line.split_whitespace().last()?.parse().ok()
}

/// The sum over all interfaces of the first number after an interface's name.
fn parse_interfaces(text: &str) -> Option<u64> {
    let numbers = text.lines().filter_map(|line| Some(line.split_once(':')?.1));
    let received: Vec<u64> =
        numbers.map(|it| it.split_whitespace().next()?.parse::<u64>().ok()).collect::<Option<_>>()?;
    (!received.is_empty()).then(|| received.iter().sum())
}

/// Bytes that the server of an NFS export has sent, summed over all mounts of the export on this
/// machine.
pub fn bytes_sent_by_nfs_server(source: &str) -> Result<u64, String> {
    let path = "/proc/self/mountstats";
    let text = fs::read_to_string(path).map_err(|cause| format!("{path}: {cause}"))?;
    parse_mountstats(&text, source).ok_or_else(|| format!("{path} counts no bytes of {source}"))
}

/// The sum over the mounts of an export; `None` if no mount has a count.
fn parse_mountstats(text: &str, source: &str) -> Option<u64> {
    let (mut is_it, mut sum) = (false, None);
    for line in text.lines() {
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix("device ") {
            is_it = rest.split_once(" mounted on ").is_some_and(|(device, _)| device == source);
        } else if let Some(numbers) = line.strip_prefix("bytes:").filter(|_| is_it) {
            let bytes: u64 = numbers.split_whitespace().nth(SERVER_READ_POSITION)?.parse().ok()?;
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
    fn the_bytes_of_an_nfs_server_are_summed_over_all_mounts_of_its_export() {
        assert_eq!(parse_mountstats(MOUNTSTATS, "nas:/export"), Some(5011));
        assert_eq!(parse_mountstats(MOUNTSTATS, "nas:/other"), Some(70));
        assert_eq!(parse_mountstats(MOUNTSTATS, "rootfs"), None);
        assert_eq!(parse_mountstats("device a mounted on /\n\tbytes:\t1 2\n", "a"), None);
        assert_eq!(parse_mountstats("", "a"), None);
    }

    #[test]
    fn the_bytes_of_lustre_are_the_sum_in_its_line_of_reads() {
        let stats = "snapshot_time 1 secs.nsecs\nreq_waittime 4 samples [usec] 1 2 3 4\nread_bytes 57 samples [bytes] 4096 1048576 59768832 6\n";
        assert_eq!(parse_lustre(stats), Some(59_768_832));
        assert_eq!(parse_lustre("snapshot_time 1 secs.nsecs\n"), Some(0));
        assert_eq!(parse_lustre("read_bytes none\n"), None);
    }

    #[test]
    fn the_bytes_of_ceph_are_the_total_size_in_its_line_of_reads() {
        let size = "item          total       avg_sz(bytes)   min_sz(bytes)   max_sz(bytes)  total_sz(bytes)\n---\nread          3           2097152         1048576         4194304        6291456\nwrite         0           0               0               0              0\n";
        assert_eq!(parse_ceph(size), Some(6_291_456));
        assert_eq!(parse_ceph("item total\n"), None);
    }

    #[test]
    fn received_bytes_are_summed_over_all_interfaces_of_this_machine() {
        let text =
            "Inter-|   Receive  |  Transmit\n face |bytes packets\n    lo:  100 2 0 0\n  eth0: 25 1 0 0\n";
        assert_eq!(parse_interfaces(text), Some(125));
        assert_eq!(parse_interfaces("face |bytes\n"), None);
        assert!(bytes_received_by_interfaces(None).is_ok());
        assert!(bytes_received_by_interfaces(Some(u32::MAX >> 1)).is_err());
    }

    #[test]
    fn counts_of_several_clients_are_added_and_a_missing_count_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(sum_over_subfolders(folder.path(), "stats", parse_lustre).is_err());
        for (client, bytes) in [("a", 5), ("b", 7)] {
            fs::create_dir(folder.path().join(client)).unwrap();
            let stats = format!("read_bytes 1 samples [bytes] 1 1 {bytes}\n");
            fs::write(folder.path().join(client).join("stats"), stats).unwrap();
        }
        assert_eq!(sum_over_subfolders(folder.path(), "stats", parse_lustre), Ok(12));
    }
}
