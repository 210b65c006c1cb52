//! What the tests of the statistics have in common: noise from a fixed seed, readings, and what
//! chance does to a count.

use crate::Observation;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use statrs::distribution::{Binomial, DiscreteCDF};

/// A source of random numbers.
pub(crate) struct Noise(Xoshiro256PlusPlus);

impl Noise {
    pub(crate) fn new(seed: u64) -> Noise {
        Noise(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// From 0 to 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.random_range(0.0..1.0)
    }

    /// Standard normal, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Exponential, with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// This much with this probability, else nothing.
    pub(crate) fn now_and_then(&mut self, probability: f64, much: f64) -> f64 {
        if self.uniform() < probability { much } else { 0.0 }
    }
}

/// A reading in whole units, such as nanoseconds.
pub(crate) fn reading(fill: u32, round: u32, value: u64) -> Observation {
    Observation { value: value as f64, fill, round }
}

/// The fewest of so many draws that hold if this share of them does in truth: fewer hold by chance
/// in less than one of a thousand simulations.
pub(crate) fn fewest_by_chance(share: f64, draws: u64) -> u64 {
    Binomial::new(share, draws).expect("a share of draws").inverse_cdf(0.001)
}

#[test]
fn the_fewest_by_chance_are_those_of_the_binomial_distribution() {
    // The probabilities were summed as exact fractions.
    assert_eq!([50, 200, 2_000].map(|draws| fewest_by_chance(0.95, draws)), [42, 179, 1_869]);
}
