//! The search for the fastest of many settings, without reading all of them.
//!
//! The first rung reads a few settings that include every method and every level of every
//! parameter; the second rung adds every level within each method. Then a model of the time over
//! all settings ([`Surface`]) predicts each setting from all readings. The next settings to read
//! are the fastest in draws from the model, so a setting is read the more often, the likelier it is
//! the best (Thompson 1933). The search ends when in nineteen of twenty draws nothing is faster
//! than the leader by more than the difference that does not matter.
//!
//! No input or output: the caller reports how long each setting took, and the search returns which
//! to read next. The result is a choice and not a number. A setting that is chosen because some of
//! its readings were fast is slower than these readings suggest, so the chosen settings are
//! measured again ([`crate::SharedVariance`]).

mod cholesky;
mod surface;

pub use surface::SearchSetting;

use crate::{SeededRandom, count_as_float, median};
use std::collections::BTreeSet;
use surface::{Prediction, Reading, Surface};

/// Readings of each candidate in the exhaustive run that a search replaces.
pub const EXHAUSTIVE_READINGS_PER_CANDIDATE: usize = 10;

/// A search and its fresh readings aim at the number of exhaustive readings divided by this.
const EXHAUSTIVE_DIVISOR: usize = 5;

/// Even the smallest search may take this many readings in addition to one reading of each
/// candidate.
const READINGS_AFTER_FIRST: usize = 24;

/// The second rung, which covers the levels within methods, ends when the first two rungs have
/// taken `readings_max` divided by this.
const COVERING_DIVISOR: usize = 2;

/// No search is decided before this many rungs.
const RUNGS_MIN: u32 = 2;

/// Number of draws from the model after each rung.
const DRAW_COUNT: usize = 200;

/// The largest number of candidates that are drawn together, the likeliest first; the others are
/// too slow to matter.
const DRAWN_CANDIDATES_MAX: usize = 150;

/// A search is decided if another setting is clearly faster than the leader in at most this share
/// of the draws.
const FASTER_SHARE_MAX: f64 = 0.05;

/// When a search ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchRules {
    /// Largest number of readings of candidates, all rungs together.
    pub readings_max: usize,
    /// Number of candidates that are read in each rung after the second.
    pub readings_per_rung: usize,
    /// A relative difference that does not matter: 0.02 for 2 %.
    pub indifference_share: f64,
    /// Seed of the random draws.
    pub seed: u64,
}

/// A search in progress; the caller identifies each candidate by a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Search<N> {
    rules: SearchRules,
    numbers: Vec<N>,
    settings: Vec<SearchSetting>,
    has_failed: Vec<bool>,
    readings: Vec<Reading>,
    rung: u32,
    /// The candidates to read in this rung.
    rung_candidates: Vec<usize>,
    /// The predicted logarithm of each candidate's time, from all closed rungs.
    predicted_logs: Vec<Prediction>,
    /// The predicted time of each candidate relative to the leader's.
    ratios_to_leader: Vec<PredictedRatio>,
    is_decided: bool,
}

/// The predicted time of a candidate relative to that of the leader.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedRatio {
    pub ratio: f64,
    /// The interval that holds the ratio in 95 of 100 cases according to the model.
    pub ci95: [f64; 2],
    /// The relative error with which the model predicts a reading from all others, root mean
    /// square.
    pub model_error: f64,
}

impl PredictedRatio {
    fn new(predicted: Prediction, model_error: f64) -> PredictedRatio {
        let Prediction { mean, sd } = predicted;
        PredictedRatio {
            ratio: mean.exp(),
            ci95: [mean - 1.96 * sd, mean + 1.96 * sd].map(f64::exp),
            model_error,
        }
    }
}

/// What the readings of the first two rungs cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coverage {
    /// Every method, and every level of every parameter.
    Levels,
    /// Every level within each method that has it.
    WithinMethods,
}

