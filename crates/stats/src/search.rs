//! The search for the fastest of many candidates: sequential halving on paired rounds, then the
//! last few until they are clearly different.
//!
//! In every rung each remaining candidate is read once. So any two candidates can be compared pair
//! by pair, and drift of the machine cancels out. Then at least the slower half is eliminated
//! (Karnin, Koren & Somekh, *Almost Optimal Exploration in Multi-Armed Bandits*, 2013); more than
//! half if the remaining readings would not suffice. The finalists are read until the interval of
//! each one's ratio to the leader shows that it is slower, or as good.
//!
//! No input or output: the caller reports how long each candidate took, and the search returns
//! which candidates are read next. Its result is a choice and not a number. A candidate chosen
//! because it was fast in some readings looks faster in them than it is, so the chosen candidates
//! are measured afresh ([`crate::ratio()`]).

use crate::interval::{Confidence, Interval};
use crate::median;
use crate::observation::Observation;
use crate::paired::Paired;
use std::collections::BTreeMap;

/// Readings of each candidate in the exhaustive run that a search replaces.
pub const EXHAUSTIVE_READINGS: usize = 10;

/// The share of the exhaustive readings that a search and its fresh readings aim at: one in so
/// many.
const EXHAUSTIVE_SHARE: usize = 5;

/// Readings beyond one of each candidate that even the smallest search may take.
const READINGS_AFTER_FIRST: usize = 24;

/// When enough has been searched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchRules {
    /// Readings of candidates at most, all rungs together.
    pub readings_max: usize,
    /// So few candidates are finalists: they are not halved but read until they differ clearly.
    pub finalists: usize,
    /// Rungs in which the finalists are read, at most.
    pub finals_max: u32,
    /// A finalist is as good as the leader if the whole interval of their ratio is this close to 1.
    pub close: f64,
    /// Seed of the intervals.
    pub seed: u64,
}

/// A search in progress among candidates that are known by a number each.
#[derive(Debug, Clone, PartialEq)]
pub struct Search<N> {
    rules: SearchRules,
    candidates: Vec<Candidate<N>>,
    rung: u32,
    finals: u32,
    readings: usize,
    is_separated: bool,
}

/// A candidate for the fastest.
#[derive(Debug, Clone, PartialEq)]
struct Candidate<N> {
    number: N,
    /// The logarithm of its time by rung.
    logs: BTreeMap<u32, f64>,
    fate: Fate,
}

/// Whether a candidate is still in the search, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is read in the next rung.
    Remaining,
    /// It was among the slower ones of this rung.
    Slower(u32),
    /// It cannot be read.
    Failed,
}

impl SearchRules {
    /// For this number of candidates, and `fresh_readings` afterwards: together they aim at a fifth
    /// of the exhaustive readings. A space too small for that still gets one reading of each
    /// candidate, and some more.
    pub fn for_candidates(candidates: usize, fresh_readings: usize, seed: u64) -> SearchRules {
        let aim = (candidates * EXHAUSTIVE_READINGS / EXHAUSTIVE_SHARE).saturating_sub(fresh_readings);
        let readings_max = aim.max(candidates + READINGS_AFTER_FIRST);
        SearchRules { readings_max, finalists: 3, finals_max: 12, close: 0.02, seed }
    }
}

impl<N: Copy + PartialEq> Search<N> {
    /// A search in which every candidate is left.
    pub fn new(numbers: impl IntoIterator<Item = N>, rules: SearchRules) -> Search<N> {
        let candidate = |number| Candidate { number, logs: BTreeMap::new(), fate: Fate::Remaining };
        let candidates = numbers.into_iter().map(candidate).collect();
        Search { rules, candidates, rung: 0, finals: 0, readings: 0, is_separated: false }
    }

    /// The current rung, from 0.
    pub fn rung(&self) -> u32 {
        self.rung
    }

    /// The candidates that are read once in this rung.
    pub fn left(&self) -> Vec<N> {
        self.with(Fate::Remaining).map(|candidate| candidate.number).collect()
    }

