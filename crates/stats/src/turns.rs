//! The turns of a trial, one number for each round: the logarithm of its wall time. A turn with
//! several readings counts once, with their median.

use crate::median;
use crate::observation::Observation;
use std::collections::BTreeMap;

/// One turn for each round.
pub(crate) struct Turns(BTreeMap<u32, Turn>);

struct Turn {
    fill: u32,
    log: f64,
}

/// Two turns of one round.
pub(crate) struct Pair {
    pub(crate) round: u32,
    /// Which fill of the one that is compared against.
    pub(crate) fill: u32,
    /// The logarithm of its time.
    pub(crate) reference: f64,
    /// The logarithm of the trial's time.
    pub(crate) trial: f64,
}

impl Turns {
    /// The turns of these readings, whose numbers are wall times in nanoseconds.
    pub(crate) fn from_readings<O: Into<Observation>>(readings: impl IntoIterator<Item = O>) -> Turns {
        Turns::from_observations(readings.into_iter().map(Into::into).collect())
    }

    /// The rounds in order, each with its fill and the logarithm of its time.
    pub(crate) fn rounds(&self) -> impl Iterator<Item = (u32, u32, f64)> {
        self.0.iter().map(|(&round, turn)| (round, turn.fill, turn.log))
    }

    // Not generic, so that it is compiled in this crate, with its optimisation.
    fn from_observations(readings: Vec<Observation>) -> Turns {
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
    pub(crate) fn pairs(&self, trial: &Turns) -> Vec<Pair> {
        let pair = |(&round, reference): (&u32, &Turn)| {
            let trial = trial.0.get(&round)?.log;
            Some(Pair { round, fill: reference.fill, reference: reference.log, trial })
        };
        self.0.iter().filter_map(pair).collect()
    }
}

impl Pair {
    /// How many times as fast the trial was, as a logarithm.
    pub(crate) fn log_ratio(&self) -> Observation {
        Observation { value: self.reference - self.trial, fill: self.fill, round: self.round }
    }
}