impl SearchRules {
    /// The rules for this number of candidates, with `fresh_readings` afterwards: together they aim
    /// at a fifth of the exhaustive readings. A space too small for this aim still gets one reading
    /// of each candidate, and some more.
    pub fn for_candidates(candidates: usize, fresh_readings: usize, seed: u64) -> SearchRules {
        let aim = (candidates * EXHAUSTIVE_READINGS_PER_CANDIDATE / EXHAUSTIVE_DIVISOR)
            .saturating_sub(fresh_readings);
        let readings_max = aim.max(candidates + READINGS_AFTER_FIRST);
        SearchRules { readings_max, readings_per_rung: 8, indifference_share: 0.02, seed }
    }
}

impl<N: Copy + PartialEq> Search<N> {
    pub fn new(candidates: impl IntoIterator<Item = (N, SearchSetting)>, rules: SearchRules) -> Search<N> {
        let (numbers, settings): (Vec<N>, Vec<SearchSetting>) = candidates.into_iter().unzip();
        let left = choose_covering_settings(&settings, &[], Coverage::Levels, settings.len(), rules.seed);
        Search {
            rules,
            has_failed: vec![false; numbers.len()],
            numbers,
            settings,
            readings: Vec::new(),
            rung: 0,
            rung_candidates: left,
            predicted_logs: Vec::new(),
            ratios_to_leader: Vec::new(),
            is_decided: false,
        }
    }

    /// The current rung, from 0.
    pub fn rung(&self) -> u32 {
        self.rung
    }

    /// The candidates to read once in this rung.
    pub fn remaining_candidates(&self) -> Vec<N> {
        self.rung_candidates.iter().filter(|&&at| !self.has_failed[at]).map(|&at| self.numbers[at]).collect()
    }

    /// Whether no further rung is needed or allowed.
    pub fn is_over(&self) -> bool {
        let able = self.has_failed.iter().filter(|failed| !**failed).count();
        let too_many = self.readings.len() + self.remaining_candidates().len() > self.rules.readings_max;
        able <= 1 || self.is_decided || too_many || self.remaining_candidates().is_empty()
    }

    /// Number of readings of all candidates so far.
    pub fn reading_count(&self) -> usize {
        self.readings.len()
    }

    /// Limits the search to this many further readings, because the time is short.
    pub fn limit_further_readings(&mut self, readings: usize) {
        self.rules.readings_max = self.rules.readings_max.min(self.readings.len() + readings);
    }

    /// Adds the reading of a candidate in this rung; for a turn with several readings, their
    /// median.
    pub fn add_reading(&mut self, number: N, wall_ns: f64) {
        if let Some(setting) = self.position_of(number) {
            // A window of zero nanoseconds counts as one nanosecond.
            self.readings.push(Reading { setting, rung: self.rung, log: wall_ns.max(1.0).ln() });
        }
    }

    /// Eliminates a candidate that cannot be read.
    pub fn fail(&mut self, number: N) {
        if let Some(at) = self.position_of(number) {
            self.has_failed[at] = true;
        }
    }

