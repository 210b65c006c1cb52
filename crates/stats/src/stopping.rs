//! Finds the trials of a race that get no further rounds because another trial is faster by more
//! than a difference that does not matter: elimination with an indifference zone.
//!
//! Two trials that differ by 1 % could be read for hours until an interval separates them. For a
//! user who wants the fastest, a trial that is at most 10 % slower is as good. With an indifference
//! zone δ, every race ends, and trials may stop after every round: Kim & Nelson, *A Fully
//! Sequential Procedure for Indifference-Zone Selection in Simulation*, ACM Transactions on
//! Modeling and Computer Simulation 11 (2001). A trial t stops after r rounds if for one of the
//! four fastest trials, l,
//!
//! d > max(0, (σ_t² + σ_l²) ln(K / 2α) / (δ r) − δ / 2)
//!
//! where d is the Hodges–Lehmann centre of ln(t / l) within rounds, δ is the logarithm of the ratio
//! that does not matter, α the error, and K the number of trials that may be taken for the fastest
//! by chance. The procedure has K = T − 1 for T trials; three are enough by simulation, because
//! real trials are not all just δ slower. The first stage of the procedure, which estimates
//! variances, is not needed: the variances of all trials together are known after two rounds
//! ([`SharedVariance`]), with σ = λ η / 1.96 at 95 %.
//!
//! Races of two or three trials start to stop trials after five rounds, because so few trials share
//! little noise: after two rounds they would often stop because a spread is small by chance.
//!
//! By simulation (`simulation::stopping`), a wrong trial is left in at most 5 of 100 races, even if
//! all other trials are just δ slower. The guarantee is that the chosen trial is the fastest or at
//! most δ slower. So ranks come from the intervals of the readings, and not from which trials were
//! left: trials as fast as the remaining one are called slower than it no more often than with the
//! interim analyses of [`interim_confidence`].
//!
//! The remaining trial was chosen because its readings were fast, so they overstate its speed. If
//! all trials are equal, the interval of its own ratio to another trial holds the true ratio in 86
//! of 100 races instead of 95; the intervals of the other trials are not affected. A number that is
//! to be quoted needs fresh rounds.

use crate::interim::{QUALIFYING_ROUNDS, interim_confidence};
use crate::interval::Confidence;
use crate::number::count_as_float;
use crate::shared_variance::{DistanceBehind, SharedVariance};

/// The error α: the share of races in which the remaining trial may be a wrong one.
const WRONG_RESULT_ERROR: f64 = 0.05;

/// The largest value of K.
const RIVAL_COUNT_MAX: usize = 3;

/// Each trial is compared with this many of the fastest. Only one of them is truly the fastest, and
/// it need not have the fastest readings so far.
const LEADER_COUNT: usize = 4;

/// Races of at most this many trials share little noise. After two rounds, their trials would often
/// stop, and be called slower, because their spread is small by chance.
const FEW_TRIALS_MAX: usize = 3;

/// Races of few trials stop no trial before this many rounds.
const FEW_TRIALS_ROUNDS_MIN: usize = 5;

/// Up to [`QUALIFYING_ROUNDS`] rounds, a trial also stops if its fastest reading takes this many
/// times as long as the slowest reading of the fastest trial. There is one factor for each of 2, 3,
/// 4 and 5 rounds.
const MARGINS_BY_ROUND_COUNT: [f64; 4] = [2.0, 1.25, 1.1, 1.0];

/// After [`QUALIFYING_ROUNDS`] rounds, one reading of the fastest trial may have been disturbed. A
/// trial then also stops if its fastest reading takes this many times as long as the second slowest
/// reading of the fastest trial.
const MARGIN_OVER_ALL_BUT_ONE: f64 = 1.1;

/// The relative difference of two times that does not matter.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Indifference {
    log: f64,
}

/// A trial that stops, and a faster trial because of which it stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    pub trial: usize,
    pub faster_trial: usize,
}

impl Indifference {
    /// An indifference zone of zero: every difference matters. Then interim analyses at growing
    /// distances decide which trials stop.
    pub const OFF: Indifference = Indifference { log: 0.0 };

    /// A trial that is slower by at most this share is as good as the fastest, for example 0.1. The
    /// share is at most 1.
    pub fn within(share: f64) -> Indifference {
        Indifference { log: share.clamp(0.0, 1.0).ln_1p() }
    }

    pub fn is_off(self) -> bool {
        self.log == 0.0
    }
}

