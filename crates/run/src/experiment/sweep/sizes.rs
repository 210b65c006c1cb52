//! The sizes of the files of a sweep: `10kB,1MB` is a list, `10kB..2GB` a range in steps of 1, 2
//! and 5.

use readlab_model::units::Bytes;
use std::str::FromStr;

/// Sizes in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes(pub Vec<u64>);

/// Fourteen sizes from 10 kB to 2 GB, decimal, as many and as far as the published experiment's.
pub const PUBLISHED: [u64; 14] = [
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    5_000_000,
    10_000_000,
    50_000_000,
    100_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
];

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Sizes, String> {
        let mut sizes = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let size = |text: &str| text.parse::<Bytes>().map_err(|error| error.to_string());
            match part.split_once("..") {
                None => sizes.push(size(part)?.0),
                Some((first, last)) => sizes.extend(steps(size(first)?.0, size(last)?.0)),
            }
        }
        if sizes.is_empty() {
            return Err(format!("'{text}' names no size, such as 10kB,1MB or 10kB..2GB"));
        }
        Ok(Sizes(sizes))
    }
}

/// The numbers 1, 2 and 5 times a power of ten from `first` to `last`, and both ends.
fn steps(first: u64, last: u64) -> Vec<u64> {
    let powers = (0..20).map(|power| 10_u64.pow(power));
    let round = powers.flat_map(|power| [1, 2, 5].map(|step| power.saturating_mul(step)));
    let mut sizes: Vec<u64> =
        round.filter(|size| (first..=last).contains(size)).chain([first, last]).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Vec<u64> {
        text.parse::<Sizes>().unwrap().0
    }

    #[test]
    fn lists_and_ranges_may_be_mixed() {
        assert_eq!(sizes("10kB,1MiB"), [10_000, 1_048_576]);
        assert_eq!(sizes("10kB..100kB"), [10_000, 20_000, 50_000, 100_000]);
        assert_eq!(sizes("3..30,7"), [3, 5, 10, 20, 30, 7]);
        assert_eq!(sizes("0..2"), [0, 1, 2]);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", ",", "x", "1..x", "1.5"] {
            assert!(text.parse::<Sizes>().is_err(), "{text:?}");
        }
    }
}
