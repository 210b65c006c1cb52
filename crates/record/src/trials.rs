//! The trials of a record. A trial is found only by its number. The position of a trial has no
//! meaning: trials that cannot be measured are announced first and numbered last.

use super::conduct::SideEffects;
use super::samples::Samples;
use super::trial::{Trial, TrialRecord};
use readlab_model::trial::TrialIndex;
use std::collections::{BTreeMap, HashMap};
use std::ops::{Index, IndexMut};

/// The trials in the order in which they were announced.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trials {
    list: Vec<TrialRecord>,
    /// The position in `list` of the trial with a number.
    positions: HashMap<TrialIndex, usize>,
}

impl Trials {
    pub fn get(&self, index: TrialIndex) -> Option<&TrialRecord> {
        self.list.get(*self.positions.get(&index)?)
    }

    pub(super) fn get_mut(&mut self, index: TrialIndex) -> Option<&mut TrialRecord> {
        self.list.get_mut(*self.positions.get(&index)?)
    }

    pub fn iter(&self) -> std::slice::Iter<'_, TrialRecord> {
        self.list.iter()
    }

    /// Iterates over the trials so that their findings can be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, TrialRecord> {
        self.list.iter_mut()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn announce(&mut self, trial: Trial) {
        self.positions.entry(trial.index).or_insert(self.list.len());
        self.list.push(TrialRecord {
            trial,
            samples: Samples::default(),
            search_samples: Samples::default(),
            rejected_readings: Vec::new(),
            warmups: Vec::new(),
            cold_probe: Samples::default(),
            conduct: SideEffects::default(),
            missing_meters: BTreeMap::new(),
            counts: BTreeMap::new(),
            count_runs: BTreeMap::new(),
            latencies: Vec::new(),
            flame_graph: None,
            trace: None,
            stopped: None,
            fleet_turns: Vec::new(),
            readers_turns: Vec::new(),
            outcome: None,
        });
    }
}

impl FromIterator<TrialRecord> for Trials {
    fn from_iter<I: IntoIterator<Item = TrialRecord>>(trials: I) -> Trials {
        let list: Vec<TrialRecord> = trials.into_iter().collect();
        let numbers = list.iter().map(|it| it.trial.index);
        Trials { positions: numbers.enumerate().map(|(at, index)| (index, at)).collect(), list }
    }
}

impl IntoIterator for Trials {
    type Item = TrialRecord;
    type IntoIter = std::vec::IntoIter<TrialRecord>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Trials {
    type Item = &'a TrialRecord;
    type IntoIter = std::slice::Iter<'a, TrialRecord>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

/// # Panics
/// If no trial has this number.
impl Index<TrialIndex> for Trials {
    type Output = TrialRecord;

    fn index(&self, index: TrialIndex) -> &TrialRecord {
        self.get(index).expect("a trial of this number")
    }
}

/// # Panics
/// If no trial has this number.
impl IndexMut<TrialIndex> for Trials {
    fn index_mut(&mut self, index: TrialIndex) -> &mut TrialRecord {
        self.get_mut(index).expect("a trial of this number")
    }
}
