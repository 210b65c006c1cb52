//! Noise of simulated readings: what machines and their neighbours do to a reading of one second.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use readlab_model::sample::Sample;

pub(super) struct Noise(Xoshiro256PlusPlus);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// Two percent.
    Normal,
    /// Added on top, of widely different size.
    Lognormal,
    /// A neighbour takes time now and then.
    Exponential,
    /// The machine becomes slower by a tenth.
    Drift,
    /// Fills of four rounds differ by five percent, for each trial in its own way.
    Fills,
    /// One reading in twenty takes three times as long.
    Spikes,
    /// One reading of the reference takes ten times as long.
    Disturbed,
}

pub(super) const ALL: [Cause; 7] = [
    Cause::Normal,
    Cause::Lognormal,
    Cause::Exponential,
    Cause::Drift,
    Cause::Fills,
    Cause::Spikes,
    Cause::Disturbed,
];

const ROUNDS_OF_FILL: u32 = 4;
const SPIKES: f64 = 0.05;

const SMALL: f64 = 0.02;

impl Noise {
    pub(super) fn new(seed: u64) -> Noise {
        Noise(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// From 0 to 1.
    pub(super) fn uniform(&mut self) -> f64 {
        self.0.random_range(0.0..1.0)
    }

    /// Standard normal, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

impl Cause {
    /// The true median of a reading in seconds.
    pub(super) fn median(self) -> f64 {
        match self {
            Cause::Lognormal => 1.03,
            Cause::Exponential => 1.0 + 0.05 * std::f64::consts::LN_2,
            // The share of the small noise that is above it makes up for the spikes: 0.95 * Φ(x) =
            // 0.5 at x = 0.066.
            Cause::Spikes => (0.066 * SMALL).exp(),
            Cause::Normal | Cause::Drift | Cause::Fills | Cause::Disturbed => 1.0,
        }
    }

    /// Readings in seconds, the true one being 1.
    fn seconds(self, rounds: u32, noise: &mut Noise) -> Vec<f64> {
        let mut of_fill = 0.0;
        let mut reading = |round: u32| {
            if round.is_multiple_of(ROUNDS_OF_FILL) {
                of_fill = 0.05 * noise.normal();
            }
            let small = SMALL * noise.normal();
            let place = (f64::from(round) + 0.5) / f64::from(rounds);
            match self {
                Cause::Normal | Cause::Disturbed => small.exp(),
                Cause::Lognormal => 1.0 + 0.03 * noise.normal().exp(),
                Cause::Exponential => 1.0 - 0.05 * (1.0 - noise.uniform()).ln(),
                Cause::Drift => (small + 0.1 * (place - 0.5)).exp(),
                Cause::Fills => (small + of_fill).exp(),
                Cause::Spikes => small.exp() * if noise.uniform() < SPIKES { 3.0 } else { 1.0 },
            }
        };
        (0..rounds).map(&mut reading).collect()
    }

    fn fill(self, round: u32) -> u32 {
        if self == Cause::Fills { round / ROUNDS_OF_FILL } else { round }
    }
}

/// The samples of a reference that takes `factor` times as long, and of a trial.
pub(super) fn trial_pair(
    cause: Cause,
    rounds: u32,
    factor: f64,
    noise: &mut Noise,
) -> (Vec<Sample>, Vec<Sample>) {
    let (mut reference, trial) = (cause.seconds(rounds, noise), cause.seconds(rounds, noise));
    if cause == Cause::Disturbed {
        reference[0] *= 10.0;
    }
    (samples(cause, &reference, factor), samples(cause, &trial, 1.0))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few seconds")]
fn samples(cause: Cause, seconds: &[f64], factor: f64) -> Vec<Sample> {
    let sample = |(&seconds, round): (&f64, u32)| Sample {
        wall_ns: (1e9 * factor * seconds) as u64,
        fill: cause.fill(round),
        round,
        turn_readings: 1,
        ..Sample::default()
    };
    seconds.iter().zip(0..).map(sample).collect()
}
