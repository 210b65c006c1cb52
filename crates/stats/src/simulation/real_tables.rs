//! Two recorded default races, evaluated by an independent implementation of the same formulas in
//! Python (numpy): `real-tables.txt` is its output. `race-2-core.jsonl` and `race-16-core.jsonl`
//! hold the wall times in nanoseconds of each ranked trial, one for each round.

use crate::number::sum_of_squares_about_mean;
use crate::{Observation, SharedRatio, SharedVariance, Significance, count_as_float, float, median};
use serde::Deserialize;

const TABLES: &str = include_str!("real-tables.txt");
const RACES: [(&str, &str); 2] = [
    ("2-core guest", include_str!("race-2-core.jsonl")),
    ("16-core machine", include_str!("race-16-core.jsonl")),
];

/// The usual method of each language, by the start of its name.
const USUAL_METHODS: [(&str, &str); 7] = [
    ("rust", "rust/lines"),
    ("c", "c/getline"),
    ("cpp", "cpp/getline"),
    ("go", "go/bufio"),
    ("java", "java/BufferedReader"),
    ("node", "node/readline"),
    ("python", "python/lines"),
];

#[derive(Debug, Clone, Deserialize)]
struct RecordedTrial {
    state: String,
    id: String,
    walls_ns: Vec<u64>,
}

/// The trials of one state, the fastest first.
struct StateTable {
    trials: Vec<RecordedTrial>,
    shared_variance: SharedVariance,
}

impl StateTable {
    fn new(race: &str, state: &str) -> StateTable {
        let trials = race.lines().map(|line| serde_json::from_str::<RecordedTrial>(line).unwrap());
        let mut trials: Vec<RecordedTrial> =
            trials.filter(|it| it.state == state && it.walls_ns.len() > 1).collect();
        trials.sort_by(|a, b| a.log_median().total_cmp(&b.log_median()));
        let turns = |it: &RecordedTrial| Observation::from_rounds(it.walls_ns.iter().copied().map(float));
        StateTable { shared_variance: SharedVariance::new(trials.iter().map(turns)), trials }
    }

    fn find(&self, id: &str) -> usize {
        self.trials.iter().position(|it| it.id == id).unwrap()
    }

    fn ratio(&self, trial: usize, reference: usize) -> SharedRatio {
        self.shared_variance.ratio(trial, reference).unwrap()
    }

    fn header(&self, machine: &str, state: &str) -> String {
        let reference = self.find("command/wc -l");
        let noise = || (0..self.trials.len()).map(|it| self.shared_variance.noise_sd(it).unwrap());
        let logs: Vec<f64> = noise().map(f64::ln).collect();
        let sd = (sum_of_squares_about_mean(&logs) / count_as_float(logs.len())).sqrt();
        format!(
            "## {machine}, {state}: {} trials; typical sd of a reading {:.1} %, sd between trials of log sd {sd:.2}; \
             reference command/wc -l n={}",
            self.trials.len(),
            100.0 * median(noise()).unwrap(),
            self.trials[reference].walls_ns.len(),
        )
    }

    /// The rows of the state's table, as the other implementation prints them.
    fn lines(&self) -> Vec<String> {
        let reference = self.find("command/wc -l");
        let line = |(at, trial): (usize, &RecordedTrial)| {
            let location = self.shared_variance.location(at).unwrap().ci95.unwrap().ends.map(f64::ln);
            let ratio = if at == reference {
                "reference".to_owned()
            } else {
                let found = self.ratio(at, reference);
                let ends = found.ci95.unwrap().ends;
                // The other implementation prints the middle of the interval.
                let middle = (ends.low * ends.high).sqrt();
                format!("{middle:6.3} [{:.3}, {:.3}]", ends.low, ends.high)
            };
            let rank = match self.shared_variance.significance_against_first(0, at) {
                _ if at == 0 => "first",
                Some(Significance::Slower) => "slower",
                _ => "tie",
            };
            format!(
                "{} n={} {:.1} ms ± {:.1} % {ratio} {rank}",
                trial.id,
                trial.walls_ns.len(),
                trial.log_median().exp() / 1e6,
                100.0 * location.half_width(),
            )
        };
        self.trials.iter().enumerate().map(line).collect()
    }

    /// How many times as fast the best method of each language is as the usual one. In the recorded
    /// table, the error is not divided by the number of methods.
    fn best_of_languages(&self) -> Vec<String> {
        let line = |(language, usual): &(&str, &str)| {
            let begins = |name: String| move |it: &RecordedTrial| it.id.starts_with(&name);
            let best = self.trials.iter().position(begins(format!("{language}/")))?;
            let usual = self.trials.iter().position(begins((*usual).to_owned())).filter(|it| *it != best)?;
            let ends = self.ratio(best, usual).ci95.unwrap().ends;
            Some(format!(
                "{language}: best {} is {:.2} [{:.2}, {:.2}] times as fast as {} (n={})",
                self.trials[best].id,
                (ends.low * ends.high).sqrt(),
                ends.low,
                ends.high,
                self.trials[usual].id,
                self.trials[best].walls_ns.len().min(self.trials[usual].walls_ns.len()),
            ))
        };
        USUAL_METHODS.iter().filter_map(line).collect()
    }
}

impl RecordedTrial {
    fn log_median(&self) -> f64 {
        median(self.walls_ns.iter().map(|wall| (*wall as f64).ln())).unwrap()
    }
}

/// A line with single spaces and without the column of the bootstrap.
fn without_bootstrap(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut plain = words.join(" ").replace("n= ", "n=");
    if let (Some(from), Some(last)) = (plain.find(" today "), plain.rfind(' ')) {
        plain.replace_range(from..last, "");
    }
    plain
}

#[test]
fn two_recorded_races_have_the_numbers_of_another_implementation() {
    let mut found = Vec::new();
    for (machine, race) in RACES {
        for name in ["cold", "warm"] {
            let state = StateTable::new(race, name);
            found.push(state.header(machine, name));
            found.extend(state.lines());
            found.extend(state.best_of_languages());
        }
    }
    let expected: Vec<String> = TABLES.lines().map(without_bootstrap).collect();
    let found: Vec<String> = found.iter().map(|line| without_bootstrap(line)).collect();
    let different: Vec<_> = expected.iter().zip(&found).filter(|(a, b)| a != b).collect();
    assert!(different.is_empty(), "{different:#?}");
    assert_eq!(expected.len(), found.len());
}
