//! How many bytes must have been fetched from below for a reading to count as cold: from a device,
//! over a network, or by all ranks that share a page cache.

/// Ninety-nine in a hundred of what a whole reading fetches: of the rest a part may be in the
/// tables of a file system, which are cached apart from the file.
pub fn least_fetched(bytes: u64) -> u64 {
    bytes - bytes / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundredth_may_be_missing() {
        assert_eq!([0, 1, 99, 100, 101, 1000].map(least_fetched), [0, 1, 99, 99, 100, 990]);
    }
}
