//! Races of identical trials: how many are found slower than the first by chance, after every look
//! at which a trial may have been stopped.

use super::{Cause, readings};
use crate::testing::{Noise, reading};
use crate::{
    Observation, QUALIFYING_ROUNDS, Significance, against_first, look_after, median, ratio_at, separated,
};

/// A race that is stopped as the rounds go on.
struct Race {
    trials: Vec<Vec<Observation>>,
    /// How many rounds each trial has had.
    rounds: Vec<usize>,
}

impl Race {
    fn draw(cause: Cause, trials: usize, rounds: u32, noise: &mut Noise) -> Race {
        let trial = |noise: &mut Noise| {
            let all = readings(cause, rounds, noise);
            all.iter().map(|it| reading(it.fill, it.round, (1e9 * it.value.exp()) as u64)).collect()
        };
        let trials: Vec<Vec<Observation>> = (0..trials).map(|_| trial(noise)).collect();
        let mut race = Race { rounds: vec![rounds as usize; trials.len()], trials };
        (QUALIFYING_ROUNDS..rounds).for_each(|after| race.look(after));
        race
    }

    /// Stops the trials that this look finds slower than the leader.
    fn look(&mut self, after: u32) {
        let rounds = after as usize;
        let running = |it: &usize| self.rounds[*it] > rounds;
        let leader = self.fastest((0..self.trials.len()).filter(running), rounds);
        let is_slower = |it: usize| {
            let (leader, trial) = (&self.trials[leader][..rounds], &self.trials[it][..rounds]);
            let ends = look_after(after).and_then(|confidence| ratio_at(leader, trial, confidence));
            let is_separated = after == QUALIFYING_ROUNDS && separated(leader, trial);
            is_separated || ends.is_some_and(|ends| ends.high < 1.0)
        };
        let slower: Vec<usize> = (0..self.trials.len()).filter(running).filter(|it| is_slower(*it)).collect();
        slower.into_iter().for_each(|it| self.rounds[it] = rounds);
    }

    fn fastest(&self, trials: impl Iterator<Item = usize>, rounds: usize) -> usize {
        let centre = |it: usize| {
            let rounds = rounds.min(self.rounds[it]);
            median(self.trials[it][..rounds].iter().map(|it| it.value)).unwrap()
        };
        trials.min_by(|a, b| centre(*a).total_cmp(&centre(*b))).unwrap()
    }

    /// How many trials are slower than the first at the end.
    fn slower_than_first(&self) -> usize {
        let count = self.trials.len();
        let first = self.fastest(0..count, usize::MAX);
        let held = |it: usize| &self.trials[it][..self.rounds[it]];
        let is_slower =
            |it: &usize| against_first(held(first), held(*it), count - 1) == Some(Significance::Slower);
        (0..count).filter(|it| *it != first).filter(is_slower).count()
    }
}

#[test]
fn identical_trials_are_called_slower_than_the_first_in_5_of_100_comparisons_at_most() {
    let mut noise = Noise::new(31);
    for (trials, rounds, races) in [(8, 5, 60), (8, 18, 40), (30, 12, 12)] {
        for cause in [Cause::Normal, Cause::Exponential, Cause::Drift, Cause::Spikes] {
            let slower: usize =
                (0..races).map(|_| Race::draw(cause, trials, rounds, &mut noise).slower_than_first()).sum();
            // Comparisons of one race resemble each other: chance makes 8 of 100 from 5.
            let share = slower as f64 / (races * (trials - 1)) as f64;
            assert!(share <= 0.08, "{cause:?}, {trials} trials, {rounds} rounds: {share}");
        }
    }
}
