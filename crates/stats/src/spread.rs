//! The noise of each trial, estimated from all trials together: the posterior distribution of the
//! standard deviation of one reading.
//!
//! Three readings say little about their own spread, but 28 trials of three readings say how noisy
//! readings of this machine are. So the spread of each trial is shrunk towards the common one, as
//! the variances of genes are (Smyth, *Linear Models and Empirical Bayes Methods for Assessing
//! Differential Expression in Microarray Experiments*, Statistical Applications in Genetics and
//! Molecular Biology 3, 2004). A few trials may be far noisier than the others, so the prior has a
//! tail towards large spreads (Phipson, Lee, Majewski, Alexander & Smyth, *Robust Hyperparameter
//! Estimation Protects against Hypervariable Genes and Improves Power to Detect Differential
//! Expression*, Annals of Applied Statistics 10, 2016).
//!
//! Smyth's prior is conjugate and has a closed form. It is too narrow where trials are few and
//! differ much (by simulation it holds 90 % instead of 95 %), because it treats the estimated prior
//! as the true one. Here, all distributions are computed on a grid instead. The spread is
//! σ = exp(c + u), where c is the logarithm of the typical spread. With residuals whose sum of
//! squares is S at ν degrees of freedom,
//!
//! - the likelihood is L(u) = σ^−ν exp(−S / 2σ²);
//! - a prior has a centre m and a width τ: p(u) = 0.85 N(u; m, τ²) + 0.15 exp(−(u − m)) [u ≥ m];
//! - the weight of each prior is how well it predicts the residuals of all trials:
//!   q(m, τ) ∝ Π_trials Σ_u p(u) L(u);
//! - the posterior of a trial is w(u) ∝ L(u) Σ_(m, τ) q(m, τ) p(u) / Σ_u p(u) L(u).
//!
//! All logarithms are natural and have no unit: a spread of 0.02 is 2 % of a time.

use crate::interval::Confidence;
use crate::student::normal_quantile;
use crate::{count_as_float, median};
use statrs::function::erf::erfc;
use std::f64::consts::{FRAC_2_SQRT_PI, SQRT_2};
use std::sync::LazyLock;

/// Number of grid values of u, from [`LOWEST_LEVEL`] up to 6.
const LEVEL_COUNT: usize = 45;
const LOWEST_LEVEL: f64 = -5.0;
const LEVEL_STEP: f64 = 0.25;

/// Number of grid values of m, from −3 to 3.
const CENTRE_COUNT: usize = 25;
const LOWEST_CENTRE: f64 = -3.0;

/// Grid values of τ.
const PRIOR_WIDTHS: [f64; 6] = [0.35, 0.5, 0.7, 1.0, 1.4, 2.0];

/// The variance that one level of the grid represents; it is added to τ².
const VARIANCE_OF_LEVEL: f64 = 0.0875 * 0.0875;

/// The share of trials expected in the tail of the prior.
const TAIL_SHARE: f64 = 0.15;

/// The logarithm of the typical spread is half the logarithm of the median of S/ν plus this offset,
/// because the median is below the mean.
const TYPICAL_LOG_OFFSET: f64 = 0.1;

/// Sums of squares are raised to at least this share of the typical sum: a smaller sum is small
/// only by chance.
const SQUARES_SHARE_MIN: f64 = 1e-10;

/// A smaller variance of logarithms is due to rounding: one nanosecond in a quarter of an hour.
const ROUNDING_VARIANCE: f64 = 1e-24;

/// A prior with a smaller weight changes no digit of a result.
const NEGLIGIBLE_WEIGHT: f64 = 1e-15;

/// A level whose weight is a smaller share of the error changes no digit of a reach.
const NEGLIGIBLE_ERROR_SHARE: f64 = 1e-9;

/// Beyond this distance from the centre, in standard deviations divided by √2, the probability
/// counts as zero.
const ZERO_PROBABILITY_BEYOND: f64 = 6.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Residuals {
    /// Sum of the squared deviations of the residuals from their mean.
    pub(crate) sum_of_squares: f64,
    /// Degrees of freedom: the number of residuals minus one, at least one.
    pub(crate) freedom: f64,
}

