//! The turns of a trial, one number for each round: the logarithm of its wall time. A turn with
//! several readings counts once, with their median.

use super::observation::Observation;
use super::{median, wall};
use crate::record::Sample;
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// One turn for each round.
pub(super) struct Turns(BTreeMap<u32, Turn>);

struct Turn {
    fill: u32,
    log: f64,
}

/// Two turns of one round.
pub(super) struct Pair {
    /// Which round.
    pub(super) round: u32,
    /// Which fill of the one that is compared against.
    pub(super) fill: u32,
    /// The logarithm of its time.
    pub(super) reference: f64,
    /// The logarithm of the trial's time.
    pub(super) trial: f64,
}

impl Turns {
    /// The turns of these readings.
    pub(super) fn of<S: Borrow<Sample>>(samples: impl IntoIterator<Item = S>) -> Turns {
        Turns::of_walls(samples.into_iter().map(wall))
    }

    /// The turns of readings with these wall times.
    pub(super) fn of_walls(readings: impl IntoIterator<Item = Observation>) -> Turns {
        let mut turns: BTreeMap<u32, (u32, Vec<f64>)> = BTreeMap::new();
        for reading in readings {
            let (fill, walls) = turns.entry(reading.round).or_default();
            *fill = reading.fill;
            walls.push(reading.value);
        }
        // A window of no nanoseconds counts as one.
        let log = |walls: Vec<f64>| median(walls).unwrap_or_default().max(1.0).ln();
        Turns(
            turns.into_iter().map(|(round, (fill, walls))| (round, Turn { fill, log: log(walls) })).collect(),
        )
    }

    /// The turns of the rounds that hold both, with these as the reference's.
    pub(super) fn pairs(&self, trial: &Turns) -> Vec<Pair> {
        let pair = |(&round, reference): (&u32, &Turn)| {
            let trial = trial.0.get(&round)?.log;
            Some(Pair { round, fill: reference.fill, reference: reference.log, trial })
        };
        self.0.iter().filter_map(pair).collect()
    }
}

impl Pair {
    /// How many times as fast the trial was, as a logarithm.
    pub(super) fn log_ratio(&self) -> Observation {
        Observation { value: self.reference - self.trial, fill: self.fill, round: self.round }
    }
}