    /// Whether no further rung is needed, or allowed.
    pub fn is_over(&self) -> bool {
        let left = self.with(Fate::Remaining).count();
        let too_many = self.readings + left > self.rules.readings_max;
        left <= 1 || self.is_separated || self.finals >= self.rules.finals_max || too_many
    }

    /// A candidate was read in this rung; of several readings in a turn, the median.
    pub fn take(&mut self, number: N, wall_ns: f64) {
        let rung = self.rung;
        self.readings += 1;
        if let Some(candidate) = self.candidate(number) {
            // A window of no nanoseconds counts as one.
            candidate.logs.insert(rung, wall_ns.max(1.0).ln());
        }
    }

    /// Eliminates a candidate that cannot be read.
    pub fn fail(&mut self, number: N) {
        if let Some(candidate) = self.candidate(number) {
            candidate.fate = Fate::Failed;
        }
    }

    /// Ends a rung in which every candidate was read: the slower ones are eliminated.
    pub fn close_rung(&mut self) {
        let ranked = self.ranked(Fate::Remaining);
        if ranked.len() > self.rules.finalists {
            // Halving until few candidates are left takes at most twice the readings of the next
            // rung.
            let affordable = self.rules.readings_max.saturating_sub(self.readings) / 2;
            let keep = ranked.len().div_ceil(2).min(affordable).max(self.rules.finalists);
            ranked[keep..].iter().for_each(|&number| self.eliminate(number));
        } else {
            self.finals += 1;
            self.separate(&ranked);
        }
        self.rung += 1;
    }

    /// Every candidate that can be read: those that were eliminated last come first; of those
    /// eliminated in the same rung, the faster first.
    pub fn best_first(&self) -> Vec<N> {
        let mut fates = vec![Fate::Remaining];
        fates.extend((0..self.rung).rev().map(Fate::Slower));
        fates.into_iter().flat_map(|fate| self.ranked(fate)).collect()
    }

    /// Eliminates the finalists that are clearly slower than the leader. The search is over when
    /// the others are as good as the leader.
    fn separate(&mut self, ranked: &[N]) {
        let Some((&leader, others)) = ranked.split_first() else { return };
        self.is_separated = true;
        for &other in others {
            match self.behind(leader, other) {
                Some(ends) if ends.low > 0.0 => self.eliminate(other),
                Some(ends)
                    if ends.high < self.rules.close.ln_1p() && -ends.low < self.rules.close.ln_1p() => {}
                _ => self.is_separated = false,
            }
        }
    }

    /// How much slower one candidate is than another, as the interval of their ratio's logarithm;
    /// `None` with too few rungs.
    fn behind(&self, leader: N, other: N) -> Option<Interval> {
        let (leader, other) = (self.logs(leader)?, self.logs(other)?);
        let pair = |(&rung, log): (&u32, &f64)| {
            Some(Observation { value: log - leader.get(&rung)?, fill: rung, round: rung })
        };
        let pairs: Vec<Observation> = other.iter().filter_map(pair).collect();
        Paired::from_differences(&pairs).interval(Confidence::REPORTED)
    }

    /// The candidates with one fate, the fastest first, by the median over the rungs of each one's
    /// difference from the others. All of them were read in the same rungs. An unfinished rung
    /// counts only if there is no other.
    fn ranked(&self, fate: Fate) -> Vec<N> {
        let group: Vec<&Candidate<N>> = self.with(fate).collect();
        let rungs = if group.iter().all(|candidate| candidate.logs.contains_key(&self.rung)) || self.rung == 0
        {
            self.rung + 1
        } else {
            self.rung
        };
        let centre = |rung: u32| {
            let logs = group.iter().filter_map(|candidate| candidate.logs.get(&rung));
            median(logs.copied()).unwrap_or(f64::NAN)
        };
        let centres: Vec<f64> = (0..rungs).map(centre).collect();
        let mut scored: Vec<(N, f64)> = group
            .iter()
            .map(|candidate| {
                let apart = (0..rungs)
                    .zip(&centres)
                    .filter_map(|(rung, centre)| Some(candidate.logs.get(&rung)? - centre));
                (candidate.number, median(apart).unwrap_or(f64::NAN))
            })
            .collect();
        // A candidate that was not read at all comes last.
        scored.sort_by(|a, b| a.1.is_nan().cmp(&b.1.is_nan()).then(a.1.total_cmp(&b.1)));
        scored.into_iter().map(|(number, _)| number).collect()
    }

