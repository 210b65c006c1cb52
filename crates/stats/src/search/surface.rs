//! The model of a search: it predicts how long each setting takes, including settings that were
//! never read.
//!
//! The logarithm of the time is a Gaussian process over the settings (Rasmussen & Williams,
//! *Gaussian Processes for Machine Learning*, 2006): settings of one method are correlated, the
//! more the nearer the levels of their parameters are. The covariance is the sum of four effects:
//! of the method, of each parameter across methods, of each parameter within its method, and of all
//! parameters of a method together. So effects are additive, with interactions as far as the
//! readings support them. The size of the effects, the correlation length of levels and the noise
//! of readings are averaged over a grid, weighted by the likelihood of the readings. All readings
//! of one rung share its drift.
//!
//! A reading much slower than all others predict is given a larger variance, so that a single
//! disturbed reading does not rule out a setting and similar ones.

use super::cholesky::Cholesky;
use crate::{SeededRandom, median};

/// A setting as the model sees it: its method, and the level of each parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchSetting {
    /// Index of the method.
    pub method: usize,
    /// The index of each parameter's value among its sorted values; `None` for a parameter that the
    /// method does not have.
    pub levels: Vec<Option<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reading {
    pub setting: usize,
    pub rung: u32,
    /// The logarithm of the time.
    pub log: f64,
}

/// Grid of the standard deviation of settings, in logarithms.
const SPREAD_GRID: [f64; 3] = [0.1, 0.3, 0.9];
/// Grid of the standard deviation of readings of one setting, in logarithms.
const NOISE_GRID: [f64; 4] = [0.01, 0.03, 0.08, 0.2];
/// Grid of the correlation length: at this distance in levels, the correlation of a parameter's
/// effect is 1/e.
const CORRELATION_LENGTHS: [f64; 2] = [2.0, 8.0];
/// Grid of the shares of the variance: of the method, of each parameter in all methods, of each
/// parameter within its method, of all parameters of a method together.
const VARIANCE_SHARES: [[f64; 4]; 2] = [[0.4, 0.3, 0.2, 0.1], [0.3, 0.05, 0.15, 0.5]];
/// The prior variance of the level of all times, in squared logarithms.
const LEVEL_VARIANCE: f64 = 1.0;
/// The prior variance of the drift from rung to rung, in squared logarithms.
const DRIFT_VARIANCE: f64 = 0.03 * 0.03;
/// Readings this many standard deviations above the prediction of all others count as disturbed.
const DISTURBED_DEVIATIONS: f64 = 3.0;
/// Models with less weight than this share of the heaviest are dropped.
const WEIGHT_MIN: f64 = 0.05;
/// A tiny variance on the diagonal, without which nearly equal settings would have no Cholesky
/// factor.
const JITTER: f64 = 1e-8;

/// One combination of variance, correlation length and shares.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Kernel {
    variance: f64,
    correlation_length: f64,
    variance_shares: [f64; 4],
}

impl Kernel {
    fn covariance(&self, a: &SearchSetting, b: &SearchSetting) -> f64 {
        let is_same = a.method == b.method;
        let (mut sum, mut product, mut parameters) = (0.0, 1.0, 0_u32);
        for levels in a.levels.iter().zip(&b.levels) {
            match levels {
                (Some(a), Some(b)) => {
                    let alike = (-crate::count_as_float(a.abs_diff(*b)) / self.correlation_length).exp();
                    sum += alike;
                    product *= alike;
                    parameters += 1;
                }
                (None, None) => {}
                _ => parameters += 1,
            }
        }
        let each = if parameters == 0 { 1.0 } else { sum / f64::from(parameters) };
        let [method, everywhere, within, together] = self.variance_shares;
        let of_method = if is_same { method + within * each + together * product } else { 0.0 };
        LEVEL_VARIANCE + self.variance * (everywhere * each + of_method)
    }
}

/// The model of one kernel and one noise level, fitted to the readings.
#[derive(Debug, Clone)]
struct Fit {
    kernel: Kernel,
    cholesky: Cholesky,
    /// The vector A⁻¹ y.
    alpha: Vec<f64>,
    log_likelihood: f64,
    weight: f64,
}

/// The prediction of the times of all settings from the readings.
#[derive(Debug, Clone)]
pub(super) struct Surface<'a> {
    settings: &'a [SearchSetting],
    readings: &'a [Reading],
    /// The median of the logarithms of all readings.
    centre: f64,
    /// The fitted models with enough weight.
    fits: Vec<Fit>,
    /// The root mean square error of predicting each reading from all others.
    pub(super) error: f64,
}

