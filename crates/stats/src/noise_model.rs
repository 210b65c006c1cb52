//! Simulated races under 19 kinds of noise, and how often the intervals of their trials hold the
//! true value. Used by the simulations of this crate and of the bench.

use crate::{
    Confidence, Interval, Observation, SeededRandom, SharedVariance, count_as_float, mean_interval, median,
};
use std::collections::BTreeMap;

/// A model of the noise in the logarithms of readings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoiseModel {
    /// Normal noise with this standard deviation.
    Normal(f64),
    /// Normal noise; the logarithms of the trials' standard deviations scatter with this standard
    /// deviation.
    Uneven(f64),
    /// Half of the trials have noise of 0.5 %, half of 15 %.
    TwoKinds,
    /// One trial has noise of 15 %, all others of 0.5 %.
    OneLoud,
    /// Exponential noise: a neighbour takes this share of the reference's time on average.
    Neighbour(f64),
    /// Exponential noise in proportion to each time: a neighbour adds 30 % of the time on average.
    NeighbourInProportion,
    /// One reading in twenty takes three times as long, beside normal noise.
    Spikes(f64),
    /// One reading of the reference takes ten times as long.
    Disturbed,
    /// All trials become slower, by a fifth.
    Drift,
    /// Rounds differ by a tenth, equally for all trials.
    Rounds,
    /// A quarter of the trials, perhaps with the reference, take 40 % longer in three of ten
    /// readings.
    Pauses,
    /// The same pauses, but never in the reference.
    PausesOfOthers,
    /// Noise by Student's t with three degrees of freedom.
    HeavyTails,
    /// Log-normal noise above a minimum time.
    Skewed,
}

/// The relative times of the trials; the first is the reference.
pub(crate) fn factors(trials: usize) -> Vec<f64> {
    [1.0, 1.05, 1.2, 2.0, 16.0].into_iter().cycle().take(trials).collect()
}

/// The times of a simulated race, with their true values.
pub(crate) struct ModelRace {
    pub(crate) trials: Vec<Vec<Observation>>,
    /// The parameter of each trial's noise.
    noise_parameters: Vec<f64>,
    pub(crate) factors: Vec<f64>,
}

impl NoiseModel {
    pub const ALL: [NoiseModel; 19] = [
        NoiseModel::Normal(0.02),
        NoiseModel::Normal(0.1),
        NoiseModel::Uneven(0.3),
        NoiseModel::Uneven(0.7),
        NoiseModel::Uneven(1.0),
        NoiseModel::Neighbour(0.05),
        NoiseModel::Neighbour(0.3),
        NoiseModel::NeighbourInProportion,
        NoiseModel::Spikes(0.02),
        NoiseModel::Spikes(0.1),
        NoiseModel::Disturbed,
        NoiseModel::Drift,
        NoiseModel::Rounds,
        NoiseModel::Pauses,
        NoiseModel::PausesOfOthers,
        NoiseModel::TwoKinds,
        NoiseModel::OneLoud,
        NoiseModel::HeavyTails,
        NoiseModel::Skewed,
    ];

    /// The parameter of each trial's noise: a standard deviation, or 1 for a trial with pauses.
    fn noise_parameters(self, trials: usize, noise: &mut SeededRandom) -> Vec<f64> {
        let sd = |is_loud: bool| if is_loud { 0.15 } else { 0.005 };
        let one = |at: usize, noise: &mut SeededRandom| match self {
            NoiseModel::Uneven(spread) => 0.05 * (spread * noise.normal()).exp(),
            NoiseModel::TwoKinds => sd(noise.uniform() >= 0.5),
            NoiseModel::OneLoud => sd(at + 1 == trials),
            NoiseModel::Pauses | NoiseModel::PausesOfOthers => {
                let is_spared = self == NoiseModel::PausesOfOthers && at == 0;
                f64::from(u8::from(noise.uniform() < 0.25 && !is_spared))
            }
            _ => 0.0,
        };
        (0..trials).map(|at| one(at, noise)).collect()
    }