    fn with(&self, fate: Fate) -> impl Iterator<Item = &Candidate<N>> {
        self.candidates.iter().filter(move |candidate| candidate.fate == fate)
    }

    fn candidate(&mut self, number: N) -> Option<&mut Candidate<N>> {
        self.candidates.iter_mut().find(|candidate| candidate.number == number)
    }

    fn logs(&self, number: N) -> Option<&BTreeMap<u32, f64>> {
        self.candidates.iter().find(|candidate| candidate.number == number).map(|candidate| &candidate.logs)
    }

    fn eliminate(&mut self, number: N) {
        let fate = Fate::Slower(self.rung);
        if let Some(candidate) = self.candidate(number) {
            candidate.fate = fate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Noise, reading};
    use crate::{Significance, ratio};
    use proptest::prelude::*;

    /// A whole search; `wall_ns` returns the time of a candidate in a rung.
    fn searched(
        candidates: usize,
        rules: SearchRules,
        mut wall_ns: impl FnMut(usize, u32) -> f64,
    ) -> Search<usize> {
        let mut search = Search::new(0..candidates, rules);
        while !search.is_over() {
            for number in search.left() {
                let wall_ns = wall_ns(number, search.rung());
                search.take(number, wall_ns);
            }
            search.close_rung();
        }
        search
    }

    fn rules(candidates: usize) -> SearchRules {
        SearchRules::for_candidates(candidates, 40, 1)
    }

    /// Times that differ as those of buffers from small to large do.
    fn by_number(number: usize, _: u32) -> f64 {
        1e6 * (1.0 + 0.01 * number as f64)
    }

    #[test]
    fn eight_are_halved_to_four_and_then_to_the_finalists() {
        let rules = SearchRules { readings_max: 100, finalists: 2, finals_max: 9, close: 0.02, seed: 1 };
        let mut search = Search::new(0..8, rules);
        let mut left = Vec::new();
        while !search.is_over() {
            left.push(search.left());
            search.left().into_iter().for_each(|number| search.take(number, 100.0 + number as f64));
            search.close_rung();
        }
        // Two finalists after five rungs differ clearly: 100 against 101 in each is no chance.
        assert_eq!(left[..3], [vec![0, 1, 2, 3, 4, 5, 6, 7], vec![0, 1, 2, 3], vec![0, 1]]);
        assert_eq!((left.len(), search.left()), (5, vec![0]));
        assert_eq!(search.best_first(), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn more_than_half_leave_where_the_readings_would_not_last() {
        let rules = SearchRules { readings_max: 130, finalists: 3, finals_max: 9, close: 0.02, seed: 1 };
        let mut search = Search::new(0..100, rules);
        (0..100).for_each(|number| search.take(number, by_number(number, 0)));
        search.close_rung();
        assert_eq!(search.left().len(), 15);
    }

    #[test]
    fn drift_that_a_whole_rung_shares_changes_nothing() {
        let drifting = |number, rung| by_number(number, rung) * [1.0, 3.0, 0.5, 2.0][rung as usize % 4];
        assert_eq!(searched(40, rules(40), drifting).best_first()[0], 0);
    }

    #[test]
    fn one_that_fails_leaves_and_the_others_go_on() {
        let mut search = Search::new(0..5, rules(5));
        search.left().into_iter().for_each(|number| search.take(number, by_number(number, 0)));
        search.fail(0);
        search.close_rung();
        assert_eq!(search.left(), [1, 2, 3]);
        assert!(!search.best_first().contains(&0));
        [1, 2, 3].into_iter().for_each(|number| search.fail(number));
        assert!(search.is_over() && search.left().is_empty());
    }

    #[test]
    fn one_candidate_needs_no_search_and_none_is_no_error() {
        let one = Search::new([7], rules(1));
        assert!(one.is_over());
        assert_eq!(one.best_first(), [7]);
        assert!(Search::<usize>::new([], rules(0)).is_over());
    }

    #[test]
    fn a_rung_that_was_cut_off_counts_only_where_there_is_no_other() {
        let mut search = Search::new(0..4, rules(4));
        search.take(2, 50.0);
        search.take(1, 40.0);
        assert_eq!(search.best_first(), [1, 2, 0, 3], "unread ones come last");
        search.take(0, 30.0);
        search.take(3, 90.0);
        search.close_rung();
        assert_eq!(search.left(), [0, 1, 2]);
        search.take(2, 1.0);
        assert_eq!(search.best_first(), [0, 1, 2, 3]);
    }

    #[test]
    fn the_usual_search_and_its_fresh_readings_take_a_fifth_of_the_exhaustive_ones() {
        for candidates in [70, 120, 250, 1000] {
            let mut noise = Noise::new(3);
            let search = searched(candidates, rules(candidates), |_, _| 1e6 * (0.05 * noise.normal()).exp());
            assert!(search.readings + 40 <= candidates * 2, "{candidates}: {} + 40", search.readings);
        }
    }

    #[test]
    fn noise_of_two_percent_still_leads_to_one_of_the_best() {
        let found = (0..100).filter(|&seed| {
            let mut noise = Noise::new(seed);
            let noisy = |number, rung| by_number(number, rung) * (0.02 * noise.normal()).exp();
            searched(128, rules(128), noisy).best_first()[0] <= 3
        });
        let found = found.count();
        assert!(found >= 95, "within 3 % of the best in {found} of 100 searches");
    }

    #[test]
    fn identical_candidates_are_called_different_in_5_of_100_searches() {
        let different = (0..400_u64).filter(|&seed| {
            let mut noise = Noise::new(seed);
            let mut wall = move |drift: f64| (1e8 * (drift + 0.03 * noise.normal()).exp()) as u64;
            let best = searched(6, rules(6), |_, rung| wall(f64::from(rung)) as f64).best_first();
            assert_ne!(best[0], best[1]);
            let (mut winner, mut second) = (Vec::new(), Vec::new());
            for round in 0..10 {
                let drift = 0.1 * f64::from(round);
                winner.push(reading(round, round, wall(drift)));
                second.push(reading(round, round, wall(drift)));
            }
            ratio(&second, &winner).unwrap().clear() != Some(Significance::Tie)
        });
        let different = different.count();
        assert!(different <= 30, "{different} of 400, chance allows 30");
    }

    proptest! {
        #[test]
        fn it_always_ends_within_its_readings(candidates in 0_usize..300, spread in 0.0..1.0_f64, seed: u64) {
            let mut noise = Noise::new(seed);
            let rules = rules(candidates);
            let search = searched(candidates, rules, |_, _| 1e6 * (spread * noise.normal()).exp());
            prop_assert!(search.readings <= rules.readings_max);
            prop_assert_eq!(search.best_first().len(), candidates);
        }

        #[test]
        fn without_noise_the_best_is_never_dropped(
            walls in prop::collection::vec(1.0..1e9_f64, 1..200),
            finalists in 1_usize..6,
        ) {
            let rules = SearchRules { finalists, ..rules(walls.len()) };
            let search = searched(walls.len(), rules, |number, rung| walls[number] * f64::from(rung + 1));
            let best = walls.iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert_eq!(walls[search.best_first()[0]], best);
        }
    }
}
