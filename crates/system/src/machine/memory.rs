//! Memory that the page cache can use: the machine's, less what our control group may not use.

use crate::memory::{control_group_limit, total_and_available};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    pub total_bytes: u64,
    /// Memory that can be allocated without swapping.
    pub available_bytes: u64,
    /// Limit of our control group, where it is below all memory. It counts the page cache too.
    pub limit_bytes: Option<u64>,
}

impl Memory {
    /// Reads it; zeros where the system does not say.
    pub fn read() -> Memory {
        let (total_bytes, available_bytes) = total_and_available();
        let limit_bytes = control_group_limit().filter(|&limit| limit < total_bytes);
        Memory { total_bytes, available_bytes, limit_bytes }
    }

    /// The most that can ever be cached: all memory, or the control group's limit.
    pub fn ceiling_bytes(&self) -> u64 {
        self.limit_bytes.unwrap_or(self.total_bytes)
    }

    /// The most that can be cached now: what is available, or the control group's limit if less.
    pub fn available_here_bytes(&self) -> u64 {
        self.available_bytes.min(self.ceiling_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_available_here_is_within_the_ceiling() {
        let memory = Memory::read();
        assert!(memory.available_here_bytes() <= memory.ceiling_bytes());
        assert!(memory.total_bytes > 0 && memory.available_bytes <= memory.total_bytes);
        let limited = Memory { total_bytes: 100, available_bytes: 50, limit_bytes: Some(20) };
        assert_eq!((limited.ceiling_bytes(), limited.available_here_bytes()), (20, 20));
    }
}
