//! Bytes that a layer below a file system has read: a process; a server of NFS, Lustre or CephFS;
//! and what the interfaces of the network have received.

use super::process::{IoBytes, process_io_bytes};
use std::fs;
use std::path::{Path, PathBuf};

/// `NFS server bytes`, the fifth number behind `bytes:` in /proc/self/mountstats, where read and
/// written come in turn: normal, direct, server, pages.
const SERVER_READ: usize = 4;

/// Where the clients of Lustre's object storage count: in newer debugfs, which only root reads.
const LUSTRE: [&str; 2] = ["/proc/fs/lustre/osc", "/sys/kernel/debug/lustre/osc"];

/// Where the clients of CephFS count; only root reads it.
const CEPH: &str = "/sys/kernel/debug/ceph";

pub fn read_by_process(pid: u32) -> Result<IoBytes, String> {
    process_io_bytes(pid).map_err(|cause| cause.to_string())
}

/// Bytes that this machine has read from the object storage of Lustre, over all its mounts.
pub fn read_by_lustre() -> Result<u64, String> {
    let folder = LUSTRE.iter().map(Path::new).find(|folder| folder.is_dir());
    let folder = folder.ok_or("no count of Lustre's clients is visible (root reads more)")?;
    sum_of(folder, "stats", parse_lustre)
}

/// Bytes that this machine has read from the storage of CephFS, over all its mounts.
pub fn read_by_ceph() -> Result<u64, String> {
    sum_of(Path::new(CEPH), "metrics/size", parse_ceph)
}

/// Bytes that all interfaces of the network have received, also the loopback one: a server may be
/// here. With a process, those that it sees, which may be in a network of its own.
pub fn received_by_interfaces(process: Option<u32>) -> Result<u64, String> {
    let whose = process.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
    let path = format!("/proc/{whose}/net/dev");
    let text = fs::read_to_string(&path).map_err(|cause| format!("{path}: {cause}"))?;
    parse_interfaces(&text).ok_or_else(|| format!("{path} has another form"))
}

/// The sum over the folders in a folder of what a file in each counts.
fn sum_of(folder: &Path, file: &str, parse: fn(&str) -> Option<u64>) -> Result<u64, String> {
    let entries = fs::read_dir(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
    let files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path().join(file)).collect();
    let texts = files.iter().filter_map(|path| fs::read_to_string(path).ok());
    let counts: Vec<u64> = texts.filter_map(|text| parse(&text)).collect();
    let none = || format!("{}: nothing there counts bytes", folder.display());
    if counts.is_empty() { Err(none()) } else { Ok(counts.iter().sum()) }
}

/// `read_bytes 57 samples [bytes] 4096 1048576 59768832`: least, most, sum. No read, no line.
fn parse_lustre(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some("read_bytes"));
    line.map_or(Some(0), |line| line.split_whitespace().nth(6)?.parse().ok())
}

/// The last column of the line of `read`: number, mean, least, most, sum.
fn parse_ceph(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some("read"))?;
    line.split_whitespace().last()?.parse().ok()
}

/// The first number behind each name.
fn parse_interfaces(text: &str) -> Option<u64> {
    let numbers = text.lines().filter_map(|line| Some(line.split_once(':')?.1));
    let received: Vec<u64> =
        numbers.map(|it| it.split_whitespace().next()?.parse::<u64>().ok()).collect::<Option<_>>()?;
    (!received.is_empty()).then(|| received.iter().sum())
}

/// Bytes that the server of an NFS export has sent, over all its mounts here.
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

    #[test]
    fn bytes_of_lustre_are_the_sum_behind_its_reads() {
        let stats = "snapshot_time 1 secs.nsecs\nreq_waittime 4 samples [usec] 1 2 3 4\nread_bytes 57 samples [bytes] 4096 1048576 59768832 6\n";
        assert_eq!(parse_lustre(stats), Some(59_768_832));
        assert_eq!(parse_lustre("snapshot_time 1 secs.nsecs\n"), Some(0));
        assert_eq!(parse_lustre("read_bytes none\n"), None);
    }

    #[test]
    fn bytes_of_ceph_are_the_total_size_of_its_reads() {
        let size = "item          total       avg_sz(bytes)   min_sz(bytes)   max_sz(bytes)  total_sz(bytes)\n---\nread          3           2097152         1048576         4194304        6291456\nwrite         0           0               0               0              0\n";
        assert_eq!(parse_ceph(size), Some(6_291_456));
        assert_eq!(parse_ceph("item total\n"), None);
    }

    #[test]
    fn interfaces_are_summed_and_this_machine_has_some() {
        let text =
            "Inter-|   Receive  |  Transmit\n face |bytes packets\n    lo:  100 2 0 0\n  eth0: 25 1 0 0\n";
        assert_eq!(parse_interfaces(text), Some(125));
        assert_eq!(parse_interfaces("face |bytes\n"), None);
        assert!(received_by_interfaces(None).is_ok());
        assert!(received_by_interfaces(Some(u32::MAX >> 1)).is_err());
    }

    #[test]
    fn what_several_clients_count_is_added_and_one_that_counts_nothing_is_no_zero() {
        let folder = tempfile::tempdir().unwrap();
        assert!(sum_of(folder.path(), "stats", parse_lustre).is_err());
        for (client, bytes) in [("a", 5), ("b", 7)] {
            fs::create_dir(folder.path().join(client)).unwrap();
            let stats = format!("read_bytes 1 samples [bytes] 1 1 {bytes}\n");
            fs::write(folder.path().join(client).join("stats"), stats).unwrap();
        }
        assert_eq!(sum_of(folder.path(), "stats", parse_lustre), Ok(12));
    }
}
