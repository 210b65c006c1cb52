//! How much of the variance of a trial's times its meters explain: least squares of the logarithm
//! of the time on the meters, both without their mean over the trial.
//!
//! What differs between trials (their speed, waits for threads of their own) is in the means and
//! falls out.

use crate::pairs::floats;
use readlab_analysis::stats::count;
use readlab_model::sample::TurnSeen;
use readlab_model::trial::CacheState;
use readlab_record::Record;

/// A meter, and what it counted in a turn.
pub(super) struct Meter {
    pub(super) name: &'static str,
    value: fn(&TurnSeen) -> Option<u64>,
}

pub(super) const METERS: [Meter; 7] = [
    Meter { name: "the contender's wait for a processor", value: |turn| turn.delayed_ns },
    Meter { name: "the lab's wait for a processor", value: |turn| turn.lab_delayed_ns },
    Meter { name: "involuntary context switches", value: |turn| turn.preemptions },
    Meter { name: "steal", value: |turn| turn.steal_ns },
    Meter { name: "pressure on processors", value: |turn| turn.cpu_pressure_ns },
    Meter { name: "pressure on devices", value: |turn| turn.io_pressure_ns },
    Meter { name: "pressure on memory", value: |turn| turn.memory_pressure_ns },
];

/// One turn of a trial.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn {
    /// Logarithm of its reading's time.
    log_wall: f64,
    /// Each meter for a nanosecond of the turn; `None` where it was not read.
    meters: [Option<f64>; METERS.len()],
}

/// The turns of every measured trial of a state, trial by trial.
pub(super) fn turns(record: &Record, state: CacheState) -> Vec<Vec<Turn>> {
    let reads = record.trials.iter().filter(|it| it.trial.state == state && !it.trial.is_control());
    let turns = reads.map(|it| {
        it.samples
            .iter()
            .filter(|sample| sample.reading == 0)
            .filter_map(|sample| {
                let [wall_ns, turn_ns] =
                    <[f64; 2]>::try_from(floats([sample.wall_ns, sample.turn.wall_ns?])).ok()?;
                let meters = METERS.each_ref().map(|meter| {
                    (meter.value)(&sample.turn).and_then(|value| Some(floats([value]).first()? / turn_ns))
                });
                Some(Turn { log_wall: wall_ns.ln(), meters })
            })
            .collect()
    });
    turns.filter(|turns: &Vec<Turn>| turns.len() > 2).collect()
}

/// The standard deviation of the logarithms of times within trials: 0.1 is about 10 %.
pub(super) fn spread(trials: &[Vec<Turn>]) -> f64 {
    let times = within(trials, |turn| Some(turn.log_wall)).unwrap_or_default();
    let free = times.len().saturating_sub(trials.len());
    (dot(&times, &times) / count(free)).sqrt()
}

/// Share of the variance that one meter explains; `None` where it was not read.
pub(super) fn by_one(trials: &[Vec<Turn>], meter: usize) -> Option<f64> {
    let times = within(trials, |turn| Some(turn.log_wall))?;
    explained(&times, &[within(trials, |turn| turn.meters[meter])?])
}

/// The same of ranks within each trial, to which a few extreme readings are no more than others.
pub(super) fn by_ranks(trials: &[Vec<Turn>], meter: usize) -> Option<f64> {
    let times = ranks(trials, |turn| Some(turn.log_wall))?;
    explained(&times, &[ranks(trials, |turn| turn.meters[meter])?])
}

/// Share of the variance that all meters explain together.
pub(super) fn by_all(trials: &[Vec<Turn>]) -> Option<f64> {
    let times = within(trials, |turn| Some(turn.log_wall))?;
    let known = (0..METERS.len()).filter_map(|meter| within(trials, |turn| turn.meters[meter]));
    explained(&times, &known.collect::<Vec<_>>())
}

