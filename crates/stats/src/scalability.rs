//! The Universal Scalability Law (Gunther, *Guerrilla Capacity Planning*, 2007): with N readers the
//! rate is `λN / (1 + σ(N−1) + κN(N−1))`. λ is the rate of one reader; σ, the contention, is the
//! share of work that readers do one after the other; κ, the coherence, is the cost of each pair of
//! readers.
//!
//! `N / rate` is linear in `1`, `N−1` and `N(N−1)`, so the law is fitted by least squares of
//! relative errors, with σ and κ not negative. Intervals come from resampled rounds, which are the
//! independent units. They are centred at the estimate and widened by the ratio of Student's
//! quantile to the normal one, because resamples of few rounds scatter too little. In the
//! resamples, σ and κ may be negative: if the true value of one is zero, resamples that stop at
//! zero scatter too little.

use crate::interval::{Confidence, Interval};
use crate::number::{count_as_float, mean};
use crate::student::student_t;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// With fewer different numbers of readers, three parameters fit any rates closely, so the law
/// proves nothing.
pub const READER_COUNTS_MIN: usize = 5;

/// With fewer rounds, resampled rounds vary too little for an interval.
pub const LAW_ROUNDS_MIN: usize = 5;

/// Number of bootstrap resamples.
const RESAMPLE_COUNT: usize = 500;

/// The weights come from the previous law and are updated this many times. Another update would
/// change no digit that is shown.
const WEIGHT_UPDATES: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalabilityLaw {
    /// The rate λ of one reader, in the unit of the rates.
    pub rate_of_one: f64,
    pub contention: f64,
    pub coherence: f64,
}

/// The law fitted to measured rates, with the laws of resampled rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedLaw {
    pub law: ScalabilityLaw,
    /// The law with a σ and a κ that may be negative, fitted to the same rates.
    law_with_free_parameters: ScalabilityLaw,
    /// The laws of resampled rounds, with a σ and a κ that may be negative.
    resampled_laws: Vec<ScalabilityLaw>,
    widening: f64,
}

impl ScalabilityLaw {
    /// The rate with this number of readers.
    pub fn at(&self, readers: f64) -> f64 {
        let others = readers - 1.0;
        self.rate_of_one * readers / (1.0 + self.contention * others + self.coherence * readers * others)
    }

    /// The law's rate, but at most that of perfect scaling, which a law with negative parameters
    /// may exceed.
    fn rate_at_most_perfect(&self, readers: f64) -> f64 {
        let perfect = self.rate_of_one * readers;
        Some(self.at(readers)).filter(|rate| *rate > 0.0).map_or(perfect, |rate| rate.min(perfect))
    }

    /// The number of readers beyond which the rate falls; `None` if it never falls.
    pub fn peak_readers(&self) -> Option<f64> {
        (self.coherence > 0.0).then(|| ((1.0 - self.contention).max(0.0) / self.coherence).sqrt().max(1.0))
    }

    /// Fits the law to mean rates; `None` if there are too few rates, or one is not positive.
    fn fit(counts: &[f64], rates: &[f64]) -> Option<ScalabilityLaw> {
        let mut weights: Vec<f64> = rates.to_vec();
        let mut found = None;
        for _ in 0..WEIGHT_UPDATES {
            let law = fit_weighted(counts, rates, &weights, ParameterRange::NotNegative)?;
            weights = counts.iter().map(|&count| law.at(count)).collect();
            found = Some(law);
        }
        found
    }

    fn fit_with_free_parameters(
        counts: &[f64],
        rates: &[f64],
        bounded: &ScalabilityLaw,
    ) -> Option<ScalabilityLaw> {
        let weights: Vec<f64> = counts.iter().map(|&count| bounded.at(count)).collect();
        fit_weighted(counts, rates, &weights, ParameterRange::Free)
    }
}

impl FittedLaw {
    /// Fits the law to rates by round and number of readers; all rounds have the same numbers of
    /// readers. `None` with fewer than [`READER_COUNTS_MIN`] numbers or [`LAW_ROUNDS_MIN`] rounds.
    pub fn fit(counts: &[f64], rounds: &[Vec<f64>], seed: u64) -> Option<FittedLaw> {
        if counts.len() < READER_COUNTS_MIN || rounds.len() < LAW_ROUNDS_MIN {
            return None;
        }
        let both = |drawn: &[&Vec<f64>]| {
            let rates = geometric_mean_rates(drawn);
            let law = ScalabilityLaw::fit(counts, &rates)?;
            Some([law, ScalabilityLaw::fit_with_free_parameters(counts, &rates, &law)?])
        };
        let [law, free] = both(&rounds.iter().collect::<Vec<_>>())?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let resampled = (0..RESAMPLE_COUNT).filter_map(|_| {
            let drawn: Vec<_> =
                rounds.iter().map(|_| &rounds[random.random_range(0..rounds.len())]).collect();
            both(&drawn).map(|[_, free]| free)
        });
        let resampled = resampled.collect();
        let freedom = count_as_float(rounds.len()) - 1.0;
        let normal = student_t(1e9, Confidence::REPORTED);
        let widening = student_t(freedom, Confidence::REPORTED) / normal * (1.0 + 1.0 / freedom).sqrt();
        Some(FittedLaw { law, law_with_free_parameters: free, resampled_laws: resampled, widening })
    }

