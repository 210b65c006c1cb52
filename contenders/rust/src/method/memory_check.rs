//! Checks that a file fits into memory, before a method that holds all of it reads it.

use super::Fault;
use crate::source::Source;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

/// Refuses a file for which memory has no room twice. Otherwise a control would evict its own pages
/// from the cache.
pub(super) fn check_fits(name: &str, size_bytes: u64) -> Result<(), Fault> {
    /// Determined once, because some methods need the limit in their window, and finding it reads
    /// several folders.
    static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
    let available_bytes = available_memory_bytes()?;
    let limit = LIMIT.get_or_init(group_limit_bytes);
    fits(name, size_bytes, limit.map_or(available_bytes, |limit| limit.min(available_bytes)))
}

/// Refuses a whole file or part in the same way. It is called before the window, because a program
/// knows whether its files fit.
pub(super) fn check_source_fits(name: &str, source: &Source) -> Result<(), Fault> {
    check_fits(name, source.length_in(&source.open()?)? as u64)
}

fn fits(name: &str, size_bytes: u64, available_bytes: u64) -> Result<(), Fault> {
    if size_bytes <= available_bytes / 2 {
        return Ok(());
    }
    Err(Fault::Unavailable(format!(
        "{name}: {size_bytes} bytes are to be held, more than half of the {available_bytes} bytes of memory available"
    )))
}

/// The number of bytes that a control keeps while others read: at most a sixteenth of the available
/// memory, so that several controls fit.
pub(super) fn kept_bytes_max() -> u64 {
    let limit_bytes = group_limit_bytes().unwrap_or(u64::MAX);
    available_memory_bytes().map_or(0, |available| available.min(limit_bytes) / 16)
}

/// Memory that is available without swapping, cached files included.
fn available_memory_bytes() -> io::Result<u64> {
    let table = fs::read_to_string("/proc/meminfo")?;
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| io::Error::other("/proc/meminfo has no MemAvailable"))
}

/// The smallest memory limit of this process's control group and its parents. The kernel kills a
/// process that uses more.
fn group_limit_bytes() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let limits = groups.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, group) = rest.split_once(':')?;
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => return None,
        };
        let folders = Path::new(group.trim_start_matches('/')).ancestors();
        let limit =
            |folder| fs::read_to_string(Path::new(root).join(folder).join(file)).ok()?.trim().parse().ok();
        folders.filter_map(limit).min()
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_would_evict_itself_from_the_cache_is_not_loaded() {
        assert!(fits("copy", 50, 100).is_ok());
        assert!(matches!(fits("copy", 51, 100), Err(Fault::Unavailable(_))));
        assert!(available_memory_bytes().unwrap() > 0);
        assert!(group_limit_bytes().is_none_or(|limit| limit > 0));
    }
}
