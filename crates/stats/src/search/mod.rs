//! The search for the fastest of many settings, most of which there is no time to read.
//!
//! In the first rung a few settings are read that have every method and every level of every
//! parameter among them, in the second one those with every level of each method. Then a model of
//! the time over all settings ([`Surface`]) predicts each one from all readings, and those are read
//! next that are the fastest in draws from the model: each as often as it is likely to be the best
//! (Thompson 1933). The search is over when in nineteen of twenty draws nothing is faster than the
//! leader by more than the difference that does not matter.
//!
//! No input or output: the caller reports how long each setting took, and the search returns which
//! are read next. Its result is a choice and not a number. A setting chosen because it was fast in
//! some readings looks faster in them than it is, so the chosen ones are measured afresh
//! ([`crate::SharedVariance`]).

mod cholesky;
mod surface;

pub use surface::Setting;

use crate::{Noise, count, median};
use std::collections::BTreeSet;
use surface::{Predicted, Reading, Surface};

/// Readings of each candidate in the exhaustive run that a search replaces.
pub const EXHAUSTIVE_READINGS: usize = 10;

/// The share of the exhaustive readings that a search and its fresh readings aim at: one in so
/// many.
const EXHAUSTIVE_SHARE: usize = 5;

/// Readings beyond one of each candidate that even the smallest search may take.
const READINGS_AFTER_FIRST: usize = 24;

/// The part of all readings that cover levels within methods at most: half.
const COVERING_PART: usize = 2;

/// Rungs before which nothing is decided.
const RUNGS_MIN: u32 = 2;

/// Draws from the model after each rung.
const DRAWS: usize = 200;

/// So many of the likeliest candidates are drawn together; the others are too slow to matter.
const DRAWN: usize = 150;

/// The share of draws in which something may be faster than the leader by more than does not matter.
const DOUBT: f64 = 0.05;

/// When enough has been searched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchRules {
    /// Readings of candidates at most, all rungs together.
    pub readings_max: usize,
    /// Candidates that are read in each rung after the first.
    pub rung_readings: usize,
    /// A difference that does not matter: 0.02 for 2 %.
    pub close: f64,
    /// Seed of the draws.
    pub seed: u64,
}

/// A search in progress among candidates that are known by a number each.
#[derive(Debug, Clone, PartialEq)]
pub struct Search<N> {
    rules: SearchRules,
    numbers: Vec<N>,
    settings: Vec<Setting>,
    failed: Vec<bool>,
    readings: Vec<Reading>,
    rung: u32,
    /// The candidates of this rung.
    left: Vec<usize>,
    /// Of the logarithm of each candidate's time, from all closed rungs.
    predicted: Vec<Predicted>,
    /// The same of each one's time over the leader's.
    behind: Vec<Behind>,
    is_decided: bool,
}

/// What is predicted of a candidate's time over that of the leader.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Behind {
    pub ratio: f64,
    /// Where the model expects the ratio in 95 of 100 cases.
    pub ci95: [f64; 2],
    /// How far a reading is from what all others predict, root mean square, as a share.
    pub model_error: f64,
}

impl Behind {
    fn new(predicted: Predicted, model_error: f64) -> Behind {
        let Predicted { mean, sd } = predicted;
        Behind { ratio: mean.exp(), ci95: [mean - 1.96 * sd, mean + 1.96 * sd].map(f64::exp), model_error }
    }
}

/// What the first readings cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coverage {
    /// Every method, and every level of every parameter.
    Levels,
    /// Every level within each method that has it.
    WithinMethods,
}

impl SearchRules {
    /// For this number of candidates, and `fresh_readings` afterwards: together they aim at a fifth
    /// of the exhaustive readings. A space too small for that still gets one reading of each
    /// candidate, and some more.
    pub fn for_candidates(candidates: usize, fresh_readings: usize, seed: u64) -> SearchRules {
        let aim = (candidates * EXHAUSTIVE_READINGS / EXHAUSTIVE_SHARE).saturating_sub(fresh_readings);
        let readings_max = aim.max(candidates + READINGS_AFTER_FIRST);
        SearchRules { readings_max, rung_readings: 8, close: 0.02, seed }
    }
}