    pub fn rate_interval(&self, readers: f64) -> Interval {
        self.interval_around(|law| law.rate_at_most_perfect(readers).ln()).map(f64::exp)
    }

    pub fn contention_interval(&self) -> Interval {
        self.interval_around(|law| law.contention).map(|value| value.max(0.0))
    }

    pub fn coherence_interval(&self) -> Interval {
        self.interval_around(|law| law.coherence).map(|value| value.max(0.0))
    }

    /// The interval of a property of the law. The interval always holds the fitted law's own value.
    fn interval_around(&self, of: impl Fn(&ScalabilityLaw) -> f64) -> Interval {
        let resampled = Interval::of_resampled(
            self.resampled_laws.iter().map(&of),
            of(&self.law_with_free_parameters),
            self.widening,
        );
        resampled.hull_with(Interval::around(of(&self.law), 0.0))
    }
}

fn geometric_mean_rates(rounds: &[&Vec<f64>]) -> Vec<f64> {
    let logs = |at: usize| rounds.iter().map(|rates| rates[at].ln()).collect::<Vec<f64>>();
    (0..rounds.first().map_or(0, |rates| rates.len())).map(|at| mean(&logs(at)).exp()).collect()
}

/// The allowed range of σ and κ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParameterRange {
    NotNegative,
    Free,
}

/// Which terms of the equation are fitted; the others are zero.
type KeptTerms = [bool; 3];

impl ParameterRange {
    /// The combinations of terms to try. The parameters of terms that are left out are zero.
    fn choices(self) -> &'static [KeptTerms] {
        match self {
            ParameterRange::NotNegative => {
                &[[true, true, true], [true, true, false], [true, false, true], [true, false, false]]
            }
            ParameterRange::Free => &[[true, true, true]],
        }
    }

    fn allow(self, terms: &[f64; 3]) -> bool {
        terms[0] > 0.0 && (self == ParameterRange::Free || terms[1] >= 0.0 && terms[2] >= 0.0)
    }
}

/// The law with the least sum of squares among those whose parameters are allowed.
fn fit_weighted(
    counts: &[f64],
    rates: &[f64],
    weights: &[f64],
    parameters: ParameterRange,
) -> Option<ScalabilityLaw> {
    let rows: Vec<Equation> = counts
        .iter()
        .zip(rates)
        .zip(weights)
        .map(|((&count, rate), weight)| {
            // An error of N/rate, relative to N/rate, is a relative error of the rate.
            let unit = weight / count;
            Equation {
                terms: [unit, unit * (count - 1.0), unit * count * (count - 1.0)],
                value: unit * count / rate,
            }
        })
        .collect();
    let solved = parameters.choices().iter().filter_map(|kept| solve(&rows, *kept));
    let possible = solved.filter(|terms| parameters.allow(terms));
    let squares = |terms: &[f64; 3]| rows.iter().map(|row| row.error(terms).powi(2)).sum::<f64>();
    let best = possible.min_by(|a, b| squares(a).total_cmp(&squares(b)))?;
    Some(ScalabilityLaw {
        rate_of_one: 1.0 / best[0],
        contention: best[1] / best[0],
        coherence: best[2] / best[0],
    })
}

struct Equation {
    terms: [f64; 3],
    value: f64,
}

impl Equation {
    fn error(&self, solution: &[f64; 3]) -> f64 {
        self.value - self.terms.iter().zip(solution).map(|(term, value)| term * value).sum::<f64>()
    }
}

