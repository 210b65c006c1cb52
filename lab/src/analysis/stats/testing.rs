//! Noise for the tests of the statistics, from a fixed seed.

use crate::record::Sample;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

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
}

/// A sample of which only the wall time and its place are known.
pub(crate) fn sample(fill: u32, round: u32, wall_ns: u64) -> Sample {
    Sample { fill, round, turn_readings: 1, wall_ns, ..Sample::default() }
}
