//! The requests of a reading to its server, for its sample.

use std::time::Instant;

/// Number of requests of one reading, and the time of the first byte of the content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Number of requests that were sent; `None` for a reading of a file.
    pub requests: Option<u64>,
    /// The time at which the first byte arrived; `None` without content, and for a file.
    pub first_byte: Option<Instant>,
}

impl Traffic {
    /// The sum of the requests, and the earlier first byte.
    pub fn merge(self, other: Traffic) -> Traffic {
        let requests = [self.requests, other.requests].into_iter().flatten().reduce(|one, two| one + two);
        let first_byte = [self.first_byte, other.first_byte].into_iter().flatten().min();
        Traffic { requests, first_byte }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_add_up_and_the_first_byte_is_the_earliest() {
        let now = Instant::now();
        let one = Traffic { requests: Some(1), first_byte: Some(now) };
        let two = Traffic { requests: Some(2), first_byte: None };
        assert_eq!(one.merge(two), Traffic { requests: Some(3), first_byte: Some(now) });
        assert_eq!(Traffic::default().merge(Traffic::default()), Traffic::default());
    }
}