    /// Whether a trial with this parameter has noise that may not show in a few readings.
    fn may_hide_noise(self, noise_parameter: f64) -> bool {
        match self {
            NoiseModel::OneLoud => noise_parameter > 0.1,
            NoiseModel::Pauses | NoiseModel::PausesOfOthers => noise_parameter > 0.0,
            _ => false,
        }
    }

    /// The noise of one reading of a trial that takes this many times as long as the reference.
    fn draw(self, noise_parameter: f64, factor: f64, noise: &mut SeededRandom) -> f64 {
        let normal = noise.normal();
        match self {
            NoiseModel::Normal(sd) => sd * normal,
            NoiseModel::Uneven(_) | NoiseModel::TwoKinds | NoiseModel::OneLoud => noise_parameter * normal,
            NoiseModel::Neighbour(share) => {
                (factor * (0.01 * normal).exp() + share * noise.exponential()).ln() - factor.ln()
            }
            NoiseModel::NeighbourInProportion => ((0.01 * normal).exp() + 0.3 * noise.exponential()).ln(),
            NoiseModel::Spikes(sd) => sd * normal + noise.spike_with_probability(0.05, 3_f64.ln()),
            NoiseModel::Pauses | NoiseModel::PausesOfOthers => {
                0.02 * normal + noise_parameter * noise.spike_with_probability(0.3, 1.4_f64.ln())
            }
            NoiseModel::HeavyTails => {
                let squares: f64 = (0..3).map(|_| noise.normal().powi(2)).sum();
                0.03 * normal / (squares / 3.0).sqrt()
            }
            NoiseModel::Skewed => (0.1 * normal.exp()).ln_1p() - 0.1_f64.ln_1p(),
            NoiseModel::Disturbed | NoiseModel::Drift | NoiseModel::Rounds => 0.02 * normal,
        }
    }

    pub(crate) fn race(self, factors: Vec<f64>, rounds: usize, noise: &mut SeededRandom) -> ModelRace {
        let trials = factors.len();
        let kinds = self.noise_parameters(trials, noise);
        let of_round: Vec<f64> = (0..rounds)
            .map(|round| match self {
                NoiseModel::Drift => 0.2 * ((count_as_float(round) + 0.5) / count_as_float(rounds) - 0.5),
                NoiseModel::Rounds => 0.1 * noise.normal(),
                _ => 0.0,
            })
            .collect();
        let disturbed = (noise.uniform() * count_as_float(rounds)) as usize;
        let mut trial = |at: usize| -> Vec<Observation> {
            let mut turn = |round: usize| {
                let is_disturbed = self == NoiseModel::Disturbed && at == 0 && round == disturbed;
                let extra = if is_disturbed { 10_f64.ln() } else { 0.0 };
                let log = of_round[round] + self.draw(kinds[at], factors[at], noise) + extra;
                let place = round as u32;
                Observation { value: 1e9 * factors[at] * log.exp(), fill: place, round: place }
            };
            (0..rounds).map(&mut turn).collect()
        };
        let trials = (0..trials).map(&mut trial).collect();
        ModelRace { trials, noise_parameters: kinds, factors }
    }
}

/// The true medians of the noise of one model, estimated once from many draws.
#[derive(Debug, Default)]
pub struct TrueMedians(BTreeMap<[u64; 3], [f64; 2]>);

impl TrueMedians {
    /// The median of a trial's noise, and the median of its difference from the reference's noise.
    pub(crate) fn medians(&mut self, model: NoiseModel, race: &ModelRace, trial: usize) -> [f64; 2] {
        let (kind, of_reference) = (race.noise_parameters[trial], race.noise_parameters[0]);
        // Only the noise of a neighbour depends on how long a trial takes.
        let factor = if matches!(model, NoiseModel::Neighbour(_)) { race.factors[trial] } else { 1.0 };
        let is_symmetric = !matches!(
            model,
            NoiseModel::Neighbour(_)
                | NoiseModel::NeighbourInProportion
                | NoiseModel::Spikes(_)
                | NoiseModel::Pauses
                | NoiseModel::PausesOfOthers
        );
        if is_symmetric {
            return [0.0, 0.0];
        }
        let draw = || {
            let mut noise = SeededRandom::new(99);
            let mut drawn = |kind, factor| -> Vec<f64> {
                (0..100_000).map(|_| model.draw(kind, factor, &mut noise)).collect()
            };
            let (own, reference) = (drawn(kind, factor), drawn(of_reference, 1.0));
            let difference = median(own.iter().zip(&reference).map(|(own, reference)| own - reference));
            [median(own.iter().copied()), difference].map(|it| it.unwrap_or(f64::NAN))
        };
        let key = [kind.to_bits(), of_reference.to_bits(), factor.to_bits()];
        *self.0.entry(key).or_insert_with(draw)
    }
}