/// What [`within`] gives of the ranks of these values in their trials, from 0 to 1.
fn ranks(trials: &[Vec<Turn>], value: impl Fn(&Turn) -> Option<f64>) -> Option<Vec<f64>> {
    let mut ranks = Vec::new();
    for trial in trials {
        let values = trial.iter().map(&value).collect::<Option<Vec<f64>>>()?;
        let below = |it: &f64| count(values.iter().filter(|other| *other < it).count());
        let equal = |it: &f64| count(values.iter().filter(|other| *other == it).count());
        let own = values.iter().map(|it| (below(it) + equal(it) / 2.0) / count(values.len()));
        ranks.extend(own.map(|rank| rank - 0.5));
    }
    Some(ranks)
}

/// The values of all turns, each without the mean of its trial.
fn within(trials: &[Vec<Turn>], value: impl Fn(&Turn) -> Option<f64>) -> Option<Vec<f64>> {
    let mut values = Vec::new();
    for trial in trials {
        let own = trial.iter().map(&value).collect::<Option<Vec<f64>>>()?;
        let mean = own.iter().sum::<f64>() / count(own.len());
        values.extend(own.into_iter().map(|it| it - mean));
    }
    Some(values)
}

/// The share of the variance of `times` that a linear combination of `meters` explains. Each meter
/// is made independent of those before it (Gram and Schmidt); one that adds nothing is left out.
fn explained(times: &[f64], meters: &[Vec<f64>]) -> Option<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for meter in meters {
        let whole = dot(meter, meter);
        let mut rest = meter.clone();
        for other in &basis {
            let share = dot(&rest, other);
            rest.iter_mut().zip(other).for_each(|(it, other)| *it -= share * other);
        }
        let length = dot(&rest, &rest).sqrt();
        if length > 1e-6 * whole.sqrt() {
            basis.push(rest.into_iter().map(|it| it / length).collect());
        }
    }
    let whole = dot(times, times);
    let shares = basis.iter().map(|it| dot(times, it).powi(2) / whole);
    (whole > 0.0).then(|| shares.sum())
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns of a trial from times and two meters.
    fn trial(of: &[(f64, f64, f64)]) -> Vec<Turn> {
        let turn = |&(log_wall, first, second): &(f64, f64, f64)| {
            let mut meters = [None; METERS.len()];
            (meters[0], meters[1]) = (Some(first), Some(second));
            Turn { log_wall, meters }
        };
        of.iter().map(turn).collect()
    }

    fn near(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found - expected).abs() < 1e-9)
    }

    #[test]
    fn a_meter_that_follows_the_time_explains_it_and_differences_of_trials_count_for_nothing() {
        // The second trial is slower although its first meter is smaller.
        let trials = [
            trial(&[(0.0, 5.0, 1.0), (1.0, 6.0, 0.0), (2.0, 7.0, 1.0), (3.0, 8.0, 0.0)]),
            trial(&[(10.0, 0.0, 0.0), (12.0, 2.0, 1.0), (11.0, 1.0, 1.0), (13.0, 3.0, 0.0)]),
        ];
        assert!(near(by_one(&trials, 0), 1.0) && near(by_ranks(&trials, 0), 1.0));
        assert!(near(by_one(&trials, 1), 0.05), "{:?}", by_one(&trials, 1));
        assert_eq!(by_one(&trials, 2), None, "not read");
        assert!(near(Some(spread(&trials)), (10.0_f64 / 6.0).sqrt()));
    }

    #[test]
    fn meters_that_say_the_same_are_counted_once() {
        let of = [(0.0, 0.0, 0.0), (1.0, 1.0, 2.0), (5.0, 2.0, 4.0), (2.0, 4.0, 8.0)];
        let trials = [trial(&of)];
        assert!(near(by_all(&trials), by_one(&trials, 0).unwrap()));
        let constant = [trial(&of.map(|(wall, _, _)| (wall, 7.0, 7.0)))];
        assert_eq!(by_all(&constant), Some(0.0), "it never changed");
    }

    #[test]
    fn ranks_are_the_same_however_far_the_furthest_is() {
        let of = [(0.0, 0.0, 0.0), (1.0, 1.0, 0.0), (2.0, 2.0, 0.0), (99.0, 3.0, 0.0)];
        let trials = [trial(&of)];
        assert!(near(by_ranks(&trials, 0), 1.0) && by_one(&trials, 0).unwrap() < 0.7);
    }
}