impl<N: Copy + PartialEq> Search<N> {
    pub fn new(candidates: impl IntoIterator<Item = (N, Setting)>, rules: SearchRules) -> Search<N> {
        let (numbers, settings): (Vec<N>, Vec<Setting>) = candidates.into_iter().unzip();
        let left = covering(&settings, &[], Coverage::Levels, settings.len(), rules.seed);
        Search {
            rules,
            failed: vec![false; numbers.len()],
            numbers,
            settings,
            readings: Vec::new(),
            rung: 0,
            left,
            predicted: Vec::new(),
            behind: Vec::new(),
            is_decided: false,
        }
    }

    /// The current rung, from 0.
    pub fn rung(&self) -> u32 {
        self.rung
    }

    /// The candidates that are read once in this rung.
    pub fn left(&self) -> Vec<N> {
        self.left.iter().filter(|&&at| !self.failed[at]).map(|&at| self.numbers[at]).collect()
    }

    /// Whether no further rung is needed, or allowed.
    pub fn is_over(&self) -> bool {
        let able = self.failed.iter().filter(|failed| !**failed).count();
        let too_many = self.readings.len() + self.left().len() > self.rules.readings_max;
        able <= 1 || self.is_decided || too_many || self.left().is_empty()
    }

    /// The readings of all candidates so far.
    pub fn readings(&self) -> usize {
        self.readings.len()
    }

    /// There is time for no more readings than so many.
    pub fn afford(&mut self, readings: usize) {
        self.rules.readings_max = self.rules.readings_max.min(self.readings.len() + readings);
    }

    /// A candidate was read in this rung; of several readings in a turn, the median.
    pub fn take(&mut self, number: N, wall_ns: f64) {
        if let Some(setting) = self.place(number) {
            // A window of no nanoseconds counts as one.
            self.readings.push(Reading { setting, rung: self.rung, log: wall_ns.max(1.0).ln() });
        }
    }

    /// Eliminates a candidate that cannot be read.
    pub fn fail(&mut self, number: N) {
        if let Some(at) = self.place(number) {
            self.failed[at] = true;
        }
    }

    /// Ends a rung: what was read tells what is read next.
    pub fn close_rung(&mut self) {
        self.rung += 1;
        let Some(surface) = Surface::fit(&self.settings, &self.readings) else {
            // Nothing could be read: the others are tried.
            self.left = (0..self.numbers.len()).filter(|&at| !self.failed[at]).collect();
            return;
        };
        let predicted: Vec<Predicted> = (0..self.numbers.len()).map(|at| surface.predict(at)).collect();
        let mut likely: Vec<usize> = (0..predicted.len()).filter(|&at| !self.failed[at]).collect();
        let lowest = |at: usize| predicted[at].mean - 2.0 * predicted[at].sd;
        likely.sort_by(|&a, &b| lowest(a).total_cmp(&lowest(b)));
        likely.truncate(DRAWN);
        let seed = self.rules.seed.wrapping_add(u64::from(self.rung));
        let mut noise = Noise::new(seed);
        let mut draws = surface.draws(&likely, DRAWS, &mut noise);
        noise.shuffle(&mut draws);
        let best = best_first(&self.readings, &self.failed, &predicted).first().copied();
        let error = surface.error.exp() - 1.0;
        let behind = |leader| surface.behind(leader).into_iter().map(|it| Behind::new(it, error)).collect();
        self.behind = best.map(behind).unwrap_or_default();
        self.predicted = predicted;
        let leader = best.and_then(|best| likely.iter().position(|&at| at == best));
        let fastest = draws.iter().map(|draw| fastest_of(draw)).collect::<Vec<usize>>();
        // One loud reading must not decide.
        self.is_decided = self.rung >= RUNGS_MIN
            && leader.is_some_and(|leader| {
                let faster = |(draw, fastest): &(&Vec<f64>, &usize)| {
                    draw[leader] - draw[**fastest] > self.rules.close.ln_1p()
                };
                let doubted = draws.iter().zip(&fastest).filter(faster).count();
                count(doubted) <= DOUBT * count(draws.len())
            });
        let readings =
            self.rules.rung_readings.min(self.rules.readings_max.saturating_sub(self.readings.len()));
        let mut next = Vec::new();
        for at in fastest.into_iter().map(|at| likely[at]).chain(likely.iter().copied()) {
            if next.len() < readings && !next.contains(&at) {
                next.push(at);
            }
        }
        self.left = self.second_rung().unwrap_or(next);
    }

