//! How many bytes must be fetched from below (from a device, over a network, or by all ranks that
//! share a page cache) for a reading to count as cold.

/// The fewest bytes that must be fetched for a cold reading of this many bytes: 99 %. The rest may
/// be stored in tables of the file system, which are cached apart from the file.
pub fn min_fetched_bytes(bytes: u64) -> u64 {
    bytes - bytes / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_hundredth_of_the_bytes_may_be_missing() {
        assert_eq!([0, 1, 99, 100, 101, 1000].map(min_fetched_bytes), [0, 1, 99, 99, 100, 990]);
    }
}