/// The trials among `running` that stop after this round; never all of them. `shared` holds the
/// readings so far of all trials that read the same target, stopped ones included. Without an
/// indifference zone, the interim analyses after 8, 12, 18 and so on rounds decide, each at its own
/// error.
pub fn find_stops(shared: &SharedVariance, running: &[usize], zone: Indifference) -> Vec<Stop> {
    let mut order: Vec<(f64, usize)> =
        running.iter().filter_map(|&trial| Some((shared.centre(trial)?, trial))).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let leaders: Vec<usize> = order.iter().take(LEADER_COUNT).map(|(_, trial)| *trial).collect();
    let Some(&first) = leaders.first() else { return Vec::new() };
    let stop = |&trial: &usize| {
        let is_faster = |&leader: &usize| {
            let is_by_margin = leader == first && is_slower_by_margin(shared, leader, trial);
            trial != leader && (is_by_margin || is_behind(shared, leader, trial, first, zone))
        };
        let faster = *leaders.iter().find(|leader| is_faster(leader))?;
        Some(Stop { trial, faster_trial: faster })
    };
    let mut stops: Vec<Stop> = running.iter().filter_map(stop).collect();
    // Three trials may each be slower than the next, in a circle.
    if stops.len() == running.len() {
        stops.retain(|stop| stop.trial != first);
    }
    stops
}

/// Whether a trial is slower than a leader by more than the noise of both explains and the zone
/// allows.
fn is_behind(shared: &SharedVariance, leader: usize, trial: usize, first: usize, zone: Indifference) -> bool {
    if zone.is_off() {
        return leader == first && is_behind_at_interim(shared, leader, trial);
    }
    let Some(DistanceBehind { centre, sd, unit_count: pairs }) = shared.distance_behind(trial, leader) else {
        return false;
    };
    if shared.sharing_trial_count() <= FEW_TRIALS_MAX && pairs < FEW_TRIALS_ROUNDS_MIN {
        return false;
    }
    let rivals = shared.sharing_trial_count().saturating_sub(1).clamp(1, RIVAL_COUNT_MAX);
    let log_of_error = (count_as_float(rivals) / (2.0 * WRONG_RESULT_ERROR)).ln();
    let threshold = sd * sd * log_of_error / (zone.log * count_as_float(pairs)) - zone.log / 2.0;
    centre > threshold.max(0.0)
}

/// Whether the interval of this interim analysis excludes a tie; false if there is no analysis
/// after this many rounds.
fn is_behind_at_interim(shared: &SharedVariance, leader: usize, trial: usize) -> bool {
    let rounds = shared.unit_count(leader).min(shared.unit_count(trial));
    let at_look = |confidence: Confidence| shared.signed_rank_interval_of_distance(trial, leader, confidence);
    let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
    interim_confidence(rounds).and_then(at_look).is_some_and(|ends| ends.low > 0.0)
}