    /// The second rung has the levels within each method that the first left out, as far as half of
    /// all readings goes.
    fn second_rung(&self) -> Option<Vec<usize>> {
        let read: Vec<usize> = self.readings.iter().map(|reading| reading.setting).collect();
        let most = (self.rules.readings_max / COVERING_PART).saturating_sub(read.len());
        let others = covering(&self.settings, &read, Coverage::WithinMethods, most, self.rules.seed);
        (self.rung == 1 && !others.is_empty()).then_some(others)
    }

    /// Every candidate that was read, by what the model says after all readings; before the first
    /// rung is closed, by its reading.
    pub fn best_first(&self) -> Vec<N> {
        let order = best_first(&self.readings, &self.failed, &self.predicted);
        order.into_iter().map(|at| self.numbers[at]).collect()
    }

    /// What is predicted of a candidate, by the readings of all closed rungs.
    pub fn behind(&self, number: N) -> Option<Behind> {
        self.behind.get(self.place(number)?).copied()
    }

    fn place(&self, number: N) -> Option<usize> {
        self.numbers.iter().position(|it| *it == number)
    }
}

/// A single candidate is the best without a reading.
fn best_first(readings: &[Reading], failed: &[bool], predicted: &[Predicted]) -> Vec<usize> {
    let mut read: BTreeSet<usize> = readings.iter().map(|reading| reading.setting).collect();
    if let [_] = failed {
        read.insert(0);
    }
    let mut order: Vec<usize> = read.into_iter().filter(|&at| !failed[at]).collect();
    let own = |at: usize| median(readings.iter().filter(|it| it.setting == at).map(|it| it.log));
    let log = |at: usize| predicted.get(at).map(|it| it.mean).or_else(|| own(at)).unwrap_or(f64::INFINITY);
    order.sort_by(|&a, &b| log(a).total_cmp(&log(b)));
    order
}

fn fastest_of(draw: &[f64]) -> usize {
    draw.iter().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(at, _)| at)
}

/// Further settings after some that are read: again and again the one with most that is new, until
/// every method and every level of every parameter was there (`Coverage::Levels`), or every level
/// within each method (`Coverage::WithinMethods`).
fn covering(settings: &[Setting], read: &[usize], until: Coverage, most: usize, seed: u64) -> Vec<usize> {
    let mut left: Vec<usize> = (0..settings.len()).filter(|at| !read.contains(at)).collect();
    Noise::new(seed).shuffle(&mut left);
    let levels = |at: usize| {
        settings[at].levels.iter().enumerate().filter_map(|(parameter, level)| Some((parameter, (*level)?)))
    };
    let (mut methods, mut seen, mut seen_within) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut chosen, mut next) = (Vec::new(), read.to_vec());
    loop {
        for at in next.drain(..) {
            methods.insert(settings[at].method);
            seen.extend(levels(at));
            seen_within.extend(levels(at).map(|level| (settings[at].method, level)));
        }
        let new = |at: usize| {
            let method = settings[at].method;
            let is_new = usize::from(!methods.contains(&method));
            let levels_new = levels(at).filter(|level| !seen.contains(level)).count();
            let within_new = levels(at).filter(|&level| !seen_within.contains(&(method, level))).count();
            (is_new + levels_new, within_new)
        };
        let is_needed = |(new, _): &((usize, usize), usize)| match until {
            Coverage::Levels => new.0 > 0,
            Coverage::WithinMethods => *new > (0, 0),
        };
        let newest = left.iter().map(|&at| (new(at), at)).filter(is_needed).max_by_key(|(new, _)| *new);
        let Some((_, newest)) = newest.filter(|_| chosen.len() < most) else { return chosen };
        left.retain(|&at| at != newest);
        chosen.push(newest);
        next.push(newest);
    }
}

#[cfg(test)]
mod tests;