fn solve(rows: &[Equation], kept: KeptTerms) -> Option<[f64; 3]> {
    let mut table = [[0.0; 4]; 3];
    for (across, line) in table.iter_mut().enumerate() {
        for (down, cell) in line.iter_mut().enumerate().take(3) {
            let is_kept = kept[across] && kept[down];
            let sum = || rows.iter().map(|row| row.terms[across] * row.terms[down]).sum::<f64>();
            *cell = if is_kept { sum() } else { f64::from(u8::from(across == down)) };
        }
        let sum = || rows.iter().map(|row| row.terms[across] * row.value).sum::<f64>();
        line[3] = if kept[across] { sum() } else { 0.0 };
    }
    for pivot in 0..3 {
        let line = table[pivot];
        if line[pivot].abs() < f64::MIN_POSITIVE {
            return None;
        }
        for (at, other) in table.iter_mut().enumerate() {
            if at != pivot {
                let share = other[pivot] / line[pivot];
                other.iter_mut().zip(line).for_each(|(cell, of_pivot)| *cell -= share * of_pivot);
            }
        }
    }
    Some([0, 1, 2].map(|at| table[at][3] / table[at][at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fewest_holding_draws;

    const COUNTS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0];

    const TRUE_LAW: ScalabilityLaw = ScalabilityLaw { rate_of_one: 1e9, contention: 0.05, coherence: 0.002 };

    const WITHOUT_CONTENTION: ScalabilityLaw = ScalabilityLaw { contention: 0.0, ..TRUE_LAW };

    const WITHOUT_COHERENCE: ScalabilityLaw = ScalabilityLaw { coherence: 0.0, ..TRUE_LAW };

    /// Rates by round, with a common error of a twentieth for each round and one of a thirtieth for
    /// each rate.
    fn rates_by_round(law: &ScalabilityLaw, count: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut error = |share: f64| 1.0 + share * (random.random::<f64>() - 0.5) * 3.46;
        let mut round = || {
            let common = error(0.05);
            COUNTS.iter().map(|&readers| law.at(readers) * common * error(0.033)).collect()
        };
        (0..count).map(|_| round()).collect()
    }

    #[test]
    fn a_law_is_found_again_from_its_own_rates() {
        for law in [
            TRUE_LAW,
            WITHOUT_CONTENTION,
            WITHOUT_COHERENCE,
            ScalabilityLaw { contention: 0.0, coherence: 0.0, ..TRUE_LAW },
        ] {
            let rates = COUNTS.map(|readers| law.at(readers));
            let found = ScalabilityLaw::fit(&COUNTS, &rates).unwrap();
            assert!((found.rate_of_one / law.rate_of_one - 1.0).abs() < 1e-9, "{found:?}");
            assert!((found.contention - law.contention).abs() < 1e-9, "{found:?}");
            assert!((found.coherence - law.coherence).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn a_rate_that_falls_has_a_peak_and_another_has_none() {
        let peak = TRUE_LAW.peak_readers().unwrap();
        assert!(
            TRUE_LAW.at(peak) > TRUE_LAW.at(peak - 1.0) && TRUE_LAW.at(peak) > TRUE_LAW.at(peak + 1.0),
            "{peak}"
        );
        assert_eq!(WITHOUT_COHERENCE.peak_readers(), None);
    }

    /// Checks that each interval holds the true value in at least `least` simulated experiments.
    fn assert_intervals_hold(law: &ScalabilityLaw, runs: u64, least: u64) {
        let mut held = [0; 4];
        for seed in 0..runs {
            let found = FittedLaw::fit(&COUNTS, &rates_by_round(law, 8, seed), seed).unwrap();
            let holds = [
                found.contention_interval().holds(law.contention),
                found.coherence_interval().holds(law.coherence),
                found.rate_interval(1.0).holds(law.at(1.0)),
                found.rate_interval(32.0).holds(law.at(32.0)),
            ];
            held.iter_mut().zip(holds).for_each(|(held, holds)| *held += u64::from(holds));
        }
        assert!(held.iter().all(|held| *held >= least), "{held:?} of {runs}, at least {least}: {law:?}");
    }

    #[test]
    fn intervals_hold_the_truth() {
        for (law, runs) in [(TRUE_LAW, 200), (WITHOUT_CONTENTION, 50), (WITHOUT_COHERENCE, 50)] {
            assert_intervals_hold(&law, runs, fewest_holding_draws(0.95, runs));
        }
    }

    /// Tests that take up to a second each, with enough experiments to detect a deviation of two
    /// percent.
    mod ring2 {
        use super::*;

        #[test]
        fn intervals_hold_the_truth_in_at_least_93_of_100_simulations() {
            for (law, runs) in [(TRUE_LAW, 2_000), (WITHOUT_CONTENTION, 500), (WITHOUT_COHERENCE, 500)] {
                assert_intervals_hold(&law, runs, runs / 100 * 93);
            }
        }
    }

    #[test]
    fn too_few_numbers_or_rounds_make_no_law() {
        assert!(FittedLaw::fit(&COUNTS[..4], &rates_by_round(&TRUE_LAW, 8, 1), 1).is_none());
        assert!(FittedLaw::fit(&COUNTS, &rates_by_round(&TRUE_LAW, 4, 1), 1).is_none());
    }
}