/// How often intervals hold the true value, and how wide they are in relation to Student's
/// interval.
#[derive(Debug, Clone, Copy)]
pub struct ModelCoverage {
    /// The share of intervals of ratios that hold the true value.
    pub ratio_held_share: f64,
    /// The share of intervals of locations that hold the true value.
    pub location_held_share: f64,
    /// The median width of ratios' intervals, divided by the median width of Student's intervals.
    pub relative_width: f64,
    /// The share of intervals of ratios that hold the true value, among trials that are loud or
    /// pause; `None` under models without such trials.
    pub loud_ratio_held_share: Option<f64>,
}

/// The number of intervals, and the number of intervals that hold the true value.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HeldCount {
    held_count: usize,
    total_count: usize,
}

impl HeldCount {
    pub(crate) fn add(&mut self, is_held: bool) {
        self.held_count += usize::from(is_held);
        self.total_count += 1;
    }

    pub(crate) fn share(self) -> f64 {
        count_as_float(self.held_count) / count_as_float(self.total_count)
    }
}

impl TrueMedians {
    /// Simulates `races` races under a model. A missing interval counts as an interval that does
    /// not hold the true value.
    pub fn coverage(
        &mut self,
        model: NoiseModel,
        trials: usize,
        rounds: usize,
        races: usize,
    ) -> ModelCoverage {
        let mut noise = SeededRandom::new((1_000 * trials + rounds) as u64);
        let [mut ratios, mut locations, mut of_loud] = [HeldCount::default(); 3];
        let (mut widths, mut students) = (Vec::new(), Vec::new());
        for _ in 0..races {
            let race = model.race(factors(trials), rounds, &mut noise);
            let shared = SharedVariance::new(&race.trials);
            for trial in 1..trials {
                let [of_trial, of_pair] = self.medians(model, &race, trial);
                let log_factor = race.factors[trial].ln();
                let ratio = shared.ratio(0, trial).and_then(|it| it.ci95).map(|it| it.ends.map(f64::ln));
                let is_held = ratio.is_some_and(|ends| ends.holds(log_factor + of_pair));
                ratios.add(is_held);
                if model.may_hide_noise(race.noise_parameters[trial]) {
                    of_loud.add(is_held);
                }
                let location = shared.location(trial).and_then(|it| it.ci95);
                let location = location.map(|it| it.ends.map(|ns| (ns / 1e9).ln()));
                locations.add(location.is_some_and(|ends| ends.holds(log_factor + of_trial)));
                widths.extend(ratio.map(|ends| ends.half_width()));
                let student = student_interval(&race.trials[trial], &race.trials[0]);
                students.extend(student.map(|ends| ends.half_width()));
            }
        }
        let [width, student] = [widths, students].map(|all| median(all).unwrap_or(f64::NAN));
        ModelCoverage {
            ratio_held_share: ratios.share(),
            location_held_share: locations.share(),
            relative_width: width / student,
            loud_ratio_held_share: (of_loud.total_count > 0).then(|| of_loud.share()),
        }
    }
}

/// Student's interval of the differences of two trials.
fn student_interval(one: &[Observation], other: &[Observation]) -> Option<Interval> {
    let differences: Vec<f64> = one.iter().zip(other).map(|(a, b)| (a.value / b.value).ln()).collect();
    mean_interval(&differences, Confidence::REPORTED)
}