    /// Ends a rung: chooses the next candidates from all readings.
    pub fn close_rung(&mut self) {
        self.rung += 1;
        let Some(surface) = Surface::fit(&self.settings, &self.readings) else {
            // Nothing could be read, so all other candidates are tried.
            self.rung_candidates = (0..self.numbers.len()).filter(|&at| !self.has_failed[at]).collect();
            return;
        };
        let predicted: Vec<Prediction> = (0..self.numbers.len()).map(|at| surface.predict(at)).collect();
        let mut likely: Vec<usize> = (0..predicted.len()).filter(|&at| !self.has_failed[at]).collect();
        let lowest = |at: usize| predicted[at].mean - 2.0 * predicted[at].sd;
        likely.sort_by(|&a, &b| lowest(a).total_cmp(&lowest(b)));
        likely.truncate(DRAWN_CANDIDATES_MAX);
        let seed = self.rules.seed.wrapping_add(u64::from(self.rung));
        let mut noise = SeededRandom::new(seed);
        let mut draws = surface.draws(&likely, DRAW_COUNT, &mut noise);
        noise.shuffle(&mut draws);
        let best = best_first(&self.readings, &self.has_failed, &predicted).first().copied();
        let error = surface.error.exp() - 1.0;
        let behind = |leader| {
            surface.ratios_to_leader(leader).into_iter().map(|it| PredictedRatio::new(it, error)).collect()
        };
        self.ratios_to_leader = best.map(behind).unwrap_or_default();
        self.predicted_logs = predicted;
        let leader = best.and_then(|best| likely.iter().position(|&at| at == best));
        let fastest = draws.iter().map(|draw| index_of_fastest(draw)).collect::<Vec<usize>>();
        // A search is not decided after the first rung, where a single disturbed reading could
        // decide.
        self.is_decided = self.rung >= RUNGS_MIN
            && leader.is_some_and(|leader| {
                let faster = |(draw, fastest): &(&Vec<f64>, &usize)| {
                    draw[leader] - draw[**fastest] > self.rules.indifference_share.ln_1p()
                };
                let doubted = draws.iter().zip(&fastest).filter(faster).count();
                count_as_float(doubted) <= FASTER_SHARE_MAX * count_as_float(draws.len())
            });
        let readings =
            self.rules.readings_per_rung.min(self.rules.readings_max.saturating_sub(self.readings.len()));
        let mut next = Vec::new();
        for at in fastest.into_iter().map(|at| likely[at]).chain(likely.iter().copied()) {
            if next.len() < readings && !next.contains(&at) {
                next.push(at);
            }
        }
        self.rung_candidates = self.second_rung_candidates().unwrap_or(next);
    }

    /// The candidates that cover the levels within each method that the first rung left out, up to
    /// half of all readings; `None` if this is not the second rung, or no level was left out.
    fn second_rung_candidates(&self) -> Option<Vec<usize>> {
        let read: Vec<usize> = self.readings.iter().map(|reading| reading.setting).collect();
        let most = (self.rules.readings_max / COVERING_DIVISOR).saturating_sub(read.len());
        let others =
            choose_covering_settings(&self.settings, &read, Coverage::WithinMethods, most, self.rules.seed);
        (self.rung == 1 && !others.is_empty()).then_some(others)
    }

    /// Every candidate that was read, in the order of the model's predictions; before the first
    /// rung is closed, in the order of the readings.
    pub fn best_first(&self) -> Vec<N> {
        let order = best_first(&self.readings, &self.has_failed, &self.predicted_logs);
        order.into_iter().map(|at| self.numbers[at]).collect()
    }

    /// The prediction for a candidate, from the readings of all closed rungs.
    pub fn ratio_to_leader(&self, number: N) -> Option<PredictedRatio> {
        self.ratios_to_leader.get(self.position_of(number)?).copied()
    }

    fn position_of(&self, number: N) -> Option<usize> {
        self.numbers.iter().position(|it| *it == number)
    }
}

/// Indices of the candidates that were read, the fastest first. A single candidate needs no
/// reading.
fn best_first(readings: &[Reading], failed: &[bool], predicted: &[Prediction]) -> Vec<usize> {
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

fn index_of_fastest(draw: &[f64]) -> usize {
    draw.iter().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(at, _)| at)
}

/// Chooses further settings beside those in `read`: repeatedly the setting with the most new
/// levels, until every method and every level of every parameter is covered (`Coverage::Levels`),
/// or every level within each method (`Coverage::WithinMethods`).
fn choose_covering_settings(
    settings: &[SearchSetting],
    read: &[usize],
    until: Coverage,
    most: usize,
    seed: u64,
) -> Vec<usize> {
    let mut left: Vec<usize> = (0..settings.len()).filter(|at| !read.contains(at)).collect();
    SeededRandom::new(seed).shuffle(&mut left);
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