/// The posterior distribution of the standard deviation of one reading of a trial.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spread {
    /// The logarithm c of the typical spread of all trials.
    log_typical: f64,
    /// The probability of each level of the grid.
    weights: [f64; LEVEL_COUNT],
}

/// The parts of the computation that do not depend on residuals.
struct Grid {
    levels: [f64; LEVEL_COUNT],
    /// The values of exp(−2u).
    precisions: [f64; LEVEL_COUNT],
    /// The prior distributions; each adds up to one.
    priors: Vec<[f64; LEVEL_COUNT]>,
}

static GRID: LazyLock<Grid> = LazyLock::new(Grid::new);

impl Grid {
    fn new() -> Grid {
        let levels = std::array::from_fn(|at| LOWEST_LEVEL + LEVEL_STEP * count_as_float(at));
        let centres = (0..CENTRE_COUNT).map(|at| LOWEST_CENTRE + LEVEL_STEP * count_as_float(at));
        let priors =
            centres.flat_map(|centre| PRIOR_WIDTHS.iter().map(move |width| prior(&levels, centre, *width)));
        Grid { levels, precisions: levels.map(|level| (-2.0 * level).exp()), priors: priors.collect() }
    }
}

fn prior(levels: &[f64; LEVEL_COUNT], centre: f64, width: f64) -> [f64; LEVEL_COUNT] {
    let variance = width * width + VARIANCE_OF_LEVEL;
    let normal = scaled_to_one(levels.map(|level| (-0.5 * (level - centre).powi(2) / variance).exp()));
    // All values are multiples of a power of two, so that equal levels compare as equal.
    let tail = scaled_to_one(levels.map(|level| if level >= centre { (centre - level).exp() } else { 0.0 }));
    std::array::from_fn(|at| (1.0 - TAIL_SHARE) * normal[at] + TAIL_SHARE * tail[at])
}

