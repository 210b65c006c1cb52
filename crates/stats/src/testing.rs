//! Helpers of the tests of this crate: readings, and bounds on counts that vary by chance.

use crate::Observation;
use statrs::distribution::{Binomial, DiscreteCDF};

/// A reading in whole units, such as nanoseconds.
pub(crate) fn reading(fill: u32, round: u32, value: u64) -> Observation {
    Observation { value: value as f64, fill, round }
}

/// A lower bound on the number of `draws` that hold if each holds with the probability `share`:
/// fewer hold by chance in less than one of a thousand simulations.
pub(crate) fn fewest_holding_draws(share: f64, draws: u64) -> u64 {
    Binomial::new(share, draws).expect("a share of draws").inverse_cdf(0.001)
}

#[test]
fn the_fewest_by_chance_are_those_of_the_binomial_distribution() {
    // The expected values were summed as exact fractions.
    assert_eq!([50, 200, 2_000].map(|draws| fewest_holding_draws(0.95, draws)), [42, 179, 1_869]);
}