/// The prediction of a logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prediction {
    pub mean: f64,
    pub sd: f64,
}

impl<'a> Surface<'a> {
    /// Fits the models of the grid to the readings; `None` without readings.
    pub(super) fn fit(settings: &'a [SearchSetting], readings: &'a [Reading]) -> Option<Surface<'a>> {
        let centre = median(readings.iter().map(|reading| reading.log))?;
        let y: Vec<f64> = readings.iter().map(|reading| reading.log - centre).collect();
        let quiet = vec![0.0; y.len()];
        let first = likeliest_fit(&fits(settings, readings, &y, &quiet))?.1;
        let fits = fits(settings, readings, &y, &first.extra_variance);
        let (at, off) = likeliest_fit(&fits)?;
        let error =
            (off.errors.iter().map(|it| it * it).sum::<f64>() / crate::count_as_float(y.len())).sqrt();
        let top = fits[at].log_likelihood;
        let weight = |fit: &Fit| (fit.log_likelihood - top).exp();
        let total: f64 = fits.iter().map(weight).sum();
        let weighed = fits.iter().map(|fit| Fit { weight: weight(fit) / total, ..fit.clone() });
        let heaviest = weight(&fits[at]) / total;
        let fits = weighed.filter(|fit| fit.weight >= WEIGHT_MIN * heaviest).collect();
        Some(Surface { settings, readings, centre, fits, error })
    }

    pub(super) fn predict(&self, setting: usize) -> Prediction {
        let of = &self.settings[setting];
        let apart =
            self.average_over_fits(|_, fit| (fit.kernel.covariance(of, of), self.covariances(fit, setting)));
        Prediction { mean: self.centre + apart.mean, ..apart }
    }

    /// The prediction of each setting's time relative to that of the leader, in logarithms.
    pub(super) fn ratios_to_leader(&self, leader: usize) -> Vec<Prediction> {
        let of_leader: Vec<Vec<f64>> = self.fits.iter().map(|fit| self.covariances(fit, leader)).collect();
        let behind = |setting: usize| {
            let [a, b] = [setting, leader].map(|it| &self.settings[it]);
            self.average_over_fits(|at, fit| {
                let of = |a, b| fit.kernel.covariance(a, b);
                let own = of(a, a) + of(b, b) - 2.0 * of(a, b);
                let covariances = self.covariances(fit, setting);
                (own, covariances.iter().zip(&of_leader[at]).map(|(a, b)| a - b).collect())
            })
        };
        (0..self.settings.len()).map(behind).collect()
    }

    /// The prediction of a quantity, averaged over all models. `of` returns the quantity's prior
    /// variance and its covariance with each reading.
    fn average_over_fits(&self, of: impl Fn(usize, &Fit) -> (f64, Vec<f64>)) -> Prediction {
        let (mut weights, mut mean, mut square) = (0.0, 0.0, 0.0);
        for (at, fit) in self.fits.iter().enumerate() {
            let (own, covariances) = of(at, fit);
            let expected: f64 = covariances.iter().zip(&fit.alpha).map(|(k, a)| k * a).sum();
            let known: f64 = fit.cholesky.forward(&covariances).iter().map(|it| it * it).sum();
            weights += fit.weight;
            mean += fit.weight * expected;
            square += fit.weight * ((own - known).max(0.0) + expected * expected);
        }
        let mean = mean / weights;
        Prediction { mean, sd: (square / weights - mean * mean).max(0.0).sqrt() }
    }

    /// Joint draws of the logarithms of the times of these settings.
    pub(super) fn draws(&self, of: &[usize], count: usize, noise: &mut SeededRandom) -> Vec<Vec<f64>> {
        let weights: f64 = self.fits.iter().map(|fit| fit.weight).sum();
        let mut chosen = vec![0; self.fits.len()];
        for _ in 0..count {
            let mut left = weights * noise.uniform();
            let at = self.fits.iter().position(|fit| {
                left -= fit.weight;
                left < 0.0
            });
            chosen[at.unwrap_or(0)] += 1;
        }
        let some = self.fits.iter().zip(chosen).filter(|(_, draws)| *draws > 0);
        some.flat_map(|(fit, draws)| self.draws_of(fit, of, draws, noise)).collect()
    }

    fn draws_of(&self, fit: &Fit, of: &[usize], count: usize, noise: &mut SeededRandom) -> Vec<Vec<f64>> {
        let covariances: Vec<Vec<f64>> = of.iter().map(|&it| self.covariances(fit, it)).collect();
        let mean = |covariances: &Vec<f64>| -> f64 {
            self.centre + covariances.iter().zip(&fit.alpha).map(|(k, a)| k * a).sum::<f64>()
        };
        let means: Vec<f64> = covariances.iter().map(mean).collect();
        let known: Vec<Vec<f64>> = covariances.iter().map(|it| fit.cholesky.forward(it)).collect();
        let entry = |i: usize, j: usize| {
            let prior = fit.kernel.covariance(&self.settings[of[i]], &self.settings[of[j]]);
            let known: f64 = known[i].iter().zip(&known[j]).map(|(a, b)| a * b).sum();
            prior - known + if i == j { JITTER } else { 0.0 }
        };
        let Some(root) = Cholesky::new(of.len(), entry) else { return vec![means; count] };
        let draw = |_| {
            let normal: Vec<f64> = of.iter().map(|_| noise.normal()).collect();
            root.times(&normal).iter().zip(&means).map(|(apart, mean)| mean + apart).collect()
        };
        (0..count).map(draw).collect()
    }

    fn covariances(&self, fit: &Fit, setting: usize) -> Vec<f64> {
        let setting = &self.settings[setting];
        let covariance = |reading: &Reading| fit.kernel.covariance(setting, &self.settings[reading.setting]);
        self.readings.iter().map(covariance).collect()
    }
}