/// Whether a trial is slower than a leader in the first rounds by a margin that noise alone does
/// not explain.
fn is_slower_by_margin(shared: &SharedVariance, leader: usize, trial: usize) -> bool {
    let (leader, trial) = (shared.sorted_log_times(leader), shared.sorted_log_times(trial));
    let rounds = leader.len().min(trial.len());
    let Some(margin) = rounds.checked_sub(2).and_then(|from_two| MARGINS_BY_ROUND_COUNT.get(from_two)) else {
        return false;
    };
    let mut slowest = leader.iter().rev();
    let is_beyond = |slowest: Option<&f64>, margin: f64| {
        trial.first().zip(slowest).is_some_and(|(fastest, slowest)| *fastest > margin.ln() + slowest)
    };
    let is_last = rounds == QUALIFYING_ROUNDS as usize;
    is_beyond(slowest.next(), *margin) || is_last && is_beyond(slowest.next(), MARGIN_OVER_ALL_BUT_ONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Observation, SeededRandom, float};
    use proptest::prelude::*;
    use std::f64::consts::LN_10;

    const ZONE: f64 = 0.1;

    fn race(rows: &[&[u64]]) -> SharedVariance {
        SharedVariance::new(rows.iter().map(|row| Observation::from_rounds(row.iter().copied().map(float))))
    }

    fn stopped_trials(shared: &SharedVariance, running: &[usize], zone: Indifference) -> Vec<usize> {
        find_stops(shared, running, zone).iter().map(|stop| stop.trial).collect()
    }

    /// Readings of trials with these relative times and this spread.
    fn drawn_rounds(factors: &[f64], rounds: u32, sd: f64, seed: u64) -> Vec<Vec<Observation>> {
        let mut noise = SeededRandom::new(seed);
        let trial = |factor: &f64| {
            let wall = |_| (1e9 * factor * (sd * noise.normal()).exp()) as u64;
            Observation::from_rounds((0..rounds).map(wall).map(float))
        };
        factors.iter().map(trial).collect()
    }

    #[test]
    fn a_zone_is_a_ratio() {
        assert!((Indifference::within(0.1).log - 1.1_f64.ln()).abs() < 1e-15);
        assert!(Indifference::within(0.0).is_off() && Indifference::within(-1.0) == Indifference::OFF);
        assert!(!Indifference::within(0.01).is_off());
    }

    #[test]
    fn margins_stop_much_slower_trials_with_a_zone_and_without() {
        for zone in [Indifference::OFF, Indifference::within(ZONE)] {
            let two = race(&[&[100, 190], &[401, 420], &[100, 195]]);
            assert_eq!(find_stops(&two, &[0, 1, 2], zone), [Stop { trial: 1, faster_trial: 0 }]);
            assert_eq!(stopped_trials(&two, &[1, 2], zone), [1]);
            assert!(find_stops(&two, &[1], zone).is_empty() && find_stops(&two, &[], zone).is_empty());
        }
    }

    #[test]
    fn the_threshold_is_that_of_the_formula() {
        let shared = SharedVariance::new(drawn_rounds(&[1.0, 1.04, 1.2, 1.3, 1.5, 1.9], 4, 0.05, 3));
        let zone = Indifference::within(ZONE);
        for (trial, leader) in [(1, 0), (2, 0), (2, 1), (3, 2)] {
            let DistanceBehind { centre, sd, unit_count: pairs } =
                shared.distance_behind(trial, leader).unwrap();
            // ln(3 / 0.1) = 3.4012, ln 1.1 = 0.09531.
            let threshold = (sd.powi(2) * 3.4012 / (0.09531 * pairs as f64) - 0.04766).max(0.0);
            let is_slower = is_behind(&shared, leader, trial, leader, zone);
            assert_eq!(is_slower, centre > threshold, "{centre} {threshold}");
        }
        // With two trials there is only one rival, so ln(1 / 0.1) replaces ln(3 / 0.1).
        let two = SharedVariance::new(drawn_rounds(&[1.0, 1.2], 6, 0.05, 3));
        let DistanceBehind { centre, sd, .. } = two.distance_behind(1, 0).unwrap();
        let threshold = (sd.powi(2) * LN_10 / (0.09531 * 6.0) - 0.04766).max(0.0);
        assert_eq!(is_behind(&two, 0, 1, 0, zone), centre > threshold);
    }

    #[test]
    fn equally_fast_trials_do_not_race_forever() {
        let mut running = vec![0, 1];
        let all = drawn_rounds(&[1.0, 1.0, 1.6, 1.7], 60, 0.1, 7);
        for rounds in 2..60 {
            let shared = SharedVariance::new(all.iter().map(|trial| &trial[..rounds]));
            let stopped = stopped_trials(&shared, &running, Indifference::within(ZONE));
            running.retain(|it| !stopped.contains(it));
            if running.len() == 1 {
                return;
            }
        }
        panic!("{running:?} are left after 60 rounds");
    }

    #[test]
    fn without_a_zone_only_interim_analyses_decide_after_five_rounds() {
        for rounds in 6..20 {
            let shared = SharedVariance::new(drawn_rounds(&[1.0, 1.3, 1.31, 1.32], rounds, 0.02, 5));
            let stopped = stopped_trials(&shared, &[0, 1, 2, 3], Indifference::OFF);
            let expected: &[usize] = if interim_confidence(rounds).is_some() { &[1, 2, 3] } else { &[] };
            assert_eq!(stopped, expected, "{rounds} rounds");
        }
    }

    #[test]
    fn one_round_stops_no_trial() {
        let shared = SharedVariance::new(drawn_rounds(&[1.0, 50.0, 900.0], 1, 0.01, 2));
        assert!(find_stops(&shared, &[0, 1, 2], Indifference::within(ZONE)).is_empty());
    }

    #[test]
    fn a_stopped_trial_contributes_its_noise_but_is_not_judged_again() {
        let mut race = drawn_rounds(&[1.0, 1.02, 3.0, 1.3, 1.5], 8, 0.05, 9);
        race[2].truncate(2);
        let stopped = stopped_trials(&SharedVariance::new(race), &[0, 1, 3, 4], Indifference::within(ZONE));
        assert!(stopped.contains(&3) && stopped.contains(&4) && !stopped.contains(&2), "{stopped:?}");
    }

    proptest! {
        #[test]
        fn one_trial_is_always_left(
            walls in prop::collection::vec(prop::collection::vec(1_u64..1 << 30, 0..9), 1..9),
            zone in 0.0..0.5_f64,
        ) {
            let shared = race(&walls.iter().map(|it| &it[..]).collect::<Vec<_>>());
            let running: Vec<usize> = (0..walls.len()).collect();
            let stops = find_stops(&shared, &running, Indifference::within(zone));
            prop_assert!(stops.len() < running.len());
            prop_assert!(stops.iter().all(|stop| stop.trial != stop.faster_trial));
        }
    }
}
