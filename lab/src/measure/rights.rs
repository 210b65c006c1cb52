//! What metering is possible here, for this user on this kernel, and why not. Looked for without
//! changing anything.

use super::counts;
use std::fs::File;
use std::path::Path;

/// Number of cachestat(2), the same on every architecture.
const SYS_CACHESTAT: libc::c_long = 451;

/// For each thing that the lab would like to do, whether it may; else why not, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rights {
    /// Count system calls of contenders.
    pub syscalls: Result<(), String>,
    /// Count allocations of contenders.
    pub mallocs: Result<(), String>,
    /// Reset the high-water mark of memory.
    pub peak_reset: Result<(), String>,
    /// Read how many bytes came from the device.
    pub device_reads: Result<(), String>,
    /// Empty the page cache of the whole machine.
    pub drop_caches: Result<(), String>,
    /// Ask which pages of a file are cached, with cachestat(2).
    pub cachestat: Result<(), String>,
    /// See other users' processes.
    pub see_others: Result<(), String>,
}

impl Rights {
    /// Finds them out.
    #[must_use]
    pub fn probe() -> Rights {
        Rights {
            syscalls: counts::can_count_syscalls(),
            mallocs: counts::can_count_mallocs(),
            peak_reset: may_write("/proc/self/clear_refs"),
            device_reads: may_read("/proc/self/io"),
            drop_caches: drop_caches(),
            cachestat: cachestat(),
            see_others: see_others(),
        }
    }
}

/// Whether the page cache of the whole machine may be emptied.
///
/// # Errors
/// If it may not, with the file and the cause.
pub fn drop_caches() -> Result<(), String> {
    may_write("/proc/sys/vm/drop_caches")
}

/// Opening changes nothing; only a write would.
fn may_write(path: &str) -> Result<(), String> {
    File::options().write(true).open(path).map(drop).map_err(|cause| format!("{path}: {cause}"))
}

fn may_read(path: &str) -> Result<(), String> {
    std::fs::read(path).map(drop).map_err(|cause| format!("{path}: {cause}"))
}

/// A kernel that knows the call complains of the descriptor, before it looks at anything else.
fn cachestat() -> Result<(), String> {
    let nothing = std::ptr::null::<u8>();
    // SAFETY: with a descriptor that is never open the kernel reads and writes no memory of ours.
    let answer = unsafe { libc::syscall(SYS_CACHESTAT, -1, nothing, nothing, 0) };
    let cause = std::io::Error::last_os_error();
    match cause.raw_os_error() {
        _ if answer == 0 => Ok(()),
        Some(libc::EBADF) => Ok(()),
        Some(libc::ENOSYS) => Err("this kernel has no cachestat (Linux 6.5 and later do)".to_owned()),
        _ => Err(format!("cachestat: {cause}")),
    }
}

/// The first process is everybody's, and root's.
fn see_others() -> Result<(), String> {
    if Path::new("/proc/1/stat").exists() && std::fs::read("/proc/1/stat").is_ok() {
        return Ok(());
    }
    Err("proc is mounted with hidepid: other users' processes are not seen".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_missing_right_has_its_reason() {
        let rights = Rights::probe();
        assert_eq!(rights.peak_reset, Ok(()), "a user may always reset the peak of an own process");
        assert_eq!(rights.device_reads, Ok(()));
        for right in
            [rights.syscalls, rights.mallocs, rights.drop_caches, rights.cachestat, rights.see_others]
        {
            assert!(right.is_ok() || right.is_err_and(|why| why.len() > 10 && !why.contains('\n')));
        }
        let refused = may_write("/proc/self/no-such-file").unwrap_err();
        assert!(refused.starts_with("/proc/self/no-such-file: "), "{refused}");
    }
}
