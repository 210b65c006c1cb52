//! Memory that the page cache can use: the machine's memory, limited by this process's control
//! group.

use crate::memory::{control_group_limit_bytes, total_and_available_bytes};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MachineMemory {
    pub total_bytes: u64,
    /// Memory that can be allocated without swapping.
    pub available_bytes: u64,
    /// Limit of this process's control group, if it is below total memory. The limit includes the
    /// page cache.
    pub limit_bytes: Option<u64>,
}

impl MachineMemory {
    /// Reads the values; zeros if the system does not report them.
    pub fn read() -> MachineMemory {
        let (total_bytes, available_bytes) = total_and_available_bytes();
        let limit_bytes = control_group_limit_bytes().filter(|&limit| limit < total_bytes);
        MachineMemory { total_bytes, available_bytes, limit_bytes }
    }

    /// The most that can ever be cached: total memory, or the limit of the control group.
    pub fn ceiling_bytes(&self) -> u64 {
        self.limit_bytes.unwrap_or(self.total_bytes)
    }

    /// The most that can be cached now: available memory, or the limit of the control group if it
    /// is lower.
    pub fn cacheable_now_bytes(&self) -> u64 {
        self.available_bytes.min(self.ceiling_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_at_most_the_ceiling() {
        let memory = MachineMemory::read();
        assert!(memory.cacheable_now_bytes() <= memory.ceiling_bytes());
        assert!(memory.total_bytes > 0 && memory.available_bytes <= memory.total_bytes);
        let limited = MachineMemory { total_bytes: 100, available_bytes: 50, limit_bytes: Some(20) };
        assert_eq!((limited.ceiling_bytes(), limited.cacheable_now_bytes()), (20, 20));
    }
}
