//! The meters that work for this user on this kernel, and why others do not. Probing changes
//! nothing.

use super::counts;
use readlab_system::memory_group::MemoryGroups;
use readlab_system::{page_cache, process};

/// Whether readlab may do each of these things; an error is the reason why not, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rights {
    /// Count system calls of contenders.
    pub count_syscalls: Result<(), String>,
    /// Count allocations of contenders.
    pub count_mallocs: Result<(), String>,
    /// Reset the high-water mark of memory.
    pub reset_peak_memory: Result<(), String>,
    /// Read how many bytes came from the device.
    pub count_device_reads: Result<(), String>,
    /// Empty the page cache of the whole machine.
    pub drop_caches: Result<(), String>,
    /// Make control groups that bound memory.
    pub bound_memory: Result<(), String>,
    /// Count the cached pages of a file in one call.
    pub count_residency: Result<(), String>,
    /// See other users' processes.
    pub see_other_processes: Result<(), String>,
}

impl Rights {
    pub fn probe() -> Rights {
        Rights {
            count_syscalls: counts::can_count_syscalls(),
            count_mallocs: counts::can_count_mallocs(),
            reset_peak_memory: process::may_reset_peak(),
            count_device_reads: process::may_count_device_reads(),
            drop_caches: may_drop_caches(),
            bound_memory: MemoryGroups::find().map(drop).map_err(|error| error.to_string()),
            count_residency: page_cache::check_cachestat(),
            see_other_processes: process::may_see_processes_of_others(),
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
        assert_eq!(rights.reset_peak_memory, Ok(()), "a user may always reset the peak of an own process");
        assert_eq!(rights.count_device_reads, Ok(()));
        for right in [
            rights.count_syscalls,
            rights.count_mallocs,
            rights.drop_caches,
            rights.bound_memory,
            rights.count_residency,
            rights.see_other_processes,
        ] {
            assert!(right.is_ok() || right.is_err_and(|why| why.len() > 10 && !why.contains('\n')));
        }
    }
}