/// Fits the models of the whole grid. `extra` is the additional variance of each reading.
fn fits(settings: &[SearchSetting], readings: &[Reading], y: &[f64], extra: &[f64]) -> Vec<Fit> {
    let mut fits = Vec::new();
    for (reach, parts) in
        CORRELATION_LENGTHS.iter().flat_map(|reach| VARIANCE_SHARES.iter().map(move |parts| (*reach, *parts)))
    {
        let unit = Kernel { variance: 1.0, correlation_length: reach, variance_shares: parts };
        let of = |i: usize, j: usize| {
            unit.covariance(&settings[readings[i].setting], &settings[readings[j].setting]) - LEVEL_VARIANCE
        };
        let alike: Vec<Vec<f64>> = (0..y.len()).map(|i| (0..=i).map(|j| of(i, j)).collect()).collect();
        for (spread, noise) in
            SPREAD_GRID.iter().flat_map(|spread| NOISE_GRID.iter().map(move |it| (*spread, *it)))
        {
            let kernel =
                Kernel { variance: spread * spread, correlation_length: reach, variance_shares: parts };
            let entry = |i: usize, j: usize| {
                let drift = if readings[i].rung == readings[j].rung { DRIFT_VARIANCE } else { 0.0 };
                let own = if i == j { noise * noise + extra[i] } else { 0.0 };
                LEVEL_VARIANCE + kernel.variance * alike[i][j] + drift + own
            };
            let Some(cholesky) = Cholesky::new(y.len(), entry) else { continue };
            let alpha = cholesky.solve(y);
            let fitted: f64 = y.iter().zip(&alpha).map(|(y, a)| y * a).sum();
            let log_likelihood = -0.5 * (fitted + cholesky.log_determinant());
            fits.push(Fit { kernel, cholesky, alpha, log_likelihood, weight: 0.0 });
        }
    }
    fits
}

struct PredictionErrors {
    errors: Vec<f64>,
    /// The additional variance of each reading, where it is much slower than predicted.
    extra_variance: Vec<f64>,
}

/// The most likely model, with its prediction errors.
fn likeliest_fit(fits: &[Fit]) -> Option<(usize, PredictionErrors)> {
    let (at, fit) =
        fits.iter().enumerate().max_by(|(_, a), (_, b)| a.log_likelihood.total_cmp(&b.log_likelihood))?;
    let size = fit.alpha.len();
    // The inverse of a diagonal element of A⁻¹ is the variance with which the other readings
    // predict a reading.
    let diagonal = |i: usize| {
        let mut unit = vec![0.0; size];
        unit[i] = 1.0;
        fit.cholesky.forward(&unit).iter().map(|it| it * it).sum::<f64>()
    };
    let precisions: Vec<f64> = (0..size).map(diagonal).collect();
    let apart: Vec<f64> = fit.alpha.iter().zip(&precisions).map(|(a, p)| a / p).collect();
    let louder = |(apart, precision): (&f64, &f64)| {
        let bound = (apart / DISTURBED_DEVIATIONS).powi(2);
        if *apart > 0.0 { (bound - 1.0 / precision).max(0.0) } else { 0.0 }
    };
    let extra = apart.iter().zip(&precisions).map(louder).collect();
    Some((at, PredictionErrors { errors: apart, extra_variance: extra }))
}
