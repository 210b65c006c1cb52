//! Simulated races whose trials stop with an indifference zone: how many readings they need, and
//! how often the remaining trial is not the fastest. Used by the simulations of this crate and of
//! the bench.

use crate::{Indifference, Observation, SeededRandom, SharedVariance, count_as_float, find_stops};

/// Largest number of rounds of a race.
const ROUNDS_MAX: usize = 60;

/// The median times of a recorded cold race, in milliseconds.
const RECORDED_MS: [f64; 28] = [
    107.0, 113.0, 132.0, 134.0, 136.0, 146.0, 147.0, 148.0, 148.0, 150.0, 150.0, 154.0, 158.0, 159.0, 163.0,
    163.0, 170.0, 179.0, 183.0, 188.0, 205.0, 206.0, 217.0, 227.0, 227.0, 248.0, 259.0, 317.0,
];

/// The true times of the trials of a simulated race.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TrueTimes {
    /// The times of a recorded race; the second trial is at least this share slower than the first.
    Recorded(f64),
    /// All other trials are this share slower than the first.
    AllBehind(f64),
    /// Two trials are equally fast, and the others as recorded.
    Twins,
    /// All trials are equally fast.
    Equal,
}

impl TrueTimes {
    fn logs(self, trials: usize) -> Vec<f64> {
        let recorded = |at: usize| (RECORDED_MS[at % RECORDED_MS.len()] / RECORDED_MS[0]).ln();
        let log = |at: usize| match self {
            _ if at == 0 => 0.0,
            TrueTimes::Recorded(behind) => recorded(at) + behind.ln_1p(),
            TrueTimes::AllBehind(behind) => behind.ln_1p(),
            TrueTimes::Twins if at == 1 => 0.0,
            TrueTimes::Twins => recorded(at) + 0.1_f64.ln_1p(),
            TrueTimes::Equal => 0.0,
        };
        (0..trials).map(log).collect()
    }
}

/// A race with the readings of all rounds, before any trial stops.
pub(crate) struct StoppingRace {
    /// The logarithms of the true times.
    pub(crate) logs: Vec<f64>,
    pub(crate) readings: Vec<Vec<Observation>>,
}

pub(crate) struct RaceEnd {
    /// The number of rounds of each trial.
    pub(crate) round_counts: Vec<usize>,
    pub(crate) running_trials: Vec<usize>,
}

impl StoppingRace {
    /// Draws a race. Readings scatter by `sd`, more in some trials than in others; rounds differ by
    /// less, and one reading in fifty takes twice as long.
    pub(crate) fn draw(times: TrueTimes, trials: usize, sd: f64, noise: &mut SeededRandom) -> StoppingRace {
        let logs = times.logs(trials);
        let of_round: Vec<f64> = (0..ROUNDS_MAX).map(|_| 0.3 * sd * noise.normal()).collect();
        let mut trial = |log: &f64| -> Vec<Observation> {
            let own_sd = sd * (0.4 * noise.normal()).exp();
            let log = |of_round: &f64| {
                log + of_round + own_sd * noise.normal() + noise.spike_with_probability(0.02, 2_f64.ln())
            };
            Observation::from_rounds(of_round.iter().map(log).map(|log| 1e8 * log.exp()))
        };
        let readings = logs.iter().map(&mut trial).collect();
        StoppingRace { logs, readings }
    }

    /// Stops trials after every round; the trial `kept` is read in all rounds even if it stops.
    pub(crate) fn run(&self, zone: Indifference, kept: Option<usize>) -> RaceEnd {
        let mut end = RaceEnd {
            round_counts: vec![1; self.logs.len()],
            running_trials: (0..self.logs.len()).collect(),
        };
        for round in 2..=ROUNDS_MAX {
            end.running_trials.iter().copied().chain(kept).for_each(|trial| end.round_counts[trial] = round);
            let stopped = find_stops(&self.shared(&end.round_counts), &end.running_trials, zone);
            end.running_trials.retain(|trial| stopped.iter().all(|stop| stop.trial != *trial));
            if end.running_trials.len() == 1 {
                break;
            }
        }
        end
    }

    pub(crate) fn shared(&self, rounds: &[usize]) -> SharedVariance {
        SharedVariance::new(self.readings.iter().zip(rounds).map(|(all, rounds)| &all[..*rounds]))
    }

    pub(crate) fn is_fastest(&self, trial: usize) -> bool {
        self.logs[trial] < 1e-9
    }
}

/// The averages over simulated races of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RaceAverages {
    /// Mean number of readings in a race, of all trials together.
    pub readings: f64,
    /// Mean number of rounds in a race, which ends when one trial is left, or after sixty.
    pub rounds: f64,
    /// The share of races that end with one trial left.
    pub decided_share: f64,
    /// The share of races that end with one trial left which is not the fastest.
    pub wrong_share: f64,
}

impl RaceAverages {
    /// Simulates `races` races whose readings scatter by `sd`.
    pub fn simulate(
        times: TrueTimes,
        trials: usize,
        sd: f64,
        zone: Indifference,
        races: usize,
    ) -> RaceAverages {
        let mut noise = SeededRandom::new(3);
        let mut sums = [0.0; 4];
        for _ in 0..races {
            let race = StoppingRace::draw(times, trials, sd, &mut noise);
            let end = race.run(zone, None);
            let is_decided = end.running_trials.len() == 1;
            let is_wrong = is_decided && !race.is_fastest(end.running_trials[0]);
            let of_race = [
                end.round_counts.iter().sum::<usize>(),
                end.round_counts.iter().copied().max().unwrap_or(0),
                usize::from(is_decided),
                usize::from(is_wrong),
            ];
            sums.iter_mut()
                .zip(of_race)
                .for_each(|(sum, of_race)| *sum += count_as_float(of_race) / count_as_float(races));
        }
        let [readings, rounds, decided, wrong] = sums;
        RaceAverages { readings, rounds, decided_share: decided, wrong_share: wrong }
    }
}
