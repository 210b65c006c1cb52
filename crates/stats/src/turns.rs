//! The turns of a trial, one number for each round. A turn with several readings counts once, with
//! their median.

use crate::median;
use crate::observation::Observation;
use std::collections::BTreeMap;

pub(crate) struct Turns(BTreeMap<u32, Observation>);

// Functions that are not generic are compiled in this crate, with its optimisation level.
impl Turns {
    pub(crate) fn new(readings: &[Observation]) -> Turns {
        let mut turns: BTreeMap<u32, (u32, Vec<f64>)> = BTreeMap::new();
        for reading in readings {
            let (fill, values) = turns.entry(reading.round).or_default();
            *fill = reading.fill;
            values.push(reading.value);
        }
        let turn = |(round, (fill, values)): (u32, (u32, Vec<f64>))| {
            Some((round, Observation { value: median(values)?, fill, round }))
        };
        Turns(turns.into_iter().filter_map(turn).collect())
    }

    /// The turns with the logarithms of these wall times in nanoseconds.
    pub(crate) fn logs_of_walls<O: Into<Observation>>(readings: impl IntoIterator<Item = O>) -> Turns {
        Turns::new(&readings.into_iter().map(Into::into).collect::<Vec<_>>()).logs()
    }

    fn logs(mut self) -> Turns {
        // A window of zero nanoseconds counts as one nanosecond.
        self.0.values_mut().for_each(|turn| turn.value = turn.value.max(1.0).ln());
        self
    }

    /// The turns in the order of the rounds.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Observation> {
        self.0.values()
    }

    /// The differences from the other trial's turns in each round that holds both, with the fills
    /// of `self`.
    pub(crate) fn minus(&self, others: &Turns) -> Vec<Observation> {
        let pair = |turn: &Observation| {
            Some(Observation { value: turn.value - others.0.get(&turn.round)?.value, ..*turn })
        };
        self.iter().filter_map(pair).collect()
    }
}
