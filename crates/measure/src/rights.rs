//! Which meters work here, for this user on this kernel, and why others do not. Probing changes
//! nothing.

use super::counts;
use readlab_system::memory_group::MemoryGroups;
use readlab_system::{page_cache, process};

/// Whether readlab may do each thing that it can make use of; the error gives the reason in one
/// line.
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
    /// Make control groups that bound memory.
    pub bound_memory: Result<(), String>,
    /// Count the cached pages of a file in one call.
    pub residency_count: Result<(), String>,
    /// See other users' processes.
    pub see_others: Result<(), String>,
}

impl Rights {
    pub fn probe() -> Rights {
        Rights {
            syscalls: counts::can_count_syscalls(),
            mallocs: counts::can_count_mallocs(),
            peak_reset: process::may_reset_peak(),
            device_reads: process::may_count_device_reads(),
            drop_caches: may_drop_caches(),
            bound_memory: MemoryGroups::find().map(drop).map_err(|error| error.to_string()),
            residency_count: page_cache::can_count(),
            see_others: process::may_see_others(),
        }
    }
}

pub fn may_drop_caches() -> Result<(), String> {
    page_cache::may_evict_machine()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_missing_right_has_its_reason() {
        let rights = Rights::probe();
        assert_eq!(rights.peak_reset, Ok(()), "a user may always reset the peak of an own process");
        assert_eq!(rights.device_reads, Ok(()));
        for right in [
            rights.syscalls,
            rights.mallocs,
            rights.drop_caches,
            rights.bound_memory,
            rights.residency_count,
            rights.see_others,
        ] {
            assert!(right.is_ok() || right.is_err_and(|why| why.len() > 10 && !why.contains('\n')));
        }
    }
}