fn scaled_to_one(mut weights: [f64; LEVEL_COUNT]) -> [f64; LEVEL_COUNT] {
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

pub(crate) fn spreads(trials: &[Residuals]) -> Vec<Spread> {
    let grid = &*GRID;
    let trials = with_floor(trials);
    let Some(log_typical) = median(trials.iter().map(|it| it.sum_of_squares / it.freedom)) else {
        return Vec::new();
    };
    let log_typical = 0.5 * log_typical.ln() + TYPICAL_LOG_OFFSET;
    let likelihoods: Vec<_> = trials.iter().map(|it| likelihood(grid, it, log_typical)).collect();
    let predicted: Vec<Vec<f64>> =
        likelihoods.iter().map(|it| grid.priors.iter().map(|prior| dot(prior, it)).collect()).collect();
    let share_of_prior = shares_of_priors(grid, &predicted);
    let posterior = |(likelihood, predicted): (&[f64; LEVEL_COUNT], &Vec<f64>)| {
        let mut mixed = [0.0; LEVEL_COUNT];
        for ((prior, share), predicted) in grid.priors.iter().zip(&share_of_prior).zip(predicted) {
            if *share > NEGLIGIBLE_WEIGHT {
                mixed.iter_mut().zip(prior).for_each(|(sum, prior)| *sum += share / predicted * prior);
            }
        }
        let weights = scaled_to_one(std::array::from_fn(|at| likelihood[at] * mixed[at]));
        Spread { log_typical, weights }
    };
    likelihoods.iter().zip(&predicted).map(posterior).collect()
}

/// Raises residuals that are all zero, as with a coarse clock, to a small positive sum of squares.
fn with_floor(trials: &[Residuals]) -> Vec<Residuals> {
    let is_more_than_rounding = |it: &&Residuals| it.sum_of_squares > it.freedom * ROUNDING_VARIANCE;
    let typical = median(trials.iter().filter(is_more_than_rounding).map(|it| it.sum_of_squares));
    let smallest = SQUARES_SHARE_MIN * typical.unwrap_or_default();
    let floored = |it: &Residuals| {
        let squares = it.sum_of_squares.max(smallest).max(it.freedom * ROUNDING_VARIANCE);
        Residuals { sum_of_squares: squares, ..*it }
    };
    trials.iter().map(floored).collect()
}

/// The likelihood L, scaled to a maximum of one.
fn likelihood(grid: &Grid, trial: &Residuals, log_typical: f64) -> [f64; LEVEL_COUNT] {
    let half = 0.5 * trial.sum_of_squares * (-2.0 * log_typical).exp();
    let logs: [f64; LEVEL_COUNT] =
        std::array::from_fn(|at| -trial.freedom * grid.levels[at] - half * grid.precisions[at]);
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logs.map(|log| (log - most).exp())
}

/// The weight q of each prior, from its prediction of each trial.
fn shares_of_priors(grid: &Grid, predicted: &[Vec<f64>]) -> Vec<f64> {
    let log = |prior: usize| predicted.iter().map(|it| it[prior].ln()).sum::<f64>();
    let logs: Vec<f64> = (0..grid.priors.len()).map(log).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

fn dot(one: &[f64; LEVEL_COUNT], other: &[f64; LEVEL_COUNT]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

impl Spread {
    /// The standard deviation of one reading: the geometric mean over the posterior distribution.
    pub(crate) fn reading_sd(&self) -> f64 {
        (self.log_typical + dot(&self.weights, &GRID.levels)).exp()
    }

    /// The reach η: how far one reading may be from the true value at this confidence. It solves
    /// Σ_u w(u) 2Φ(−η/σ) = α, where Φ is the normal distribution. A mixture of normal distributions
    /// needs no guess of degrees of freedom.
    pub(crate) fn reach(&self, confidence: Confidence) -> f64 {
        let least = NEGLIGIBLE_ERROR_SHARE * confidence.error_probability();
        let levels = self.weights.iter().zip(GRID.levels).filter(|(weight, _)| **weight > least);
        let levels: Vec<(f64, f64)> = levels.map(|(&weight, level)| (weight, level)).collect();
        let Some((&(_, lowest), &(_, highest))) = levels.first().zip(levels.last()) else { return f64::NAN };
        // Newton's method on logarithms, between the reach of the lowest level and that of the
        // highest; bisection where a step leaves that range.
        let log_normal = normal_quantile(confidence).ln();
        let (mut low, mut high) = (lowest + log_normal, highest + log_normal);
        let mut found = dot(&self.weights, &GRID.levels) + log_normal;
        for _ in 0..STEPS_MAX {
            let (beyond, slope) = probability_beyond(&levels, found);
            if beyond > confidence.error_probability() {
                low = found
            } else {
                high = found
            }
            let newton = found - (beyond / confidence.error_probability()).ln() * beyond / slope;
            let next = if low < newton && newton < high { newton } else { f64::midpoint(low, high) };
            let is_found = (next - found).abs() < LAST_STEP_MAX;
            found = next;
            if is_found {
                break;
            }
        }
        (self.log_typical + found).exp()
    }
}

/// Largest number of steps towards a reach: bisection alone converges in as many.
const STEPS_MAX: usize = 60;

/// The iteration ends after a step of the logarithm that is smaller than this. Each step doubles
/// the number of correct digits.
const LAST_STEP_MAX: f64 = 1e-5;

/// The probability beyond a reach on both sides, and its derivative with respect to the logarithm
/// of the reach.
fn probability_beyond(levels: &[(f64, f64)], log_reach: f64) -> (f64, f64) {
    let (mut beyond, mut slope) = (0.0, 0.0);
    for (weight, level) in levels {
        let deviations = (log_reach - level).exp() / SQRT_2;
        if deviations > ZERO_PROBABILITY_BEYOND {
            continue;
        }
        beyond += weight * erfc(deviations);
        slope -= weight * FRAC_2_SQRT_PI * deviations * (-deviations * deviations).exp();
    }
    (beyond, slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;
    use proptest::prelude::*;

    fn draw_residuals(deviations: &[f64], readings: usize, noise: &mut SeededRandom) -> Vec<Residuals> {
        let trial = |sd: &f64| {
            let values: Vec<f64> = (0..readings).map(|_| sd * noise.normal()).collect();
            let squares = crate::two_way::deviations_from_mean(values).iter().map(|it| it * it).sum();
            Residuals { sum_of_squares: squares, freedom: count_as_float(readings) - 1.0 }
        };
        deviations.iter().map(trial).collect()
    }

    #[test]
    fn priors_are_distributions() {
        assert_eq!(GRID.priors.len(), 150);
        assert_eq!((GRID.levels[0], GRID.levels[LEVEL_COUNT - 1]), (-5.0, 6.0));
        for prior in &GRID.priors {
            assert!((prior.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(prior.iter().all(|weight| *weight > 0.0));
        }
    }

    #[test]
    fn many_readings_of_equal_trials_have_the_spread_of_the_normal_distribution() {
        let residuals = draw_residuals(&[0.02; 30], 40, &mut SeededRandom::new(5));
        for (spread, residuals) in spreads(&residuals).iter().zip(&residuals) {
            // Each trial has nearly its own spread, to half a step of the grid.
            let own = spread.reading_sd() / (residuals.sum_of_squares / residuals.freedom).sqrt();
            assert!((own - 1.0).abs() < LEVEL_STEP / 2.0, "{own}");
            let normal = spread.reach(Confidence::REPORTED) / spread.reading_sd();
            assert!((1.95..2.05).contains(&normal), "{normal}");
        }
    }

    #[test]
    fn a_loud_trial_keeps_its_spread_and_the_silent_ones_keep_theirs() {
        let deviations: Vec<f64> = (0..20).map(|at| if at == 7 { 0.6 } else { 0.02 }).collect();
        let spreads = spreads(&draw_residuals(&deviations, 6, &mut SeededRandom::new(8)));
        for (at, spread) in spreads.iter().enumerate() {
            let of_true = spread.reading_sd() / deviations[at];
            assert!((0.4..1.6).contains(&of_true), "trial {at}: {of_true}");
        }
    }

    #[test]
    fn a_reach_solves_its_equation() {
        let spreads = spreads(&draw_residuals(&[0.01, 0.02, 0.05, 0.3, 0.001], 3, &mut SeededRandom::new(2)));
        for error in [0.05, 0.05 / 7.0, 1e-6] {
            for spread in &spreads {
                let reach = spread.reach(Confidence::with_error(error));
                let levels: Vec<_> = spread.weights.iter().copied().zip(GRID.levels).collect();
                let (beyond, _) = probability_beyond(&levels, reach.ln() - spread.log_typical);
                assert!((beyond / error - 1.0).abs() < 1e-6, "{error}: {beyond}");
            }
        }
    }

    #[test]
    fn trials_without_any_residual_have_a_small_spread_and_a_finite_one() {
        let silent = Residuals { sum_of_squares: 0.0, freedom: 1.0 };
        let reach = |trials: &[Residuals]| spreads(trials)[0].reach(Confidence::REPORTED);
        assert!((1e-13..1e-9).contains(&reach(&[silent; 4])));
        let loud = Residuals { sum_of_squares: 1e-3, freedom: 1.0 };
        assert!((1e-6..1e-2).contains(&reach(&[silent, silent, silent, loud, loud])));
        assert!(spreads(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn a_scale_of_all_residuals_is_a_scale_of_all_reaches(
            squares in prop::collection::vec(1e-8..1.0_f64, 1..12),
            freedom in 1_u8..6,
            factor in 0.01..100.0_f64,
        ) {
            let of = |factor: f64| {
                let trial = |squares: &f64| {
                    Residuals { sum_of_squares: factor * factor * squares, freedom: f64::from(freedom) }
                };
                spreads(&squares.iter().map(trial).collect::<Vec<_>>())
            };
            for (one, scaled) in of(1.0).iter().zip(of(factor)) {
                let (one, scaled) = (one.reach(Confidence::REPORTED), scaled.reach(Confidence::REPORTED));
                prop_assert!((scaled / one / factor - 1.0).abs() < 1e-6, "{} {}", one, scaled);
            }
        }

        #[test]
        fn every_reach_is_finite_and_positive(
            squares in prop::collection::vec(0.0..1e6_f64, 1..40),
            freedom in 1_u16..2_000,
            error in 1e-9..0.5_f64,
        ) {
            let trial = |squares: &f64| Residuals { sum_of_squares: squares.powi(4), freedom: f64::from(freedom) };
            for spread in spreads(&squares.iter().map(trial).collect::<Vec<_>>()) {
                let reach = spread.reach(Confidence::with_error(error));
                prop_assert!(reach.is_finite() && reach > 0.0, "{}", reach);
            }
        }
    }
}
