//! Random numbers that repeat from their seed on every platform, and simulated noise of readings,
//! as machines and their neighbours cause it. Used by searches and by the simulations of this crate
//! and of the bench.

use crate::observation::Observation;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// A seeded source of random numbers.
#[derive(Debug, Clone)]
pub struct SeededRandom(Xoshiro256PlusPlus);

/// Kinds of noise in the readings of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseKind {
    /// Normal noise of two percent.
    Normal,
    /// Log-normal noise, added to each reading.
    Lognormal,
    /// Exponential noise: a neighbour takes time now and then.
    Exponential,
    /// The machine becomes slower by a tenth over the rounds.
    Drift,
    /// Fills of four rounds differ by five percent, independently for each trial.
    Fills,
    /// One reading in twenty takes three times as long.
    Spikes,
    /// One reading of the reference takes ten times as long.
    Disturbed,
}

const NORMAL_NOISE_SD: f64 = 0.02;
const ROUNDS_PER_FILL: u32 = 4;

impl SeededRandom {
    pub fn new(seed: u64) -> SeededRandom {
        SeededRandom(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A uniform number from 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        self.0.random_range(0.0..1.0)
    }

    /// A standard normal number, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// An exponential number with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Returns `much` with this probability, and otherwise zero.
    pub fn spike_with_probability(&mut self, probability: f64, much: f64) -> f64 {
        if self.uniform() < probability { much } else { 0.0 }
    }

    pub(crate) fn shuffle<T>(&mut self, values: &mut [T]) {
        values.shuffle(&mut self.0);
    }
}

impl NoiseKind {
    pub const ALL: [NoiseKind; 7] = [
        NoiseKind::Normal,
        NoiseKind::Lognormal,
        NoiseKind::Exponential,
        NoiseKind::Drift,
        NoiseKind::Fills,
        NoiseKind::Spikes,
        NoiseKind::Disturbed,
    ];

    /// The true median of the logarithms of readings.
    pub fn median(self) -> f64 {
        match self {
            // The spikes shift the median upwards: 0.95 * Φ(x) = 0.5 at x = 0.066 standard
            // deviations.
            NoiseKind::Spikes => 0.066 * NORMAL_NOISE_SD,
            _ => 0.0,
        }
    }

    /// The logarithms of a trial's readings, one for each round.
    pub fn simulated_logs(self, rounds: u32, noise: &mut SeededRandom) -> Vec<Observation> {
        let mut of_fill = 0.0;
        let mut reading = |round: u32| {
            if round.is_multiple_of(ROUNDS_PER_FILL) {
                of_fill = 0.05 * noise.normal();
            }
            let small = NORMAL_NOISE_SD * noise.normal();
            let value = match self {
                NoiseKind::Normal | NoiseKind::Disturbed => small,
                NoiseKind::Lognormal => (0.03 * noise.normal().exp()).ln_1p() - 0.03_f64.ln_1p(),
                NoiseKind::Exponential => {
                    (0.05 * noise.exponential()).ln_1p() - (0.05 * std::f64::consts::LN_2).ln_1p()
                }
                NoiseKind::Drift => small + 0.1 * ((f64::from(round) + 0.5) / f64::from(rounds) - 0.5),
                NoiseKind::Fills => small + of_fill,
                NoiseKind::Spikes => small + noise.spike_with_probability(0.05, 3_f64.ln()),
            };
            let fill = if self == NoiseKind::Fills { round / ROUNDS_PER_FILL } else { round };
            Observation { value, fill, round }
        };
        (0..rounds).map(&mut reading).collect()
    }

    /// The logarithms of a reference that takes `factor` times as long, and of a trial.
    pub fn simulated_pair_logs(
        self,
        rounds: u32,
        factor: f64,
        noise: &mut SeededRandom,
    ) -> [Vec<Observation>; 2] {
        let (mut reference, trial) = (self.simulated_logs(rounds, noise), self.simulated_logs(rounds, noise));
        if self == NoiseKind::Disturbed {
            reference[0].value += 10_f64.ln();
        }
        reference.iter_mut().for_each(|it| it.value += factor.ln());
        [reference, trial]
    }
}
